package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferHeader repeats the question, so that the page can be read alone.
func inferHeader(p *Page, a *api.InferAnswer) {
	r := a.Request
	m := r.Model
	var clusters []string
	for _, c := range r.Clusters {
		clusters = append(clusters, c.Name)
	}
	p.Heading("Serving %s on %s", m.Name, strings.Join(clusters, ", "))
	facts := [][2]string{
		{"model", fmt.Sprintf("%s parameters, %s active per token; attention %s", unit.FormatCount(m.Params()), unit.FormatCount(m.ActiveParams()), m.AttentionSummary())},
	}
	for i, c := range r.Clusters {
		label := ""
		if i == 0 {
			label = "cluster"
		}
		facts = append(facts, [2]string{label, fmt.Sprintf("%d x %s in %s: %s", c.GPUs, c.Device.Name, Plural(c.Nodes(), "node"), nodeText(&c.Node, &c.Fabric))})
	}
	facts = append(facts,
		[2]string{"requests", fmt.Sprintf("%s tokens in, %s out; %s in flight at the service", Grouped(r.ISL), Grouped(r.OSL), countsText(r.Concurrency))},
		[2]string{"formats", formatsText(a)},
		[2]string{"engine", engineText(a)},
		[2]string{"objective", objectiveText(r.SLO)},
		[2]string{"searched", searchText(a)})
	p.Facts(facts...)
}

// countsText lists numbers, long lists by their ends.
func countsText(list []int) string {
	var s []string
	for _, n := range list {
		s = append(s, Grouped(int64(n)))
	}
	if len(s) > 8 {
		s = append(s[:3], "...", s[len(s)-1])
	}
	return strings.Join(s, ", ")
}

// formatsText names the formats of the best variant; others stand in their tables.
func formatsText(a *api.InferAnswer) string {
	v := a.Best.Variant
	s := fmt.Sprintf("weights %s, KV cache %s (%s per token)", weightsText(v), v.KV, unit.FormatBytes(unit.Bytes(a.Request.Model.KVBytesPerToken(v.KV)+0.5)))
	if v.Speculation != nil && v.Speculation.Drafts > 0 {
		s += fmt.Sprintf("; speculation %s, %.2f tokens per step", v.Speculation, v.Speculation.Tokens())
	}
	return s
}

func engineText(a *api.InferAnswer) string {
	e := a.Best.Profile
	if e == nil {
		return ""
	}
	s := e.Engine + " overheads"
	if e.Arch != "" {
		s += " on " + e.Arch
	}
	return fmt.Sprintf("%s, %s: %s", s, e.Grade, e.Source)
}

func objectiveText(s deploy.SLO) string {
	var parts []string
	if s.TTFT > 0 {
		parts = append(parts, "first token within "+unit.FormatSeconds(s.TTFT))
	}
	if s.TPOT > 0 {
		parts = append(parts, "then at most "+unit.FormatSeconds(s.TPOT)+" per token")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ", on average"
}

// searchText accounts for every candidate.
func searchText(a *api.InferAnswer) string {
	var c deploy.Count
	for _, o := range a.Outcomes {
		c.Priced += o.Count.Priced
		c.TooLarge += o.Count.TooLarge
		c.Illegal += o.Count.Illegal
		c.Missed += o.Count.Missed
	}
	s := fmt.Sprintf("%s priced", Plural(int64(c.Priced), "point"))
	for _, x := range []struct {
		n    int
		what string
	}{{c.TooLarge, "instances too large for memory"}, {c.Illegal, "instances not legal"}} {
		if x.n > 0 {
			s += fmt.Sprintf(", %s %s", Grouped(int64(x.n)), x.what)
		}
	}
	if a.Request.SLO.Any() {
		s += fmt.Sprintf(", %s miss the objective", Grouped(int64(c.Missed)))
	}
	return s + fmt.Sprintf("; the answer took %s", unit.FormatSeconds(unit.Seconds(a.Elapsed.Seconds())))
}
