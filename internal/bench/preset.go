package bench

import (
	"github.com/ridgeline/ridgeline/internal/openai"
)

// Preset is another tool's protocol: the settings by which its published numbers
// were made, and how its metrics are called here.
type Preset struct {
	Name string
	Text string // for the report: which of our metrics its names correspond to
	// Set fills in the settings that the user left out.
	Set func(c *Config, given func(flag string) bool)
}

// Presets are the protocols that are known.
var Presets = []Preset{
	{"inferencex", "InferenceX (benchmark_serving.py): closed loop, 2 x concurrency requests to warm up and 10 x measured, exact output lengths. " +
		"Its tpot is tpot_ms here, its itl is icl_ms (gaps between chunks), its e2el is e2e_ms from sent.",
		func(c *Config, given func(string) bool) {
			c.IgnoreEOS = !given("no-ignore-eos")
			if !given("endpoint") {
				c.Service.Endpoint = openai.Completions
			}
			if !given("prompts") && c.Service.Endpoint == openai.Completions && c.Tokenizer == nil {
				c.Prompts = TokenIDs
			}
			// random_range_ratio 0.8: lengths are uniform from 0.8 of those asked for.
			if !given("isl") || c.Input.Low != c.Input.High {
				return
			}
			c.Input.Low = c.Input.High * 8 / 10
			if c.Output.Low == c.Output.High {
				c.Output.Low = c.Output.High * 8 / 10
			}
		}},
	{"vllm", "vllm bench serve with random prompts: completions, 1000 requests, no warm-up but a first question. " +
		"Its tpot is tpot_ms here, its itl is icl_ms (gaps between chunks), its e2el is e2e_ms from sent; failed requests are counted apart.",
		func(c *Config, given func(string) bool) {
			c.IgnoreEOS = !given("no-ignore-eos")
			if !given("endpoint") {
				c.Service.Endpoint = openai.Completions
			}
			if !given("prompts") && c.Service.Endpoint == openai.Completions && c.Tokenizer == nil {
				c.Prompts = TokenIDs
			}
			if !given("requests") && !given("duration") {
				c.Requests = 1000
			}
			if !given("warmup") {
				c.Warmup = 0
			}
		}},
	{"aiperf", "AIPerf (GenAI-Perf): chat, streamed, closed loop without warm-up, 10 requests per user. " +
		"Its inter-token latency, (E2E - TTFT)/(n - 1), is tpot_ms here, its inter-chunk latency is icl_ms, its request latency is e2e_ms from sent.",
		func(c *Config, given func(string) bool) {
			if !given("warmup") {
				c.Warmup = 0
			}
		}},
}

// FindPreset finds a preset by name.
func FindPreset(name string) (p Preset, ok bool) {
	for _, p := range Presets {
		if p.Name == name {
			return p, true
		}
	}
	return p, false
}
