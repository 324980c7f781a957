package validate

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// What a source that nobody knows is predicted as: slower than the Megatron family whose name it does not
// bear, and by the share of a machine file where that has one.
func TestStrangeSources(t *testing.T) {
	predict := func(source, plan string, m *hw.Cluster) float64 {
		t.Helper()
		table := header + "\nt," + source + ",llama-3.1-8b,,h100,8,bf16,8192,128,1," + plan + ",,none,,,9000,,t\n"
		runs, bad, err := ReadRuns(strings.NewReader(table), "t")
		if err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		x, err := (&Predictor{Machine: m}).Predict(&runs[0])
		if err != nil {
			t.Fatal(err)
		}
		return x.TokensPerSecondPerGPU()
	}
	const parallel, sharded = "2,1,1,1,1,4,1", "1,1,1,1,1,8,3"
	family, stranger, fsdp := predict("our-megatron", parallel, nil), predict("ours", parallel, nil), predict("ours", sharded, nil)
	if stranger >= strangersShare*family {
		t.Errorf("%.0f tokens/s of a stranger, %.0f of the family: its collectives hide", stranger, family)
	}
	if nemo := predict("NeMo", sharded, nil); fsdp >= 0.9*nemo {
		t.Errorf("%.0f tokens/s of a stranger's FSDP, %.0f of NeMo's", fsdp, nemo)
	}
	if deep := predict("our-Megatron-DeepSpeed", parallel, nil); deep >= 0.9*family {
		t.Errorf("%.0f tokens/s of DeepSpeed, %.0f of the family", deep, family)
	}
	m, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	if same := predict("ours", sharded, m); same != fsdp {
		t.Errorf("%.0f tokens/s on the catalogue's machine, %.0f without", same, fsdp)
	}
	own, k := m.Clone(), *m.Device.Kernels
	k.Sustained = hw.SustainedBy(m.Device.Name, hw.Figure{Value: k.Sustained.Of(m.Device.PerWatt(), m.Device.Name), Grade: hw.Measured, Source: "t"})
	own.Device.Kernels = &k
	if x := predict("ours", sharded, own); x <= fsdp {
		t.Errorf("%.0f tokens/s with the machine's own share, %.0f with the strangers'", x, fsdp)
	}
}
