package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// recipe is a public recipe or one role of it.
type recipe struct {
	ID       string
	Engine   string
	Model    string
	Role     string
	Parallel map[string]any
	Argv     []string
	Env      map[string]string
	File     map[string]any `json:"config_file"`
	Config   map[string]any
	Roles    []recipe
	Unknown  []string `json:"unknown_flags"`
	Old      []string `json:"deprecated_flags"`
}

// recipes are the public recipes of the engines named, every role on its own.
func recipes(t *testing.T, engines ...string) (list []recipe) {
	t.Helper()
	names, err := filepath.Glob("../../../shared/launch/recipes/*.json")
	if err != nil || len(names) == 0 {
		t.Skip("the public recipes are not here")
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r recipe
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		r.Engine = strings.TrimSuffix(r.Engine, "-serve")
		if !slices.Contains(engines, r.Engine) {
			continue
		}
		if len(r.Roles) == 0 {
			list = append(list, r)
		}
		for _, role := range r.Roles {
			role.ID, role.Engine = r.ID+" "+role.Role, r.Engine
			list = append(list, role)
		}
	}
	return list
}

func (r *recipe) load() (*Imported, error) {
	config := r.File
	if r.Config != nil {
		config = r.Config
	}
	return ImportWords(r.Engine, Command{Words: r.Argv, Env: r.Env}, config)
}

// differs compares degrees with what the recipe states, as JSON numbers and words.
func (r *recipe) differs(im *Imported) string {
	b, _ := json.Marshal(im.Degrees)
	var got map[string]any
	_ = json.Unmarshal(b, &got)
	for k, want := range r.Parallel {
		if r.Engine == argv.TorchTitan {
			switch k {
			case "dp_shard":
				k = "dp"
			case "schedule":
				if want == "1F1B" && got["schedule"] == nil {
					continue // the default
				}
			}
		}
		if r.Engine == argv.MegatronBridge && k == "dp" {
			continue // made from the world, which settings do not state
		}
		have := got[k]
		unset := have == nil && (want == nil || want == false || want == "none" || want == 0.0)
		if k == "dp" && want == -1.0 && have == nil {
			unset = true
		}
		if want == nil && k != "tp" {
			continue // the source does not say
		}
		if have == nil && (len(im.Unresolved) > 0 || want == 1.0) {
			continue // a variable that the recipe took from elsewhere
		}
		if k == "dp_attention" && r.File == nil && r.Engine == argv.TRTLLM {
			continue // set in a YAML that the recipe does not carry
		}
		if !unset && fmt.Sprint(have) != fmt.Sprint(want) {
			return fmt.Sprintf("%s is %v, the recipe's %v", k, have, want)
		}
	}
	return ""
}

// TestRecipesImportWithTheirDegrees: at least 95 % of each engine's public recipes,
// the roles of disaggregated ones each.
func TestRecipesImportWithTheirDegrees(t *testing.T) {
	for _, engine := range []string{argv.VLLM, argv.SGLang, argv.TRTLLM, argv.MegatronLM, argv.MegatronBridge, argv.TorchTitan} {
		n, good, open := 0, 0, 0
		for _, r := range recipes(t, engine) {
			n++
			im, err := r.load()
			if err != nil {
				t.Logf("%s: %v", r.ID, err)
				continue
			}
			if d := r.differs(im); d != "" {
				t.Logf("%s: %s", r.ID, d)
				continue
			}
			if good++; len(im.Unresolved) > 0 {
				open++
			}
		}
		t.Logf("%s: %d of %d, %d with a size that a variable outside the command holds", engine, good, n, open)
		if float64(good) < 0.95*float64(n) {
			t.Errorf("%s: %d of %d recipes import with their degrees", engine, good, n)
		}
	}
}

// TestExportKeepsTheParallelFlags: what was imported is written with the same
// parallel flags, and read again it says the same.
func TestExportKeepsTheParallelFlags(t *testing.T) {
	for _, r := range recipes(t, argv.VLLM, argv.SGLang, argv.TRTLLM, argv.MegatronLM, argv.MegatronBridge, argv.TorchTitan) {
		im, err := r.load()
		if err != nil {
			continue
		}
		out := im.Words()
		again, err := ImportWords(r.Engine, Command{Words: out}, nil)
		if err != nil {
			if len(out) == 0 {
				continue // settings without one
			}
			t.Errorf("%s: exported %q: %v", r.ID, out, err)
			continue
		}
		if im.Degrees != again.Degrees {
			t.Errorf("%s: exported with %+v, was %+v", r.ID, again.Degrees, im.Degrees)
		}
		if im.PlanText != again.PlanText {
			t.Errorf("%s: exported as %s, was %s", r.ID, again.PlanText, im.PlanText)
		}
	}
}

// TestRecipePlansAreRidgelines: the plan of an import is one that Ridgeline reads,
// and names the same GPUs.
func TestRecipePlansAreRidgelines(t *testing.T) {
	for _, r := range recipes(t, argv.VLLM, argv.SGLang, argv.TRTLLM) {
		im, err := r.load()
		if err != nil || im.PlanText == "" {
			continue
		}
		p, err := plan.ParseServing(im.PlanText)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		if g := p.Whole.Serving.GPUs(); g != im.GPUs {
			t.Errorf("%s: plan %s has %d GPUs, the command %d", r.ID, im.PlanText, g, im.GPUs)
		}
	}
	for _, r := range recipes(t, argv.MegatronLM, argv.MegatronBridge, argv.TorchTitan) {
		if im, err := r.load(); err == nil {
			if _, err := plan.Parse(im.PlanText); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
	}
}

// TestRecipesNameWhatTheListLacks: unknown and deprecated flags are those that the
// recipes' own check against the same lists found.
func TestRecipesNameWhatTheListLacks(t *testing.T) {
	n, same := 0, 0
	for _, r := range recipes(t, argv.VLLM, argv.SGLang, argv.TRTLLM, argv.MegatronLM) {
		if r.Role != "" {
			continue // stated for all roles together
		}
		im, err := ImportWords(r.Engine, Command{Words: r.Argv}, nil)
		if err != nil {
			continue
		}
		n++
		sort := func(l []string) string {
			l = slices.Clone(l)
			slices.Sort(l)
			return strings.Join(slices.Compact(l), " ")
		}
		if sort(im.UnknownFlags) == sort(r.Unknown) && sort(im.DeprecatedFlags) == sort(r.Old) {
			same++
		} else {
			t.Logf("%s: unknown %v, recipe %v; deprecated %v, recipe %v", r.ID, im.UnknownFlags, r.Unknown, im.DeprecatedFlags, r.Old)
		}
	}
	if float64(same) < 0.95*float64(n) {
		t.Errorf("%d of %d recipes agree", same, n)
	}
}
