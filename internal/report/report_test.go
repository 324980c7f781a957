package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// page renders at the given width into a string.
func page(t *testing.T, width int, draw func(p *Page)) string {
	t.Helper()
	var b bytes.Buffer
	p := NewPage(&b)
	p.Width = width
	draw(p)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableAlignsAndWrapsTheLastColumn(t *testing.T) {
	got := page(t, 60, func(p *Page) {
		p.Table([]Column{Left("name"), Right("GPUs"), Left("note")}, [][]string{
			{"h800x2048", "2048", "one NIC for each GPU and rails between the nodes of the cluster"},
			{"µ", "8", ""},
		})
	})
	want := `name       GPUs  note
h800x2048  2048  one NIC for each GPU and rails between the
                 nodes of the cluster
µ             8
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFactsLeaveOutWhatIsUnknown(t *testing.T) {
	got := page(t, 60, func(p *Page) { p.Facts([2]string{"name", "x"}, [2]string{"TDP", ""}, [2]string{"HBM", "80 GB"}) })
	if want := "name  x\nHBM   80 GB\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBarsShareOneScaleAndFitThePage(t *testing.T) {
	for _, width := range []int{60, 100, 140} {
		got := page(t, width, func(p *Page) {
			p.Bars(2, []Quantity{{"compute", "1.00 s", 1}, {"bubble", "0.10 s", 0.1}, {"idle", "0 s", 0}, {"all", "2.00 s", 2}})
		})
		lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
		full, halfBar := strings.Count(lines[3], "█"), strings.Count(lines[0], "█")
		if halfBar != full/2 {
			t.Errorf("width %d: half of the whole has %d blocks of %d", width, halfBar, full)
		}
		if n := utf8.RuneCountInString(lines[3]); n != width {
			t.Errorf("the full bar ends in column %d of %d", n, width)
		}
		if strings.ContainsAny(lines[2], "█▏") {
			t.Errorf("nothing has a bar: %q", lines[2])
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0, ""}, {-1, ""}, {math.NaN(), ""}, {1e-9, "▏"}, {0.5, "██"}, {0.53125, "██▏"}, {1, "████"}, {7, "████"},
	} {
		if got := Bar(c.share, 4); got != c.want {
			t.Errorf("Bar(%g) = %q, want %q", c.share, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 671026404352: "671,026,404,352", -12345: "-12,345"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Plural(1, "stage") + ", " + Plural(2, "stage"); got != "1 stage, 2 stages" {
		t.Errorf("Plural gives %q", got)
	}
}

func TestTextWrapsWithHangingIndent(t *testing.T) {
	got := page(t, 24, func(p *Page) { p.Text(2, "note: a page %d columns wide", 24) })
	if want := "note: a page 24\n  columns wide\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWrapBreaksLongWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see owner/repository:src/some/file.json", "see|owner/repository:src/|some/file.json"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaaaaaaaaaaa|aaaaaaa b"},
		{"", ""},
	} {
		if got := strings.Join(wrap(c.text, 24), "|"); got != c.want {
			t.Errorf("wrap(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestNoEscapesOutsideATerminal(t *testing.T) {
	if got := page(t, 80, func(p *Page) { p.Heading("Plan %d", 1) }); got != "Plan 1\n" {
		t.Errorf("got %q", got)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsSurface(t *testing.T) {
	p := NewPage(brokenWriter{})
	p.Line("x")
	if p.Flush() == nil {
		t.Error("a failed write passed unseen")
	}
	if JSON(brokenWriter{}, 1) == nil {
		t.Error("a failed write of JSON passed unseen")
	}
}

func TestJSONRefusesInfinity(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, math.Inf(1)); err == nil {
		t.Errorf("infinity was printed as %q", b.String())
	}
}
