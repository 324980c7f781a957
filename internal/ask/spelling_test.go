package ask

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// What infer prints can be pasted into simulate, and the other way round; a limit
// given under both names is given twice.
func TestBothSpellings(t *testing.T) {
	for _, line := range []string{"--batch-tokens 2048 --eager", "--max-num-batched-tokens 2048 --enforce-eager"} {
		f, d := NewInfer(), NewDeployment("simulate")
		if err := f.Flags.Parse(strings.Fields(line)); err != nil || f.chunk != 2048 || !f.eager {
			t.Errorf("infer %s: %d tokens, eager %t, error %v", line, f.chunk, f.eager, err)
		}
		if err := d.Flags.Parse(strings.Fields(line)); err != nil || d.tokens != 2048 || !d.eager {
			t.Errorf("simulate %s: %d tokens, eager %t, error %v", line, d.tokens, d.eager, err)
		}
	}
	err := NewInfer().Flags.Parse(strings.Fields("--batch-tokens 2048 --max-num-batched-tokens 4096"))
	if err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("both names: error %v, want it refused", err)
	}
}

// A limit of sequences counts an instance or its replicas, not both.
func TestOneLimitOfSequences(t *testing.T) {
	d := NewDeployment("simulate")
	if err := d.Flags.Parse(strings.Fields("--model m --cluster c --plan tp=1 --max-num-seqs 8 --max-sequences 64")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Request(nil); err == nil || !strings.Contains(err.Error(), "give one of them") {
		t.Errorf("error %v, want one of them", err)
	}
}

// infer takes a replica's limit, too, where the plan says how many there are.
func TestReplicaLimitOfInfer(t *testing.T) {
	for line, want := range map[string]int64{"--max-num-seqs 8": 64, "--max-num-seqs 8 --max-sequences 64": 0, "": 0} {
		f := NewInfer()
		if err := f.Flags.Parse(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		r := &api.InferRequest{}
		var err error
		if r.Plan, err = plan.ParseServing("tp=1,dp=8,ep=8"); err != nil {
			t.Fatal(err)
		}
		if err := f.perReplica(r); r.Slots != want || (err == nil) != (want > 0 || line == "") {
			t.Errorf("%q: %d sequences of the instance, error %v", line, r.Slots, err)
		}
		if line == "" {
			continue
		}
		r.Plan, _ = plan.ParseServing("tp=8")
		if err := f.perReplica(r); err == nil {
			t.Errorf("%q of an open number of replicas is taken", line)
		}
	}
}

// A preset's protocol is not told as it stands where flags change what it says.
func TestDeparturesFromAPreset(t *testing.T) {
	given := func(flags ...string) func(string) bool {
		return func(flag string) bool { return strings.Contains(" "+strings.Join(flags, " ")+" ", " "+flag+" ") }
	}
	if got := departures(given("requests", "isl", "warmup")); got != " Not as it says: --requests, --warmup." {
		t.Errorf("%q", got)
	}
	if got := departures(given("isl")); got != "" {
		t.Errorf("%q of no flag that the protocol speaks of", got)
	}
}
