package validate

import (
	"context"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// cardConstants are what replayed requests show of cards whose kernels nobody timed. The
// last three are of exchanges through the host's memory, of several cards alone.
type cardConstants struct {
	HBM       float64 // achieved share of the datasheet's rate
	Sustained float64 // see infer.Profile
	Overlap   float64 // see hw.GEMM
	Share     float64 // see hw.Staged
	Start     float64 // seconds; of an exchange and of a pair
	Chunk     float64 // seconds
}

// cardKnob is one of them with its bounds and the first step of the search.
type cardKnob struct {
	of              func(*cardConstants) *float64
	low, high, step float64
}

// cardKnobs are the constants of one card, stagedKnobs those of exchanges between several.
var cardKnobs = []cardKnob{
	{func(c *cardConstants) *float64 { return &c.HBM }, 0.7, 1, 0.04},
	{func(c *cardConstants) *float64 { return &c.Sustained }, 0.7, 1, 0.1},
	{func(c *cardConstants) *float64 { return &c.Overlap }, 0, 1, 0.2},
}

var stagedKnobs = []cardKnob{
	{func(c *cardConstants) *float64 { return &c.Share }, 0.2, 1, 0.2},
	{func(c *cardConstants) *float64 { return &c.Start }, 1e-6, 50e-6, 5e-6},
	{func(c *cardConstants) *float64 { return &c.Chunk }, 0, 50e-6, 5e-6},
}

// unseenCard is what is expected of a card before any request of it is seen: an engine's and a
// generation's usual constants, the link's whole rate and latencies of NVLink's size.
var unseenCard = cardConstants{HBM: 0.87, Sustained: 0.9, Overlap: 0.3, Share: 1, Start: 5e-6, Chunk: 2e-6}

// replayed is a measured run that can be replayed with other constants.
type replayed struct {
	config   *RequestsConfig
	load     *workload.Workload
	measured []Stamps
	configs  string
}

// predictor predicts the run with the constants in place of the catalogue's.
func (r *replayed) predictor(c *cardConstants) (*ServingPredictor, error) {
	x := r.config.run()
	machine, err := onMachineOr(nil, r.config.GPU, x.GPUs)
	if err != nil {
		return nil, err
	}
	machine = machine.Clone()
	d := machine.Device
	d.Achieved.HBM = hw.Figure{Value: c.HBM * d.Peak.HBM.Value, Grade: hw.Measured, Source: "fit"}
	k := *d.Kernels
	for f := range k.GEMM {
		if k.GEMM[f].Known() {
			k.GEMM[f].Overlap = c.Overlap
		}
	}
	d.Kernels = &k
	staged := cost.UsualStaged()
	staged.Share, staged.Links.Start, staged.Links.Pair, staged.Links.Chunk = c.Share, unit.Seconds(c.Start), unit.Seconds(c.Start), unit.Seconds(c.Chunk)
	machine.Node.Staged = &staged
	return &ServingPredictor{Configs: r.configs, Machine: machine, Profile: func(engine, version, arch string) (*infer.Profile, error) {
		p, err := infer.FindProfileOf(engine, version, arch)
		if err != nil {
			return nil, err
		}
		own := *p
		own.Sustained = c.Sustained
		return &own, nil
	}}, nil
}

// replay is the run's requests predicted with the constants, in their order.
func (r *replayed) replay(ctx context.Context, c *cardConstants) (*serve.Result, error) {
	p, err := r.predictor(c)
	if err != nil {
		return nil, err
	}
	e, err := r.config.engine(p)
	if err != nil {
		return nil, err
	}
	out, err := serve.Replay(ctx, e, r.load)
	if err == nil && len(out.Records) != len(r.measured) {
		err = fmt.Errorf("%d requests were replayed and %d measured: give one line for each", len(out.Records), len(r.measured))
	}
	return out, err
}

// pairsOf are measured and predicted times of the requests from one to before another.
func (r *replayed) pairsOf(x *serve.Result, from, to int) (ttft, tpot pairs) {
	for i := from; i < to; i++ {
		m := &r.measured[i]
		if first, ok := x.Records[i].TTFT(); ok && m.Bad == "" {
			ttft.add(m.TTFT, first.Seconds())
		}
		if each, ok := x.Records[i].TPOT(); ok && m.Bad == "" {
			if t, ok := m.TPOT(); ok {
				tpot.add(t, each.Seconds())
			}
		}
	}
	return ttft, tpot
}

// loss is the mean |ln(predicted/measured)| of TPOT and of TTFT over those requests.
func (r *replayed) loss(ctx context.Context, c *cardConstants, from, to int) (float64, error) {
	x, err := r.replay(ctx, c)
	if err != nil {
		return 0, err
	}
	ttft, tpot := r.pairsOf(x, from, to)
	mean := func(p *pairs) float64 {
		sum := 0.0
		for i := range p.measured {
			sum += math.Abs(math.Log(p.predicted[i] / p.measured[i]))
		}
		return sum / float64(max(len(p.measured), 1))
	}
	return mean(&tpot) + weightTTFT*mean(&ttft), nil
}

// The pattern search of replayed runs shrinks its steps to a hundredth.
const (
	replayRounds = 18
	replayShrink = 0.8
)

// fit sets the constants of the list to the smallest loss over the requests from one to before
// another that a pattern search from c finds.
func (r *replayed) fit(ctx context.Context, c cardConstants, list []cardKnob, from, to int) (cardConstants, error) {
	best, err := r.loss(ctx, &c, from, to)
	reach := 1.0
	for range replayRounds {
		for i := range list {
			for _, side := range []float64{reach, -reach} {
				k := &list[i]
				next := c
				v := k.of(&next)
				*v = min(max(*v+side*k.step, k.low), k.high)
				if *v == *k.of(&c) || err != nil {
					continue
				}
				var l float64
				if l, err = r.loss(ctx, &next, from, to); l < best && err == nil {
					c, best = next, l
					break
				}
			}
		}
		reach *= replayShrink
	}
	return c, err
}
