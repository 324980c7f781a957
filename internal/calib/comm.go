package calib

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// collectives are the tables' names of patterns.
var collectives = map[string]work.CommKind{
	"all_gather": work.AllGather, "all_reduce": work.AllReduce, "reduce_scatter": work.ReduceScatter, "alltoall": work.AllToAll,
}

// commSamples reads an NCCL table. message_size counts elements of the whole tensor.
func commSamples(t *table, keep func() bool) ([]sample, error) {
	ops, err := t.strings("op_name")
	if err != nil {
		return nil, err
	}
	types, err := t.strings("nccl_dtype")
	if err != nil {
		return nil, err
	}
	c, err := t.numbers("num_gpus", "message_size", "latency")
	if err != nil {
		return nil, err
	}
	elem := map[string]int64{"half": 2, "int8": 1}
	var out []sample
	for i, name := range ops {
		kind, known := collectives[name]
		size := elem[types[i]]
		if !known || size == 0 {
			return nil, fmt.Errorf("%s: row %d: unknown collective %q of %q", t.name, i+1, name, types[i])
		}
		if !keep() {
			continue
		}
		x := sample{ops: make([]work.Op, 1), weight: 1}
		x.ops[0] = work.Op{
			Name: name, Kind: work.Collective, Count: 1,
			Comm: work.Comm{Kind: kind, Size: int64(c["num_gpus"][i]), Stride: 1, Bytes: unit.Bytes(int64(c["message_size"][i]) * size)},
		}
		if x.seconds, err = t.seconds(c["latency"], i); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
