package infer

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/work"
)

// touching is the expected number of experts that n tokens touch when popularity
// falls with rank as a power law: sum over experts of 1 - (1 - min(1, k p))^n. It is
// tabulated at quarter octaves of n, once for all engines.
type touching [4*24 + 1]float64

type touchingKey struct {
	experts, topk int64
	skew          float64
	given         *balance.Given
}

var touchings sync.Map // touchingKey to *touching

// touchingOf makes or finds the table; skew was checked.
func touchingOf(f *model.FFN, skew float64, given *balance.Given) *touching {
	key := touchingKey{f.Experts, f.TopK, skew, given}
	if t, ok := touchings.Load(key); ok {
		return t.(*touching)
	}
	t := &touching{}
	popular, err := balance.PowerLaw(int(f.Experts), skew)
	if err != nil { // the setup's check rules it out: price even loads
		return nil
	}
	if given != nil {
		popular = given.Shares()
	}
	for i := range t {
		n := math.Exp2(float64(i) / 4)
		for _, p := range popular {
			t[i] += 1 - math.Pow(1-min(1, p*float64(f.TopK)), n)
		}
	}
	touchings.Store(key, t)
	return t
}

// at is the experts that n tokens touch.
func (t *touching) at(n float64) float64 {
	x := 4 * math.Log2(max(n, 1))
	i := int(x)
	if i >= len(t)-1 {
		return t[len(t)-1]
	}
	return t[i] + (x-float64(i))*(t[i+1]-t[i])
}

// UsualSkew is how uneven experts' popularity is taken to be where nobody says: with it
// 256 experts on 32 ranks load the fullest 2.56 times the mean, as published of
// DeepSeek-V3 without redundant experts (modelling notes, section 6; package balance).
const UsualSkew = 0.657

// typicalTokens is the tokens of the step that decides an engine's kernel of the experts.
const typicalTokens = 64

// expertKernel settles the kernel of the routed experts: engines choose one when they
// load the model, and operators the one that is fastest while tokens are generated
// (InferenceX at 843c625 sets VLLM_MXFP4_USE_MARLIN on Hopper, and one runner per script);
// it then reads prompts as well.
func (e *Engine) expertKernel() {
	for i := range e.kinds {
		if f := &e.kinds[i].layer.FFN; f.MoE() {
			ops := e.ops.Expert(nil, f, e.experts(f, typicalTokens))
			ops = slices.DeleteFunc(ops, func(o work.Op) bool { return o.Kind != work.Grouped })
			e.ops.ExpertKernel = e.machine.ExpertKernel(ops)
			return
		}
	}
}

// experts is the load of n routed tokens of the layer.
func (e *Engine) experts(f *model.FFN, n float64) work.ExpertLoad {
	l := work.ExpertLoad{All: n, Share: e.imbalance(n)}
	if f.MoE() {
		if t := touchingOf(f, cmp.Or(e.setup.Skew, UsualSkew), e.setup.Popularity); t != nil {
			l.Touched = t.at(n)
		}
	}
	return l
}

// Touched is how many of the routed experts of a layer a step of n tokens of the instance
// reads, expected over the steps, and how many the layer has; 0 of models without any.
func (e *Engine) Touched(n float64) (touched float64, of int64) {
	for i := range e.kinds {
		if f := &e.kinds[i].layer.FFN; f.MoE() {
			return e.experts(f, n).Touched, f.Experts
		}
	}
	return 0, 0
}
