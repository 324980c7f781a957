package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Target is where a command runs.
type Target string

// The targets.
const (
	Shell   Target = "shell"   // one script per role, run on each node
	Slurm   Target = "slurm"   // one sbatch script per role
	Kube    Target = "k8s"     // Deployment and Service, LeaderWorkerSet, Job
	Ray     Target = "ray"     // scripts for the head and the other nodes
	Compose Target = "compose" // one machine
)

// Targets lists them.
func Targets() []string {
	return []string{string(Shell), string(Slurm), string(Kube), string(Ray), string(Compose)}
}

// Request asks for the configuration of a plan. Exactly one of Serving, Split and
// Training is set; its degrees have been given, none is searched.
type Request struct {
	Engine, Version string // "" = the version whose flag list there is
	Target          Target
	Model           *model.Model
	ModelPath       string // as the engine is to load it
	Serving         *plan.Serving
	Split           *plan.Disaggregated
	Training        *plan.Plan
	Serve           ServeOptions
	Train           TrainOptions
	Tools           Tools
	NodeGPUs        int      // GPUs of a node
	Machine         string   // as --cluster names it, "" = not known
	Name            string   // of the service or run: a DNS label
	Image           string   // container image, for k8s and compose
	RouterImage     string   // of the router's container, "" = Image
	Namespace       string   // k8s
	ModelVolume     string   // k8s: a PersistentVolumeClaim mounted at /models, "" = none
	Env             []string // NAME=value in the environment of every command
	RDMA            string   // k8s: the resource name of an RDMA device, one per GPU, "" = none
	Predicted       []string // lines that the README puts beside the evaluation
	Doubts          []string // warnings that a prediction gives
	Nearest         bool     // write the nearest thing where the engine lacks what the plan asks
}

// ServeOptions is what a serving configuration says beside its layout. Zero values
// leave the engine's default.
type ServeOptions struct {
	Port           int
	KV             string // of package unit: fp8, bf16
	Quantization   string // the engine's word, passed on
	Drafts         int    // tokens drafted by the model's MTP module
	PrefixCache    *bool
	TwoBatch       bool // overlap of two micro-batches
	MaxContext     int64
	MaxSequences   int64 // of an instance, as infer counts them
	BatchTokens    int64 // of a step of an attention replica, as infer counts them
	StreamInterval int64
	// The load that the evaluation puts on it.
	ISL, OSL    int64
	Concurrency string
}

// TrainOptions is what a training configuration says beside its plan.
type TrainOptions struct {
	GlobalBatch, Seq int
	MTP              int
	Tokens           int64 // of the whole run, 0 = one step's worth is not known
	Script           string
	Data             string
}

// steps is the length of the run, 0 where its tokens are not known.
func (t *TrainOptions) steps() int64 {
	step := int64(t.GlobalBatch) * int64(t.Seq)
	return (t.Tokens + step - 1) / step
}

// File is one file of a bundle.
type File struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Run     bool   `json:"-"` // a script that is run
}

// Bundle is the configuration of a plan.
type Bundle struct {
	Engine   string   `json:"engine"`
	Version  string   `json:"engine_version"`
	FlagList string   `json:"flag_list"`
	Target   Target   `json:"target"`
	Plan     string   `json:"plan"`
	PlanHash string   `json:"plan_hash"`
	GPUs     int      `json:"gpus"`
	Files    []File   `json:"files"`
	Bench    string   `json:"bench,omitempty"` // the command that evaluates the service
	Warnings []string `json:"warnings"`
	Notes    []string `json:"notes"`
	// Written is the training plan that the files run: the request's, or the nearest to it.
	Written *plan.Plan `json:"-"`
}

// planString is the plan in its own words.
func (r *Request) planString() string {
	switch {
	case r.Serving != nil:
		return r.Serving.String()
	case r.Split != nil:
		return r.Split.String()
	}
	return r.Training.String()
}

// precision is the policy of a training plan, which its own words leave out.
func (r *Request) precision() string {
	if r.Training == nil {
		return ""
	}
	return r.Training.Precision.Name
}

// hash names everything that a request says: two files with one hash were made
// from the same plan.
func (r *Request) hash() string {
	b, err := json.Marshal(struct {
		Engine, Plan, Precision, Model, Path string
		Serve                                ServeOptions
		Train                                TrainOptions
		NodeGPUs                             int
		Env                                  []string `json:",omitempty"`
	}{r.Engine, r.planString(), r.precision(), r.Model.Name, r.ModelPath, r.Serve, r.Train, r.NodeGPUs, r.Env})
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// header is the first lines of every file, without comment marks. Names that the
// user chose are quoted, so that none of them ends a comment.
func (r *Request) header(l *argv.List) []string {
	return []string{
		fmt.Sprintf("%s %s, model %q", r.Engine, l.Version, r.Model.Name),
		fmt.Sprintf("plan %s (hash %s)", strings.TrimSuffix(r.planString()+" in "+r.precision(), " in "), r.hash()),
		fmt.Sprintf("flag list %s %s of commit %.12s", r.Engine, l.Version, l.Commit),
	}
}

// comment writes lines as comments.
func comment(mark string, lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(mark + " " + l + "\n")
	}
	return b.String()
}
