package validate

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// RequestsConfig is the deployment whose requests were measured: the file
// F.config.json beside F.jsonl. Keys that are not listed are left out of the prediction and
// kept in Unknown, absent ones are the engine's defaults.
type RequestsConfig struct {
	Model         string  `json:"model"`
	GPU           string  `json:"gpu"`
	GPUs          int     `json:"gpus"`
	TP            int     `json:"tp"`
	PP            int     `json:"pp"`
	DP            int     `json:"dp"`
	EP            int     `json:"ep"`
	Engine        string  `json:"engine"`
	Version       string  `json:"engine_version"`
	Weights       string  `json:"weights"`
	Experts       string  `json:"expert_weights"`
	KV            string  `json:"kv"`
	MaxSequences  int64   `json:"max_num_seqs"`
	BatchTokens   int64   `json:"max_num_batched_tokens"`
	MaxContext    int64   `json:"max_model_len"`
	Blocks        int     `json:"num_gpu_blocks"`
	BlockSize     int     `json:"block_size"`
	Utilization   float64 `json:"gpu_memory_utilization"`
	PrefixCaching *bool   `json:"enable_prefix_caching"`
	Eager         bool    `json:"enforce_eager"`
	Link          string  `json:"link"` // what joins the GPUs, for the reader: the catalogue knows it

	Unknown []string `json:"-"`
}

// configKeys are those of RequestsConfig.
var configKeys = func() (keys []string) {
	t := reflect.TypeFor[RequestsConfig]()
	for i := range t.NumField() {
		if k := t.Field(i).Tag.Get("json"); k != "-" {
			keys = append(keys, k)
		}
	}
	return keys
}()

// maxConfig bounds a configuration in bytes.
const maxConfig = 1 << 20

// ReadRequestsConfig reads a deployment; errors are one line and name the key.
func ReadRequestsConfig(r io.Reader, name string) (*RequestsConfig, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxConfig {
		return nil, fmt.Errorf("%s: larger than %d bytes: give the deployment of one run", name, maxConfig)
	}
	c := &RequestsConfig{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w: give the deployment as one JSON object", name, err)
	}
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("%s: %w: give the deployment as one JSON object", name, err)
	}
	set := func(key string) bool { text, ok := keys[key]; return ok && string(text) != "null" }
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(configKeys, k) {
			c.Unknown = append(c.Unknown, printable(k))
		}
	}
	if err := checkVersion(c.Version); err != nil {
		return nil, fmt.Errorf("%s: key \"engine_version\" is %q: %w", name, c.Version, err)
	}
	for _, k := range []struct {
		key, value string
	}{{"model", c.Model}, {"gpu", c.GPU}, {"weights", c.Weights}} {
		if k.value == "" {
			return nil, fmt.Errorf("%s: key %q is missing: add it", name, k.key)
		}
	}
	for _, k := range []struct {
		key   string
		value int64
	}{{"gpus", int64(c.GPUs)}, {"tp", int64(c.TP)}, {"pp", int64(c.PP)}, {"dp", int64(c.DP)}, {"ep", int64(c.EP)}, {"max_num_seqs", c.MaxSequences},
		{"max_num_batched_tokens", c.BatchTokens}, {"max_model_len", c.MaxContext}, {"num_gpu_blocks", int64(c.Blocks)}, {"block_size", int64(c.BlockSize)}} {
		if k.value < 0 || k.value > maxCell || k.value == 0 && set(k.key) {
			return nil, fmt.Errorf("%s: key %q is %d: give a whole number from 1 to %d, or leave it out", name, k.key, k.value, maxCell)
		}
	}
	if u := c.Utilization; set("gpu_memory_utilization") && !(u > 0 && u <= 1) {
		return nil, fmt.Errorf("%s: key \"gpu_memory_utilization\" is %g: give a share of memory above 0 and up to 1, or leave it out", name, u)
	}
	return c, nil
}

// notes name what is in the file and not in the prediction.
func (c *RequestsConfig) notes() []string {
	if len(c.Unknown) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Keys of the deployment's file that are not read: %s. Those that are: %s.", strings.Join(c.Unknown, " "), strings.Join(configKeys, " "))}
}

// run is the deployment as a serving run, for what the two share.
func (c *RequestsConfig) run() *ServingRun {
	one := func(n int) int { return max(n, 1) }
	r := &ServingRun{Model: c.Model, GPU: c.GPU, Engine: strings.ToLower(c.Engine), Version: c.Version, Weights: c.Weights, Experts: c.Experts,
		Plan: plan.Serving{TP: one(c.TP), PP: one(c.PP), DP: one(c.DP), EP: one(c.EP), DCP: 1, Replicas: 1}}
	r.GPUs = c.GPUs
	if r.GPUs == 0 {
		r.GPUs = r.Plan.GPUs()
	}
	return r
}

// engine builds the instance and says how it schedules.
func (c *RequestsConfig) engine(p *ServingPredictor) (serve.Engine, error) {
	r := c.run()
	if r.Plan.GPUs() != r.GPUs {
		return serve.Engine{}, fmt.Errorf("tp x pp x dp = %d and gpus = %d: correct one of them", r.Plan.GPUs(), r.GPUs)
	}
	m, err := p.model(c.Model)
	if err != nil {
		return serve.Engine{}, err
	}
	cluster, err := onMachineOr(p.Machine, c.GPU, r.GPUs)
	if err != nil {
		return serve.Engine{}, err
	}
	s := &infer.Setup{Model: m, Cluster: cluster, Plan: r.Plan, MaxSequences: c.MaxSequences, MaxBatchTokens: c.BatchTokens, Utilization: c.Utilization, Eager: c.Eager}
	if r.Engine == "" {
		s.Profile = infer.DefaultProfile(cluster.Device.Arch)
	} else if s.Profile, err = p.profile(r.Engine, r.Version, cluster.Device.Arch); err != nil {
		return serve.Engine{}, err
	}
	if s.Weights, s.Experts, err = r.formats(m); err != nil {
		return serve.Engine{}, err
	}
	s.KV = cacheFormat(s)
	if c.KV != "" {
		kv, ok := unit.ParseFormat(strings.ReplaceAll(strings.ToLower(c.KV), "_", "-"))
		if !ok {
			return serve.Engine{}, fmt.Errorf("key \"kv\" is %q: give bf16 or fp8", c.KV)
		}
		s.KV = kv
	}
	e, err := fitting(s)
	if err != nil {
		return serve.Engine{}, err
	}
	out, err := serve.Of(e)
	if err != nil {
		return out, err
	}
	c.limits(&out)
	return out, nil
}

// limits are what the run's own settings put in place of the predicted ones.
func (c *RequestsConfig) limits(e *serve.Engine) {
	if c.BlockSize > 0 {
		e.Blocks = e.Blocks * e.BlockSize / c.BlockSize
		e.BlockSize = c.BlockSize
	}
	if c.Blocks > 0 {
		e.Blocks = c.Blocks - 1 // vLLM keeps one empty
	}
	if c.MaxContext > 0 {
		e.MaxContext = int(c.MaxContext)
	}
	if c.PrefixCaching != nil {
		e.PrefixCache = *c.PrefixCaching
	}
}
