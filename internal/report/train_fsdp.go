package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainFSDP shows what gathering every weight costs the links, by algorithm, for
// plain FSDP where it is bound by them and for an answer that is itself ZeRO-3.
func trainFSDP(p *Page, a *api.TrainAnswer) {
	if len(a.Sharding) > 0 && (a.FSDP == nil || a.FSDP.Plan.String() != a.Best.Plan.String()) {
		p.section("ZeRO-3 traffic of the plan: is it worth it?")
		shardingTable(p, a.Best, a.Sharding)
	}
	if a.FSDP == nil {
		return
	}
	p.section("Plain FSDP: is it worth its traffic?")
	p.Text(0, "%s", fsdpVerdict(a.FSDP))
	shardingTable(p, a.FSDP, a.FSDPSharding)
	if s := speedUps(a.FSDP, a.FSDPEvens); s != "" {
		p.Text(0, "%s", s)
	}
	if len(a.FSDPEvens) > 0 {
		p.Line("")
		p.Line("What would change FSDP's bound, each figure alone:")
		flipTable(p, a.FSDPEvens)
	}
}

func fsdpVerdict(r *train.Result) string {
	c := &r.Ceilings
	if r.Bound == train.BoundNVLink || r.Bound == train.BoundNetwork {
		return fmt.Sprintf("Communication-bound: %s per step on %s, against %s of compute.", sec(max(c.NVLink, c.Network)), r.Link, sec(c.Compute))
	}
	return fmt.Sprintf("Bound by %s, a step takes %s.", r.Bound, sec(r.Step))
}

func shardingTable(p *Page, r *train.Result, list []train.Algorithm) {
	m := unit.Seconds(r.MicroBatches)
	p.Text(0, "Weights are gathered for the forward and again for the backward pass and gradients are scattered, for each of %s per step. "+
		"Time that each link is busy, once and per step:", Plural(int64(r.MicroBatches), "micro-batch"))
	var rows [][]string
	for _, x := range list {
		ratio := ""
		if c := r.Ceilings.Compute; c > 0 {
			ratio = fmt.Sprintf("%.2f : 1", float64(m*max(x.NVLink, x.Network)/c))
		}
		rows = append(rows, []string{x.Name, sec(x.NVLink), sec(x.Network), sec(m * x.NVLink), sec(m * x.Network), sec(r.Ceilings.Compute), ratio})
	}
	p.Table([]Column{Left("algorithm"), Right("scale-up once"), Right("network once"), Right("scale-up"), Right("network"), Right("compute"), Right("link : compute")}, rows)
}

// speedUps says by how much both links fall short of compute, where more than
// one does: no figure alone helps then.
func speedUps(r *train.Result, evens []advise.BreakEven) string {
	c := &r.Ceilings
	if c.Compute <= 0 || c.NVLink <= c.Compute || c.Network <= c.Compute {
		return ""
	}
	need := func(k advise.Knob, busy unit.Seconds) string {
		times := float64(busy / c.Compute)
		s := fmt.Sprintf("%.1f times the %s", times, k)
		for _, b := range evens {
			if b.What == k.String() && b.Now > 0 {
				s += fmt.Sprintf(" (about %s)", unit.FormatByteRate(unit.ByteRate(b.Now*times)))
			}
		}
		return s
	}
	return fmt.Sprintf("No faster link alone makes it compute-bound: it takes %s and %s together.", need(advise.ScaleUp, c.NVLink), need(advise.Network, c.Network))
}
