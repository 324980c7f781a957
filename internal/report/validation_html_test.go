package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/validate"
)

// Every figure that rows have is drawn by every cut that tells them apart; names that
// do not fit share one, and none of them becomes markup.
func TestValidationPage(t *testing.T) {
	ms := func(v float64) *float64 { return &v }
	d := &validate.Document{Scored: 20, Rows: 20, Metrics: map[string]validate.Errors{validate.MetricTPOT: {N: 20}}}
	for i := range 20 {
		v := float64(i + 1)
		d.Predictions = append(d.Predictions, validate.Scored{ID: "r", Measured: v, Predicted: 1.1 * v, TTFTMeasured: ms(10 * v), TTFTPredicted: ms(9 * v),
			GPU: "h100", Engine: []string{"vllm", "<b>x"}[i%2], Model: "m" + string(rune('a'+i))})
	}
	charts := validationCharts(d)
	var titles []string
	for _, c := range charts {
		titles = append(titles, c.Title)
		n := 0
		for _, s := range c.Series[:len(c.Series)-1] {
			n += len(s.Points)
		}
		if n != 20 || len(c.Series) > mostNames+1 {
			t.Errorf("%s: %d points in %d series", c.Title, n, len(c.Series))
		}
	}
	if got := strings.Join(titles, ", "); got != "Time per output token by engine, Time per output token by model, Time to first token by engine, Time to first token by model" {
		t.Error(got)
	}
	var b bytes.Buffer
	if err := ValidationHTML(&b, "ridgeline validate serving --runs <x>.csv", d, Serving); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<b>x") || strings.Contains(page, "<x>") || !strings.Contains(page, "20 of 20 rows scored") || strings.Count(page, "<svg") != 1 {
		t.Error("the page lacks its text or holds markup of a name")
	}
}
