package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// Imported is a running configuration in Ridgeline's terms.
type Imported struct {
	Engine   string         `json:"engine"`
	FlagList string         `json:"flag_list"` // version that flags were checked against
	Degrees  Degrees        `json:"degrees"`
	Plan     map[string]any `json:"plan"`
	PlanText string         `json:"plan_text"` // Plan as --plan takes it, "" where a size is unknown
	Model    string         `json:"model"`
	GPUs     int            `json:"gpus,omitempty"` // of one instance, where the command says it
	// Instances is how often a manifest runs it, and Deployment all of its roles as
	// infer's --plan takes them; set where a file says so.
	Instances  int       `json:"instances,omitempty"`
	Deployment string    `json:"deployment,omitempty"`
	Settings   *Settings `json:"settings,omitempty"`
	Batch      *Batch    `json:"batch,omitempty"`

	UnknownFlags    []string `json:"unknown_flags"`
	DeprecatedFlags []string `json:"deprecated_flags"`
	RepeatedFlags   []string `json:"repeated_flags,omitempty"` // the last one counts
	IllegalValues   []string `json:"illegal_values,omitempty"`
	Unresolved      []string `json:"unresolved,omitempty"` // words with shell variables that hold a size
	Warnings        []string `json:"warnings,omitempty"`

	Roles []*Imported `json:"roles,omitempty"` // several commands of one file

	line *argv.Line
	prog program
}

// Batch is what a training command says about its step.
type Batch struct {
	Global    int64  `json:"global,omitempty"`    // sequences
	Micro     int64  `json:"micro,omitempty"`     // sequences
	Seq       int64  `json:"seq,omitempty"`       // tokens
	MTP       int64  `json:"mtp,omitempty"`       // modules trained along
	Precision string `json:"precision,omitempty"` // as train's --precision takes it
}

// Command is words as they stand in a file, with the environment that they see.
type Command struct {
	Words     []string
	Env       map[string]string
	Instances int               // as a manifest states them; 0 = it does not
	Files     map[string]string // that the same file writes, by their last name
	Role      string            // prefill or decode, as a manifest's label says it
}

// ImportWords imports the words of one command line. config is the engine's
// configuration file beside it, decoded, nil for none.
func ImportWords(engine string, c Command, config map[string]any) (*Imported, error) {
	list, err := argv.Load(engine, "")
	if err != nil {
		return nil, err
	}
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		words[i] = resolve(w, c.Env)
	}
	prog, ok := findProgram(engine, words)
	switch {
	case !ok && config == nil:
		return nil, fmt.Errorf("no command of %s in %s: give it as `%s`", engine, brief(words), example[engine])
	case prog.routes():
		return nil, fmt.Errorf("trtllm-serve %s holds no degrees: import the command or YAML of each worker", prog.sub)
	}
	if config == nil {
		if config, err = c.configFile(list, prog.args); err != nil {
			return nil, err
		}
	}
	if config != nil && engine != argv.TRTLLM {
		prog.args = slices.Concat(configWords(engine, config), prog.args)
	}
	line, err := list.Parse("", prog.args)
	if err != nil {
		return nil, err
	}
	r := &reader{line: line}
	if engine == argv.TRTLLM {
		r.config = config
	}
	im := &Imported{Engine: engine, FlagList: list.Version, line: line, prog: prog, Degrees: r.degrees(engine),
		UnknownFlags: none(line.Unknown()), DeprecatedFlags: none(line.Deprecated()), RepeatedFlags: line.Repeated(), IllegalValues: line.Illegal()}
	if engine == argv.TorchTitan && config == nil {
		im.ofFunction(r)
	}
	if im.fill(r); c.Instances > 0 {
		im.Instances = c.Instances
	}
	if im.Settings != nil && im.Settings.Role == "" {
		im.Settings.Role = c.Role
	}
	im.Unresolved = r.unresolved
	im.warn(config)
	return im, r.err
}

// example is a command of each engine, for messages.
var example = map[string]string{
	argv.VLLM: "vllm serve MODEL ...", argv.SGLang: "python3 -m sglang.launch_server ...", argv.TRTLLM: "trtllm-serve MODEL ...",
	argv.LlamaCPP: "llama-server -m FILE ...", argv.MegatronLM: "pretrain_gpt.py ...", argv.MegatronBridge: "model.tensor_model_parallel_size=N ...",
	argv.TorchTitan: "--module M --config FUNCTION ...",
}

// fill adds what is read differently by engine: plan, model, settings.
func (im *Imported) fill(r *reader) {
	switch im.Engine {
	case argv.VLLM, argv.SGLang, argv.TRTLLM:
		im.fillServing(r)
	case argv.LlamaCPP:
		im.fillLlama(r)
	case argv.TorchTitan:
		im.fillTitan(r)
	default:
		im.fillMegatron(r)
	}
	if im.PlanText = planText(im.Plan); im.Plan == nil {
		im.Plan = map[string]any{}
	}
}

func (im *Imported) fillServing(r *reader) {
	d := &im.Degrees
	im.Settings = r.settings(im.Engine)
	for _, flag := range []string{"--model", "--model-path"} {
		if v, given := r.text(flag); given && r.line.List.Flag(flag) != nil {
			im.Model = v
		}
	}
	if len(r.line.Positional) > 0 && im.Model == "" {
		im.Model = r.line.Positional[0]
	}
	for _, flag := range []string{"--served-model-name", "--served_model_name"} {
		// A variable or an unnamed model is served under a name that says what it is.
		if v, given := r.text(flag); given && r.line.List.Flag(flag) != nil && (im.Model == "" || strings.Contains(im.Model, "$") && !strings.Contains(v, "$")) {
			im.Model = v
		}
	}
	if im.Engine == argv.VLLM {
		if d.EP = 1; d.Experts {
			d.EP = d.TP * d.DP
		}
	}
	im.servingRules(r)
	s, err := d.Serving(im.Engine)
	if err != nil {
		if len(r.unresolved) == 0 {
			im.Warnings = append(im.Warnings, err.Error()+", so no plan of Ridgeline says the same")
		}
		return
	}
	im.Plan, im.GPUs = servingPlan(s, im.Settings.RedundantExperts), s.GPUs()
}

// fillLlama reads llama.cpp's ways to spread a model: by layers, by rows, over rpc
// workers. How many devices there are is the machine's affair unless -ts says it.
func (im *Imported) fillLlama(r *reader) {
	im.Model, _ = r.text("--model")
	if m, given := r.text("--hf-repo"); given && im.Model == "" {
		im.Model = m
	}
	n := 1
	if split, given := r.text("--tensor-split"); given {
		n = len(strings.FieldsFunc(split, func(c rune) bool { return c == ',' || c == '/' }))
	} else if rpc, given := r.text("--rpc"); given {
		n = 1 + len(strings.Split(rpc, ","))
	}
	im.Degrees.TP, im.Degrees.PP, im.Degrees.DP, im.Degrees.EP = 1, n, 1, 1
	if mode, _ := r.text("--split-mode"); mode == "row" || mode == "tensor" {
		im.Degrees.TP, im.Degrees.PP = n, 1
	}
	im.GPUs = n
	im.Plan = map[string]any{"tp": im.Degrees.TP, "pp": im.Degrees.PP, "dp": 1, "ep": 1}
	im.Settings = &Settings{MaxRequests: r.count("--parallel"), BatchTokens: r.count("--batch-size")}
	im.Settings.MaxContext = r.count("--ctx-size") / max(im.Settings.MaxRequests, 1) // which the slots share
	im.Settings.KV, _ = r.text("--cache-type-k")
}
