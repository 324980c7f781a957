package work

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Touched is the expected number of experts that at least one of n tokens chose,
// k of e each, balanced and independent: e (1 - (1 - k/e)^n).
func Touched(e, k int64, n float64) float64 {
	if e <= 0 || n <= 0 {
		return 0
	}
	return float64(e) * (1 - math.Pow(1-float64(k)/float64(e), n))
}

// FFN is what a layer's feed-forward half does with n tokens of a replica: a dense
// FFN, or router, shared expert and the way to the routed ones and back, which
// Expert adds.
func (s *Serving) FFN(dst []Op, l *model.Layer, n int64) []Op {
	f := &l.FFN
	tp := int64(s.Plan.TP)
	if l.Norms != 1 {
		dst = s.norm(dst, "ffn norm", partName(f), n)
	}
	if f.Inner > 0 {
		dst = s.mlp(dst, partDense, n, f.Inner/tp, f.Gated)
		dst = s.reduce(dst, "ffn all-reduce", partDense, n)
	}
	if f.MoE() {
		dst = s.routed(dst, f, n)
	}
	if l.Norms >= 4 {
		dst = s.norm(dst, "ffn output norm", partName(f), n)
	}
	return dst
}

// mlp is up, activation and down outside the routed experts.
func (s *Serving) mlp(dst []Op, part string, n, inner int64, gated bool) []Op {
	width := inner
	if gated {
		width *= 2
	}
	dst = s.linear(dst, "up", part, n, s.Model.Hidden, width)
	dst = s.pass(dst, "activation", part, float64(n*(width+inner)*bf16))
	return s.linear(dst, "down", part, n, inner, s.Model.Hidden)
}

// routed is everything of a routed layer but the experts' products.
//
//   - exchange (attention replicas, whole experts on every rank): the TP ranks of a
//     replica take a share of its tokens each, send them to their experts, get them
//     back and gather the replica's tokens; the shared expert is whole on every rank.
//   - otherwise every rank sees all tokens: replicas gather them (see Expert), results
//     are summed over TP.
func (s *Serving) routed(dst []Op, f *model.FFN, n int64) []Op {
	h, tp := s.Model.Hidden, int64(s.Plan.TP)
	gates := f.Experts
	if f.SharedGate { // one more column beside the router's
		gates++
	}
	dst = s.plain(dst, Linear{}, "router", partRouter, n, h, gates, 1)
	dst = s.pass(dst, "softmax and top-k", partRouter, float64(n*f.Experts*4))
	if s.Plan.Exchange() {
		own := (n + tp - 1) / tp
		if f.SharedInner > 0 {
			dst = s.mlp(dst, partShared, own, f.SharedInner, f.Gated)
		}
		dst = s.exchange(dst, f, own, n*int64(s.Plan.DP))
		return s.comm(dst, "token gather", partExpert, Comm{Kind: AllGather, Axis: AxisTP, Size: tp, Stride: 1, Bytes: unit.Bytes(n * h * bf16)})
	}
	if f.SharedInner > 0 {
		dst = s.mlp(dst, partShared, n, f.SharedInner/tp, f.Gated)
	}
	return s.reduce(dst, "ffn all-reduce", partExpert, n)
}

// exchange is dispatch and combine of n tokens of this rank, all of the replicas together.
func (s *Serving) exchange(dst []Op, f *model.FFN, n, all int64) []Op {
	c := Comm{Kind: Dispatch, Axis: AxisEP, Size: int64(s.Plan.EP), Stride: 1, Bytes: s.Dispatch.Size(n * s.Model.Hidden),
		TopK: f.TopK, TopGroups: f.TopGroups, Groups: f.Groups, Experts: f.Experts, LowLatency: s.LowLatency}
	if s.Imbalance != nil {
		c.Fullest = s.Imbalance(float64(all))
	}
	dst = s.comm(dst, "dispatch", partExpert, c)
	c.Bytes, c.Combine = unit.Bytes(n*s.Model.Hidden*bf16), true
	return s.comm(dst, "combine", partExpert, c)
}

// ExpertLoad is the routed tokens of one step: All tokens of all replicas; Share,
// the rows of the busiest rank over the mean, 0 = what chance leaves; Touched, the experts
// that they touch, copies left out, 0 = as many as even and independent choices do.
type ExpertLoad struct {
	All     float64
	Share   float64
	Touched float64
}

// busiest is the expected largest of n ranks' counts that have a mean and at most a
// largest value each, and spread like a binomial: a step waits for the fullest rank,
// and few choices fall unevenly however even the odds. The largest of n normal
// deviations lies where Blom (Statistical Estimates and Transformed Beta-Variables,
// 1958) expects it.
//
//	mean + sqrt(mean (1 - mean/most)) z,  z = the normal quantile of (n - 3/8)/(n + 1/4)
func busiest(mean, most float64, n int64) float64 {
	if n <= 1 || mean >= most {
		return mean
	}
	p := (float64(n) - 0.375) / (float64(n) + 0.25)
	z := math.Sqrt2 * math.Erfinv(2*p-1)
	return min(mean+z*math.Sqrt(mean*(1-mean/most)), most)
}

// Expert is the routed experts of the busiest rank: its share of all choices on
// its own experts, of which only those that a token chose are read. Permutation,
// activation and weighted sum belong to the fused kernels and are priced with them.
// Redundant copies share the load of their experts and are chosen like others.
func (s *Serving) Expert(dst []Op, f *model.FFN, e ExpertLoad) []Op {
	if !f.MoE() || e.All <= 0 {
		return dst
	}
	ep, etp := int64(s.Plan.EP), int64(s.Plan.ETP())
	slots := f.Experts + int64(s.Plan.Redundant)
	local := slots / ep
	mean := e.All * float64(f.TopK) / float64(ep)
	rows := max(mean*e.Share, busiest(mean, e.All*float64(f.TopK), ep))
	touched := Touched(slots, f.TopK, e.All)
	if e.Touched > 0 {
		touched = e.Touched * float64(slots) / float64(f.Experts)
	}
	touched = busiest(min(touched/float64(ep), float64(local)), float64(local), ep)
	inner, width := f.ExpertInner/etp, f.ExpertInner/etp
	if f.Gated {
		width *= 2
	}
	h, dp := s.Model.Hidden, int64(s.Plan.DP)
	swap := Comm{Axis: AxisDP, Size: dp, Stride: int64(s.Plan.TP), Bytes: unit.Bytes(e.All * float64(h*bf16))}
	if dp > 1 && !s.Plan.Exchange() {
		swap.Kind = AllGather
		dst = s.comm(dst, "token gather", partExpert, swap)
		swap.Kind = ReduceScatter
		dst = s.comm(dst, "token scatter", partExpert, swap)
	}
	choices := rows // an exchange brings a rank its own only
	if !s.Plan.Exchange() {
		choices = e.All * float64(f.TopK)
	}
	q := linearLoad{name: "up", part: partExpert, rows: rows, choices: choices, in: h, out: width, groups: local, touched: touched, stored: s.Experts, product: s.ExpertProduct}
	dst = s.add(dst, &q)
	q.name, q.in, q.out = "down", inner, h
	return s.add(dst, &q)
}
