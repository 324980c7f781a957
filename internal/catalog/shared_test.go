package catalog

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// sharedRows reads a table of collected facts as a map per row; the test is
// skipped where the table is absent.
func sharedRows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared/spec", name))
	if err != nil {
		t.Skipf("no table to compare with: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, key := range rows[0] {
			m[key] = r[i]
		}
		out = append(out, m)
	}
	return out
}

// Peaks are those of the collected datasheets; what they leave empty is absent.
// Apart on purpose: the bridge of the H100 NVL joins pairs only; Trainium3's FP8 is
// block-scaled only; the L20's FP8 and the MI210's bridges come from sources that their
// entries name; of the Gaudi 3's ports three leave the node.
func TestPeaksAsCollected(t *testing.T) {
	apart := map[string]bool{
		"h100-nvl scale_up_gb_s_per_direction": true, "trainium3 fp8_dense_tflops": true, "arc-pro-b60 scale_up_gb_s_per_direction": true,
		"l20 fp8_dense_tflops": true, "mi210 scale_up_gb_s_per_direction": true, "gaudi3 scale_up_gb_s_per_direction": true,
	}
	for _, row := range sharedRows(t, "hardware.csv") {
		d := mustDevice(t, row["name"])
		m := &d.Peak.Matrix
		fp4 := m[unit.NVFP4]
		if !fp4.Known() {
			fp4 = m[unit.MXFP4]
		}
		for _, c := range []struct {
			column string
			figure hw.Figure
			scale  float64
		}{
			{"bf16_dense_tflops", m[unit.BF16], tera}, {"fp16_dense_tflops", m[unit.FP16], tera}, {"fp8_dense_tflops", m[unit.FP8], tera},
			{"fp4_dense_tflops", fp4, tera}, {"int8_dense_tops", m[unit.INT8], tera}, {"tf32_dense_tflops", m[unit.TF32], tera},
			{"memory_gb", d.Peak.Memory, giga}, {"memory_bandwidth_gb_s", d.Peak.HBM, giga}, {"tdp_w", d.Peak.TDP, 1},
			{"scale_up_gb_s_per_direction", d.Peak.ScaleUp, giga},
		} {
			want, _ := strconv.ParseFloat(row[c.column], 64)
			if !apart[d.Name+" "+c.column] && math.Abs(c.figure.Value-want*c.scale) > 1e-9*want*c.scale {
				t.Errorf("%s %s is %g, collected as %s", d.Name, c.column, c.figure.Value, row[c.column])
			}
		}
		if row["confidence"] != d.Peak.Confidence.String() {
			t.Errorf("%s: confidence %v, collected as %s", d.Name, d.Peak.Confidence, row["confidence"])
		}
	}
}

// Every collected measurement is in its device's entry, as the figure that
// planning uses or beside it.
func TestMeasurementsAsCollected(t *testing.T) {
	scales := map[string]float64{"TFLOP/s": tera, "GB/s": giga, "us": micro}
	// Rates restated in the entry: per GPU instead of per node, as bus bandwidth, or the copy instead of the write.
	restated := map[string]bool{
		"b300-sxm net_p2p_node 780.3": true, "a800-sxm-80gb nvlink_allreduce 89": true, "ascend-910b-376t hccs_allreduce 72": true,
		"a100-pcie-80gb hbm 1732.14": true, "mi210 hbm 1301.19": true,
	}
	for _, row := range sharedRows(t, "achievable.csv") {
		d := mustDevice(t, row["gpu"])
		v, err := strconv.ParseFloat(row["value"], 64)
		if err != nil {
			t.Fatal(err)
		}
		want := v * scales[row["unit"]]
		found := restated[row["gpu"]+" "+row["quantity"]+" "+row["value"]]
		figures := achievedQuantities(&d.Achieved)
		for i := range d.Others {
			figures = append(figures, quantity{to: &d.Others[i].Figure})
		}
		for _, q := range append(figures, quantity{to: &d.DefaultNode.NICLatency}) {
			found = found || math.Abs(q.to.Value-want) <= 1e-9*want
		}
		if !found {
			t.Errorf("%s: %s %s %s is in no figure", row["gpu"], row["quantity"], row["value"], row["unit"])
		}
	}
}
