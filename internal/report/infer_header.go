package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/model"
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
		[2]string{"requests", lengthsText(r)},
		[2]string{"formats", formatsText(a)},
		[2]string{"KV cache", cacheText(a)},
		[2]string{"engine", engineText(a)},
		[2]string{"objective", objectiveText(r.SLO)},
		[2]string{"searched", searchText(a)})
	p.Facts(facts...)
}

func lengthsText(r *api.InferRequest) string {
	kind := ""
	if r.Longest > 0 {
		kind = " on average, lengths vary"
	}
	if r.Cached > 0 {
		kind += fmt.Sprintf(", %s of those in found in the prefix cache", Grouped(r.Cached))
	}
	return fmt.Sprintf("%s tokens in, %s out%s; %s in flight at the service", Grouped(r.ISL), Grouped(r.OSL), kind, countsText(r.Concurrency))
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
	s := fmt.Sprintf("weights %s, KV cache %s", weightsText(v), v.KV)
	if v.Speculation != nil && v.Speculation.Drafts > 0 {
		s += fmt.Sprintf("; speculation %s, %.2f tokens per step", v.Speculation, v.Speculation.Tokens())
	}
	return s
}

// groupedHeads is how many key heads a usual grouped-query model has.
const groupedHeads = 8

// cacheText is what a token takes, beside other formats and, of latent attention,
// what the same heads would take with keys and values of their own.
func cacheText(a *api.InferAnswer) string {
	m, kv, mtp := a.Request.Model, a.Best.Variant.KV, a.Best.Variant.MTP()
	per := func(f unit.Format) string { return unit.FormatBytes(unit.Bytes(m.KVBytesPerToken(f, mtp) + 0.5)) }
	var others []string
	for _, f := range []unit.Format{unit.BF16, unit.FP8, unit.FP6} {
		if f != kv {
			others = append(others, per(f)+" in "+f.String())
		}
	}
	s := fmt.Sprintf("%s per token in %s (%s)", per(kv), kv, strings.Join(others, ", "))
	if mtp > 0 {
		s += ", the MTP module's with it"
	}
	s += windowText(m)
	var all, grouped float64
	for _, l := range slices.Concat(m.Layers, m.MTP[:mtp]) {
		if t := &l.Attention; t.Kind == model.MLA {
			each := float64(t.QKDim+t.VDim) * kv.BytesPer()
			all, grouped = all+float64(t.Heads)*each, grouped+groupedHeads*each
		}
	}
	if all > 0 {
		s += fmt.Sprintf("; without the latent %s (MHA), %s with %d key heads (GQA)", unit.FormatBytes(unit.Bytes(all)), unit.FormatBytes(unit.Bytes(grouped)), groupedHeads)
	}
	return s
}

// windowText says which layers drop tokens, whose bytes do not add up over a request.
func windowText(m *model.Model) string {
	var layers int
	var window int64
	for i := range m.Layers {
		t := &m.Layers[i].Attention
		if w := max(t.Window, t.Chunk); w > 0 {
			layers, window = layers+1, max(window, w)
		}
	}
	if layers == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d layers keep a token only while it is among the last %s, so that longer requests take less", layers, len(m.Layers), Grouped(window))
}

func engineText(a *api.InferAnswer) string {
	e := a.Best.Profile
	if e == nil {
		return ""
	}
	s := e.Name() + " overheads"
	if e.Arch != "" {
		s += " on " + e.Arch
	}
	if a.Request.Eager {
		s += " without CUDA graphs"
	}
	return fmt.Sprintf("%s, %s: %s", s, e.Grade, e.Source)
}

func objectiveText(s deploy.SLO) string {
	var parts []string
	if s.TTFT > 0 {
		parts = append(parts, "first token within "+unit.FormatSeconds(s.TTFT))
	}
	if s.TPOT > 0 {
		most := "at most " + unit.FormatSeconds(s.TPOT) + " per token"
		if len(parts) > 0 {
			most = "then " + most
		}
		parts = append(parts, most)
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
