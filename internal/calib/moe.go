package calib

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// minPerExpert keeps the rows where the products, not the weights' way from
// memory, take the time: what training does.
const minPerExpert = 64

// moeSamples reads the balanced rows of one format with many tokens per expert.
// num_tokens are those of the whole expert group: a rank computes topk/ep of them.
func moeSamples(t *table, dtype string, keep func() bool) ([]sample, error) {
	types, err := t.strings("moe_dtype")
	if err != nil {
		return nil, err
	}
	loads, err := t.strings("distribution")
	if err != nil {
		return nil, err
	}
	sources, err := t.strings("kernel_source")
	if err != nil {
		return nil, err
	}
	c, err := t.numbers("num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "latency")
	if err != nil {
		return nil, err
	}
	// The tables of older engine versions hold no balanced load; the flattest stands in.
	flat := "balanced"
	if !slices.Contains(loads, flat) {
		flat = "power_law_1.01"
	}
	var out []sample
	for i := range types {
		at := func(name string) int64 { return int64(c[name][i]) }
		if types[i] != dtype || loads[i] != flat || sources[i] == ungated {
			continue
		}
		ep, tp := max(at("moe_ep_size"), 1), max(at("moe_tp_size"), 1)
		experts, routed := at("num_experts")/ep, at("num_tokens")*at("topk")/ep
		if experts == 0 || routed/experts < minPerExpert || !keep() {
			continue
		}
		x := moeSample(gemmFormats[dtype], experts, routed, at("num_tokens"), at("hidden_size"), at("inter_size")/tp)
		if x.seconds, err = t.seconds(c["latency"], i); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// ungated names kernels without a gate product; they are few and left out.
const ungated = "moe_torch_flow_nongated"

// moeSample is one fused MoE: gate and up, down, and the passes between them
// (permute, activation, un-permute with the weighted sum).
func moeSample(f unit.Format, experts, routed, tokens, hidden, inter int64) sample {
	per := routed / experts
	x := sample{ops: make([]work.Op, 2), weight: 1, passes: 2*unit.BF16.Size(tokens*hidden) + 2*unit.BF16.Size(routed*hidden) + unit.BF16.Size(routed*3*inter)}
	x.ops[0] = groupedOp(f, experts, per, 2*inter, hidden)
	x.ops[1] = groupedOp(f, experts, per, hidden, inter)
	return x
}

// groupedOp is groups products of M x K by K x N with BF16 results.
func groupedOp(f unit.Format, groups, m, n, k int64) work.Op {
	op := gemmOp(f, m, n, k)
	op.Kind, op.Groups = work.Grouped, groups
	op.FLOPs *= unit.FLOPs(groups)
	op.Bytes *= unit.Bytes(groups)
	return op
}
