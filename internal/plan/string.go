package plan

import (
	"fmt"
	"strings"
)

// String prints the plan as --plan reads it, leaving out what is at its default.
// The default of overlap is all, what a search assumes where the key is absent.
func (p *Plan) String() string {
	var b strings.Builder
	add := func(k Key, v any) { fmt.Fprintf(&b, ",%s=%v", k, v) }
	degrees := []struct {
		k Key
		n int
	}{{KeyTP, p.TP}, {KeyPP, p.PP}, {KeyVPP, p.VPP}, {KeyDP, p.DP}, {KeyCP, p.CP}, {KeyEP, p.EP}, {KeyETP, p.ETP}}
	for _, d := range degrees {
		if d.n > 1 || d.k == KeyDP {
			add(d.k, d.n)
		}
	}
	add(KeyZeRO, p.ZeRO)
	if p.ShardGroup > 0 {
		add(KeyShard, p.ShardGroup)
	}
	if p.PP > 1 {
		add(KeySchedule, p.Schedule)
	}
	add(KeyMBS, p.MicroBatch)
	add(KeyRecompute, p.Recompute)
	if p.SP {
		add(KeySP, 1)
	}
	if p.CPAllToAll {
		add(KeyCPComm, "a2a")
	}
	if p.Overlap != (Overlap{TP: true, DP: true, PP: true}) {
		add(KeyOverlap, p.Overlap)
	}
	if p.OffloadOptim {
		add(KeyOffload, "optimizer")
	}
	if p.Tuning != FullTraining {
		add(KeyTuning, p.Tuning)
		add(KeyRank, p.LoRARank)
	}
	if p.UnfusedAttn {
		add(KeyAttention, "unfused")
	}
	return b.String()[1:]
}
