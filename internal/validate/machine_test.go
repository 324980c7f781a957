package validate

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
)

// A machine stands in for the catalogue's: equal figures predict alike, slower memory
// predicts slower, and runs of another GPU are named.
func TestRunsOnAMachine(t *testing.T) {
	m, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	runs, _, err := ReadRuns(strings.NewReader(sample), "t")
	if err != nil {
		t.Fatal(err)
	}
	want, err := new(Predictor).Predict(&runs[0])
	if err != nil {
		t.Fatal(err)
	}
	same, err := (&Predictor{Machine: m}).Predict(&runs[0])
	if err != nil || same.Result.Step != want.Result.Step {
		t.Errorf("on the catalogue's machine: %v, %v instead of %v", err, same.Result.Step, want.Result.Step)
	}
	slow := m.Clone()
	slow.Device = m.Device.Clone()
	slow.Device.Achieved.HBM.Value /= 4
	if x, err := (&Predictor{Machine: slow}).Predict(&runs[0]); err != nil || x.Result.Step <= want.Result.Step {
		t.Errorf("with a quarter of the memory's speed: %v", err)
	}
	s := ServingRun{ID: "a", Model: "llama-3.1-8b", GPU: "h100", Engine: "vllm", Weights: "bf16", ISL: 1024, OSL: 128, Concurrency: 8, GPUs: 1, TPOT: 7}
	s.Plan.TP, s.Plan.PP, s.Plan.DP, s.Plan.EP, s.Plan.DCP, s.Plan.Replicas = 1, 1, 1, 1, 1, 1
	a, err := new(ServingPredictor).Predict(&s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := (&ServingPredictor{Machine: m}).Predict(&s)
	if err != nil || b.TPOT != a.TPOT {
		t.Errorf("on the catalogue's machine: %v, TPOT %v instead of %v", err, b.TPOT, a.TPOT)
	}
	if c, err := (&ServingPredictor{Machine: slow}).Predict(&s); err != nil || c.TPOT <= a.TPOT {
		t.Errorf("with a quarter of the memory's speed: %v", err)
	}
	s.GPU = "h200"
	if _, err := (&ServingPredictor{Machine: m}).Predict(&s); !isWrong(err) || !strings.Contains(err.Error(), "the machine of --cluster holds h100-sxm") {
		t.Errorf("another GPU: %v", err)
	}
}
