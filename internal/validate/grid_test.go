package validate

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

var update = flag.Bool("update", false, "write the prediction grid anew")

const gridFile = "../../testdata/grid.json"

// cell is one fixed case of the grid: what is asked, and what was answered last.
type cell struct {
	Model     string  `json:"model"`
	Cluster   string  `json:"cluster"`
	Batch     int     `json:"global_batch"`
	Seq       int     `json:"seq"`
	Precision string  `json:"precision"`
	Plan      string  `json:"plan"`
	Step      float64 `json:"step_seconds"`
	Lower     float64 `json:"lower_seconds"`
	Upper     float64 `json:"upper_seconds"`
	Memory    float64 `json:"memory_bytes_per_gpu"`
}

// TestGrid tells every change of the grid's answers beyond 0.1 %, so that a
// change of the model is seen where it acts. Nothing here says what is right:
// that is the published runs' business. A change that is meant is written with
// go test ./internal/validate -run TestGrid -update.
func TestGrid(t *testing.T) {
	data, err := os.ReadFile(gridFile)
	if err != nil {
		t.Fatal(err)
	}
	var grid []cell
	if err := json.Unmarshal(data, &grid); err != nil {
		t.Fatal(err)
	}
	if len(grid) < 30 {
		t.Errorf("%d cases, want 30", len(grid))
	}
	for i := range grid {
		old := grid[i]
		c := &grid[i]
		answer(t, c)
		for _, v := range []struct {
			what     string
			old, now float64
		}{{"step", old.Step, c.Step}, {"lower", old.Lower, c.Lower}, {"upper", old.Upper, c.Upper}, {"memory", old.Memory, c.Memory}} {
			change := v.now/v.old - 1
			if math.Abs(change) <= 1e-3 {
				continue
			}
			t.Logf("%s %s %s: %s %.6g -> %.6g (%+.2f %%)", c.Model, c.Cluster, c.Plan, v.what, v.old, v.now, 100*change)
			if !*update {
				t.Fail()
			}
		}
	}
	if !*update {
		return
	}
	out, err := json.MarshalIndent(grid, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gridFile, append(out, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// answer predicts a case.
func answer(t *testing.T, c *cell) {
	t.Helper()
	m, err := catalog.Model(c.Model)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := catalog.Cluster(c.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse(c.Plan)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Plan
	for _, n := range []*int{&p.TP, &p.CP, &p.PP, &p.VPP, &p.EP, &p.ETP, &p.MicroBatch} {
		*n = max(*n, 1)
	}
	p.DP = int(cluster.GPUs) / (p.TP * p.CP * p.PP)
	p.Overlap = megatron.overlap
	if p.Precision, err = plan.ParsePrecision(c.Precision); err != nil {
		t.Fatal(err)
	}
	job := plan.NewJob(m, int(cluster.GPUs), int(cluster.Node.GPUs), c.Batch, c.Seq, 0)
	if why := p.Check(job); why != plan.Legal {
		t.Fatal(p.Explain(why, job))
	}
	e, err := train.NewEvaluator(job, cluster, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Evaluate(&p)
	if err != nil {
		t.Fatal(err)
	}
	c.Step, c.Lower, c.Upper, c.Memory = float64(r.Step), float64(r.Lower), float64(r.Upper), float64(r.Memory.Total())
}
