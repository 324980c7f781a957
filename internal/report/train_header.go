package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainHeader repeats the question, so that the page can be read alone.
func trainHeader(p *Page, a *api.TrainAnswer) {
	r := a.Request
	m, c := r.Model, r.Cluster
	p.Heading("Training %s on %s", m.Name, c.Name)
	p.Facts(
		[2]string{"model", fmt.Sprintf("%s parameters, %s active per token", unit.FormatCount(m.Params()), unit.FormatCount(m.ActiveParams()))},
		[2]string{"layers", layersText(m) + "; attention " + m.AttentionSummary()},
		[2]string{"cluster", fmt.Sprintf("%d x %s in %s: %s", c.GPUs, c.Device.Name, Plural(c.Nodes(), "node"), nodeText(&c.Node, &c.Fabric))},
		[2]string{"batch", fmt.Sprintf("%s sequences x %s tokens = %s tokens per step", Grouped(int64(r.GlobalBatch)), Grouped(int64(r.Seq)),
			whole(float64(r.GlobalBatch)*float64(r.Seq)))},
		[2]string{"precision", precisionText(&r.Precision)},
		[2]string{"work", workText(m, r, a.Best.FLOPsPerToken)},
		[2]string{"searched", searchedText(&a.Outcome.Count, a.Elapsed)},
	)
}

func precisionText(pr *plan.Precision) string {
	s := fmt.Sprintf("%s: %s products, %s attention, gradients %s, master weights %s, moments %s", pr.Name, pr.GEMM, pr.Attention,
		pr.Gradients, pr.Master, pr.Moment)
	if pr.Dispatch != pr.Combine {
		s += fmt.Sprintf("; experts: %s dispatch, %s combine", pr.Dispatch, pr.Combine)
	}
	return s
}

func workText(m *model.Model, r *api.TrainRequest, perToken unit.FLOPs) string {
	s := unit.FormatFLOPs(perToken) + " per token, forward and backward, causal attention"
	switch {
	case r.MTP > 0:
		s += ", with " + Plural(int64(r.MTP), "MTP module")
	case len(m.MTP) > 0:
		s += ", MTP left out (--mtp adds it)"
	}
	return s
}

// searchedText accounts for every candidate.
func searchedText(c *search.Count, elapsed time.Duration) string {
	var parts []string
	for _, x := range []struct {
		n    int64
		what string
	}{{c.TooLarge, "too large for memory"}, {c.Pruned, "proved slower by a bound"}, {c.LaidOut, "laid out in time"}, {illegalCount(c), "more not legal"}} {
		if x.n > 0 {
			parts = append(parts, Grouped(x.n)+" "+x.what)
		}
	}
	s := fmt.Sprintf("%s legal plans: %s", Grouped(c.Evaluated()), strings.Join(parts, ", "))
	if elapsed > 0 {
		s += fmt.Sprintf("; the answer took %s", unit.FormatSeconds(unit.Seconds(elapsed.Seconds())))
	}
	return s
}

func illegalCount(c *search.Count) (n int64) {
	for _, k := range c.Illegal {
		n += k
	}
	return n
}
