package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferVerdict says which deployment at which load, and what it gives.
func inferVerdict(p *Page, a *api.InferAnswer) {
	b := a.Best.Best
	switch {
	case !b.Fits:
		p.section("Verdict: nothing fits")
		p.Text(0, "The layout that comes nearest needs %s per GPU, %s more than the %s usable:", unit.FormatGB(b.Need), unit.FormatGB(b.Lacks()), unit.FormatGB(b.Memory.Budget))
	case !a.Met():
		p.section("Verdict: nothing meets the objective")
		p.Text(0, "Nearest is, with %s:", missText(a.Request.SLO, b))
	case a.Request.SLO.Any():
		if _, priced := b.Cost(); priced {
			p.section("Verdict: the cheapest deployment that meets the objective")
			break
		}
		p.section("Verdict: the deployment with the most output per GPU that meets the objective")
	case b.Queued:
		p.section("Verdict: the deployment with the most output per GPU")
	default:
		p.section("Verdict: the deployment with the most output per GPU before queueing takes over")
	}
	if name := variantName(a, a.Best.Variant, true); name != "" {
		p.indented(2, name+":")
	}
	p.planLine(2, b.String())
	if !b.Fits {
		return
	}
	p.Facts(
		[2]string{"size", sizeText(b)},
		[2]string{"one user", fmt.Sprintf("first token after %s, then %s tokens/s (%s per token)", unit.FormatSeconds(b.TTFT), rate(b.PerUser()), unit.FormatSeconds(b.TPOT))},
		[2]string{"", roundsText(b)},
		[2]string{"range", rangeText(b)},
		[2]string{"service", fmt.Sprintf("%s output tokens/s, %s per GPU", rate(b.Output), rate(b.PerGPU()))},
		[2]string{"", rolesText(a.Request, b)},
		[2]string{"cost", costText(b)},
		[2]string{"binds", boundWords(b)},
		[2]string{"experts", touchedText(a)},
		[2]string{"", balanceText(b)},
		[2]string{"holds", fmt.Sprintf("%s tokens of KV cache, %s of this length at once", Grouped(b.Tokens), Plural(b.Most, "request"))},
		[2]string{"queueing", queueingText(b)},
		[2]string{"saturated", saturatedText(a)},
	)
}

// sizeText is the GPUs and the load, and whether that was looked for between the loads listed.
func sizeText(p *deploy.Point) string {
	s := fmt.Sprintf("%s, %s in flight", Plural(int64(p.Layout.GPUs()), "GPU"), Grouped(int64(p.Concurrency)))
	if p.Refined {
		s += ", between the powers of two: about the most with which it meets the objective"
	}
	return s
}

// roundsText says what of the first token's time is the run's start, and which
// requests are served in step.
func roundsText(p *deploy.Point) string {
	s := &p.Steady
	var parts []string
	if p.Layout.Split != nil {
		parts = append(parts, fmt.Sprintf("%s of it, %s, the KV cache of a prompt is on its way between the roles", unit.FormatSeconds(p.Transfer), unit.FormatPercent(float64(p.Transfer/p.TTFT))))
	}
	if p.Concurrency > 1 && s.Burst > s.Steady*(1+1e-3) {
		parts = append(parts, fmt.Sprintf("mean of %d rounds: the first, sent all at once, waits %s, the others %s", infer.DefaultRounds, unit.FormatSeconds(s.Burst), unit.FormatSeconds(s.Steady)))
	}
	if s.InStep && p.Concurrency > 1 {
		parts = append(parts, "this engine reads prompts first, so that requests all alike are read together: vary --isl and --osl (1024+-20%) where yours differ")
	}
	return strings.Join(parts, "; ")
}

// rolesText is what the GPUs of each of two roles do, in the 8 that published figures are of.
func rolesText(r *api.InferRequest, p *deploy.Point) string {
	s := p.Layout.Split
	if s == nil || p.Reading <= 0 {
		return ""
	}
	reads := p.Output / float64(r.OSL) * float64(r.ISL-r.Cached) / float64(s.PrefillWorkers*s.Prefill.GPUs())
	return fmt.Sprintf("8 prefill GPUs read %s prompt tokens/s, busy %s of the time; 8 decode GPUs give %s output tokens/s", rate(8*reads), unit.FormatPercent(p.Reading),
		rate(8*p.Output/float64(s.DecodeWorkers*s.Decode.GPUs())))
}

// saturatedText is the other end of the loads where no objective is given.
func saturatedText(a *api.InferAnswer) string {
	s := a.Saturated
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s in flight give %s tokens per second and GPU (%+.0f %%), as %s, after a wait of %s for the first token; --slo decides", Grouped(int64(s.Concurrency)),
		rate(s.PerGPU()), 100*(s.PerGPU()/a.Best.Best.PerGPU()-1), s.String(), unit.FormatSeconds(s.TTFT))
}

// touchedText says how many routed experts the decode step reads.
func touchedText(a *api.InferAnswer) string {
	if a.Touched <= 0 {
		return ""
	}
	text := fmt.Sprintf("a decode step reads %.0f of a layer's %s", a.Touched, Plural(a.Experts, "routed expert"))
	if a.Request.Skew == 0 && a.Request.Loads == nil {
		text += fmt.Sprintf(", popular as by --skew %.3f", infer.UsualSkew)
	}
	return text
}

// balanceText says how far from even the experts' ranks are loaded.
func balanceText(p *deploy.Point) string {
	b := p.Balance
	if b == nil {
		return ""
	}
	text := fmt.Sprintf("the fullest of %d ranks gets %.2f times the mean of a decode step's tokens; balancedness (mean over fullest) %.2f with endless tokens", b.Case.GPUs, p.Fullest, b.Balancedness)
	switch {
	case b.Case.Redundant > 0 && b.Case.Hierarchical():
		text += fmt.Sprintf("; %d redundant experts, %d groups placed on %d nodes, then copies on their GPUs", b.Case.Redundant, b.Case.Groups, b.Case.Nodes)
	case b.Case.Redundant > 0:
		text += fmt.Sprintf("; %d redundant experts placed over all GPUs", b.Case.Redundant)
	}
	return text
}

// rangeText says where most measured services lie.
func rangeText(p *deploy.Point) string {
	span := func(r [2]unit.Seconds) string { return unit.FormatSeconds(r[0]) + " to " + unit.FormatSeconds(r[1]) }
	if p.Ranges != nil && p.Between() {
		return "not stated: no measured run behind it crosses the network between nodes; --calibrate takes measured points"
	}
	token, ok := p.TPOTRange()
	if !ok {
		return "" // corrected by measured points
	}
	text := fmt.Sprintf("%.0f %% of measured services lie at %s per token", 100*infer.RangeShare, span(token))
	if first, ok := p.TTFTRange(); ok {
		text += " and " + span(first) + " to the first"
	}
	switch {
	case p.Ranges.Engine != "":
		text += "; wider than usual, as no run of such an engine is known"
	case !p.Ranges.Measured:
		text += "; wider than usual, as no measured run is of this GPU with such weights"
	}
	return text
}

// queueingText says where queueing takes over, and whether the means above it stand
// for single requests as well.
func queueingText(p *deploy.Point) string {
	if p.Layout.Split != nil {
		return "not stated with two roles: ridgeline simulate finds the load at which it takes over"
	}
	c := &p.Full
	text := fmt.Sprintf("takes over beyond %s in flight: %s answers and %s tokens per second at most", Plural(int64(c.Clients+0.5), "request"), shortFloat(c.Requests), rate(c.Output))
	if p.Tails() {
		return text
	}
	if p.Steady.Valid() {
		return text + fmt.Sprintf("; %s, so that only means hold: no percentile is stated, ridgeline simulate gives them", p.Steady.Doubt)
	}
	return text + fmt.Sprintf("; %s of the room is taken, so that only means hold: no percentile is stated", unit.FormatPercent(p.Steady.Room))
}

// missText says by how much a point misses an objective.
func missText(s deploy.SLO, p *deploy.Point) string {
	text := ""
	if s.TTFT > 0 && p.TTFT > s.TTFT {
		text = fmt.Sprintf("a first token after %s instead of %s", unit.FormatSeconds(p.TTFT), unit.FormatSeconds(s.TTFT))
		if steady := p.Steady.Steady; steady <= s.TTFT {
			text += fmt.Sprintf(" (for the burst of a start all at once; later rounds wait %s)", unit.FormatSeconds(steady))
		}
	}
	if s.TPOT > 0 && p.TPOT > s.TPOT {
		if text != "" {
			text += " and "
		}
		text += fmt.Sprintf("%s per token instead of %s", unit.FormatSeconds(p.TPOT), unit.FormatSeconds(s.TPOT))
	}
	return text
}

func costText(p *deploy.Point) string {
	usd, ok := p.Cost()
	if !ok {
		return "not known: add --price, in USD per GPU-hour"
	}
	return perMillionText(usd, p.Price)
}

// perMillionText is the cost of a million output tokens with the price behind it.
func perMillionText(usd, price float64) string {
	return fmt.Sprintf("%s per million output tokens at %s per GPU-hour", unit.FormatUSD(usd), unit.FormatUSD(price))
}

// rate prints tokens per second.
func rate(v float64) string {
	if v < 100 {
		return decimal(v, 1)
	}
	return whole(v)
}

// boundWords explains what a decode step waits for, with the figures behind it.
func boundWords(p *deploy.Point) string {
	s := &p.Decode
	share := func(t unit.Seconds) string { return unit.FormatPercent(float64(t / s.Total)) }
	switch p.Bound {
	case cost.Compute.String():
		if s.Padded() {
			return fmt.Sprintf("compute: multiplications need %s of a decode step, most of them on rows that tiles and heads are filled up with", share(s.Pipes))
		}
		return fmt.Sprintf("compute: the matrix units alone need %s of a decode step", share(s.Compute))
	case cost.HBM.String():
		return fmt.Sprintf("memory bandwidth: reading weights and cache alone needs %s of a decode step", share(s.HBM))
	case cost.ScaleUp.String():
		return fmt.Sprintf("the scale-up link: its bytes alone need %s of a decode step", share(s.NVLink))
	case cost.Network.String():
		return fmt.Sprintf("the network: its bytes alone need %s of a decode step", share(s.Network))
	case cost.Latency.String():
		return fmt.Sprintf("latency: communication takes %s of a decode step, its bytes alone %s", share(s.Parts[infer.Communication]), share(max(s.NVLink, s.Network)))
	case deploy.BoundOverhead:
		if p.Ranges == nil {
			return fmt.Sprintf("the engine: its own time, with what the measured points add to it, is %s of a decode step", share(s.Parts[infer.Overhead]))
		}
		return fmt.Sprintf("the engine: scheduling, launches and sampling are %s of a decode step", share(s.Parts[infer.Overhead]))
	case deploy.BoundPrefill:
		return "prompts: reading them takes more of the engine's time than generating"
	case deploy.BoundTransfer:
		return "the transfer of KV caches from prefill to decode workers"
	case deploy.BoundQueue:
		return "the queue: more requests are in flight than the engine takes in; more of them only wait longer"
	}
	return p.Bound
}
