package tune

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Of several probes of one machine each figure is the best; rows of 64 columns that take 9 ns and
// of 1,024 that take 54 end in (9 - 54/16)/(1 - 1/16) = 6 ns, which the machine's file keeps. Probes of two machines are refused.
func TestSeveralProbes(t *testing.T) {
	short := func(k int64, seconds float64) record.Result {
		rate := float64(unit.Q8_0.Size(k)) / seconds
		return record.Result{Kind: record.Memory, What: record.ShortGEMV, Unit: "bytes/s", Value: rate / 2, Best: rate, Format: "q8_0", K: k, Device: "cpu", Threads: 1}
	}
	a, b := host(), host()
	a.Results[1].Value, b.Results[2].Value = 8e9, 90e9 // triad, products
	for i, rec := range []*record.Record{a, b} {
		stream := record.Result{Kind: record.Memory, What: record.GEMV, Unit: "bytes/s", Value: 1e9, Best: []float64{9e9, 7e9}[i], Format: "q8_0", Bytes: 1e9, Device: "cpu", Threads: 1}
		rec.Results = append(rec.Results, stream, short(64, []float64{9e-9, 12e-9}[i]), short(1024, []float64{60e-9, 54e-9}[i]))
	}
	o, err := Fit(t.Context(), &Input{Records: []*record.Record{a, b}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := catalog.EncodeCluster(o.Machine, "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := catalog.ReadCluster("m.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	d := again.Device
	if d.Achieved.HBM.Value != 10e9 || d.Achieved.Matrix[unit.FP32].Value != 100e9 || !slices.Equal(d.Kernels.Streams, []hw.Stream{{Format: unit.Q8_0, Bytes: 1e9, Rate: 9e9}}) {
		t.Errorf("memory %g, products %g, streams %+v", d.Achieved.HBM.Value, d.Achieved.Matrix[unit.FP32].Value, d.Kernels.Streams)
	}
	if e := d.Kernels.RowEnds; len(e) != 1 || e[0].Format != unit.Q8_0 || math.Abs(float64(e[0].Time)/6e-9-1) > 1e-3 {
		t.Errorf("ends of rows %+v", e)
	}
	b.Machine.Host, b.Results[1].Value = "other", 20e9
	if _, err := Fit(t.Context(), &Input{Records: []*record.Record{a, b}}); err == nil || !strings.Contains(err.Error(), "one machine") {
		t.Errorf("two machines: %v", err)
	}
}
