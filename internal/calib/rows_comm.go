package calib

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

var (
	ncclKind = &kind{name: "nccl", text: []string{"nccl_dtype"}, numbers: []string{"num_gpus", "message_size", "latency"}, row: ncclRow}
	// An engine's own all-reduce, launched from a CUDA graph or eagerly.
	oneShotKind = &kind{name: "custom all-reduce", text: []string{"allreduce_dtype", "kernel_source"}, numbers: []string{"num_gpus", "message_size", "latency"}, row: oneShotRow}

	lowLatencyKind = &kind{name: "deepep low latency",
		numbers: []string{"node_num", "hidden_size", "num_token", "num_topk", "num_experts", "dispatch_avg_t_us", "combine_avg_t_us"}, row: lowLatencyRow}
	normalKind = &kind{name: "deepep normal",
		numbers: []string{"node_num", "hidden_size", "num_token", "num_topk", "num_experts", "dispatch_sms", "combine_sms", "dispatch_transmit_us", "combine_transmit_us"}, row: normalRow}
)

// elements are the bytes of the tables' element types.
var elements = map[string]int64{"half": 2, "int8": 1, "bfloat16": 2, "float16": 2}

// message reads the ranks and the tensor's bytes; message_size counts elements.
func (c *cells) message(column string, i int) (ranks int64, bytes unit.Bytes, why string) {
	size := elements[c.is(column, i)]
	if size == 0 {
		return 0, 0, "unknown " + column + " " + c.is(column, i)
	}
	if why := c.positive(i, "num_gpus", "message_size"); why != "" {
		return 0, 0, why
	}
	return c.at("num_gpus", i), unit.Bytes(c.at("message_size", i) * size), ""
}

func ncclRow(c *cells, i int, x *sample) string {
	kind, ok := collectives[c.is("op_name", i)]
	if !ok {
		return "unknown collective " + c.is("op_name", i)
	}
	ranks, bytes, why := c.message("nccl_dtype", i)
	if why != "" {
		return why
	}
	x.collective(work.Comm{Kind: kind, Size: ranks, Stride: 1, Bytes: bytes})
	return c.latency(i, x)
}

func oneShotRow(c *cells, i int, x *sample) string {
	ranks, bytes, why := c.message("allreduce_dtype", i)
	if why != "" {
		return why
	}
	eager := strings.HasSuffix(c.is("kernel_source", i), "_eager")
	x.collective(work.Comm{Kind: work.AllReduce, Size: ranks, Stride: 1, Bytes: bytes, OneShot: true, Eager: eager})
	return c.latency(i, x)
}

func (x *sample) collective(c work.Comm) {
	x.ops = append(x.ops, work.Op{Kind: work.Collective, Count: 1, Comm: c})
}

// domain is the GPUs of one node in the expert-exchange tables (DeepEP's tests run
// on whole nodes of eight).
const domain = 8

// exchange reads both ways of an expert all-to-all: tokens go out in FP8 with a
// scale of four bytes per 128 values, and come back in BF16.
func (c *cells) exchange(i int, x *sample, low bool, times ...string) string {
	if why := c.positive(i, "node_num", "hidden_size", "num_token", "num_topk", "num_experts"); why != "" {
		return why
	}
	values := c.at("num_token", i) * c.at("hidden_size", i)
	w := work.Comm{Kind: work.Dispatch, Size: domain * c.at("node_num", i), Stride: 1, TopK: c.at("num_topk", i), Experts: c.at("num_experts", i),
		LowLatency: low, SMs: c.at("dispatch_sms", i), Bytes: unit.Bytes(values + values/128*4)}
	x.collective(w)
	w.Combine, w.Bytes, w.SMs = true, unit.BF16.Size(values), c.at("combine_sms", i)
	x.collective(w)
	for k, t := range times {
		v := c.number[t][i]
		if !(v >= minLatency*1e3 && v <= maxLatency*1e3) {
			return fmt.Sprintf("column %s is %g: give microseconds from %g to %g", t, v, minLatency*1e3, maxLatency*1e3)
		}
		x.ways[k] = v / 1e6
		x.seconds += x.ways[k]
	}
	return ""
}

func lowLatencyRow(c *cells, i int, x *sample) string {
	return c.exchange(i, x, true, "dispatch_avg_t_us", "combine_avg_t_us")
}

func normalRow(c *cells, i int, x *sample) string {
	return c.exchange(i, x, false, "dispatch_transmit_us", "combine_transmit_us")
}
