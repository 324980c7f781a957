package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Disagg is a deployment in two roles for one kind of request: prefill workers
// read prompts, their KV caches travel, decode workers generate.
type Disagg struct {
	Prefill, Decode         Stepper // one worker of each role, see Role
	PrefillGPUs, DecodeGPUs int     // of one worker
	ISL, OSL                int64   // tokens of a prompt and of an answer; the prefill makes the first one
	Cached                  int64   // of ISL: found in the prefix cache of the prefill workers and not read
	// PrefillTokens is how many prompt tokens a worker reads per step, all its
	// attention replicas together; longer prompts are read in several steps.
	PrefillTokens int64
	// MaxDecode is how many sequences the KV cache of a decode worker holds.
	MaxDecode int
	Spec      *Speculation // of the decode workers; nil = none
	Transfer  unit.Seconds // of one request's KV cache; see KVLink
	// TransferGPUs is how many GPUs of each side a transfer takes the links of
	// (KVLink.GPUs); other GPUs' caches travel meanwhile.
	TransferGPUs int
	Entry        unit.Seconds // of one request, before a prefill worker sees it; see Profile.Entry
	// InStep marks requests that are all alike, of engines whose clients then march in
	// step (Load.Fixed): those read together are answered together and come back together.
	InStep bool

	b Batch // scratch
}

// Check says in one line what is wrong with a deployment and how to mend it.
func (d *Disagg) Check() error {
	switch {
	case d.Prefill == nil || d.Decode == nil || d.PrefillGPUs < 1 || d.DecodeGPUs < 1:
		return fmt.Errorf("disaggregation with %d prefill and %d decode GPUs per worker: give a plan of each role", d.PrefillGPUs, d.DecodeGPUs)
	case d.ISL < 1 || d.OSL < 2:
		return fmt.Errorf("disaggregation with %d prompt and %d output tokens: give at least 1 and 2, the first output token comes from the prefill", d.ISL, d.OSL)
	case d.PrefillTokens < 1:
		return fmt.Errorf("%d prompt tokens per prefill step: give at least 1", d.PrefillTokens)
	case d.MaxDecode < 1:
		return fmt.Errorf("the decode worker's KV cache holds no sequence of %d tokens: use more GPUs per worker or shorter requests", d.ISL+d.OSL)
	case d.Transfer > 0 && (d.TransferGPUs < 1 || d.TransferGPUs > min(d.PrefillGPUs, d.DecodeGPUs)):
		return fmt.Errorf("KV transfer by %d GPUs of workers of %d and %d: give at least 1 and no more than a worker has", d.TransferGPUs, d.PrefillGPUs, d.DecodeGPUs)
	case !(d.Transfer >= 0) || !(d.Entry >= 0):
		return fmt.Errorf("KV transfer of %g s after %g s of entry: give 0 or more of each", float64(d.Transfer), float64(d.Entry))
	}
	if err := checkCached(d.Cached, d.ISL); err != nil {
		return err
	}
	return d.Spec.check()
}

// check lets a missing speculation pass.
func (s *Speculation) check() error {
	if s == nil {
		return nil
	}
	return s.Check()
}

// Prompts is how many prompts a prefill step holds at most.
func (d *Disagg) Prompts() int { return int(max(d.PrefillTokens/(d.ISL-d.Cached), 1)) }

// ReadTime is the time in which a prefill worker reads n prompts together; a
// prompt longer than a step is read in chunks that see the earlier ones.
func (d *Disagg) ReadTime(n int) unit.Seconds {
	fresh := d.ISL - d.Cached
	chunks := ceil(fresh, d.PrefillTokens)
	sum := unit.Seconds(0)
	read := int64(0)
	for i := range chunks {
		next := fresh * (i + 1) / chunks
		d.b = Batch{
			Prefill: int64(n) * (next - read), Prompts: n,
			PrefillPairs: float64(n) * (pairs(d.Cached+next) - pairs(d.Cached+read)),
		}
		sum += d.Prefill.Step(&d.b).Total
		read = next
	}
	return sum
}

// pairs is the causal query-key pairs of the first n tokens.
func pairs(n int64) float64 { return float64(n) * float64(n+1) / 2 }

// TPOT is the mean time per output token of a decode worker with n sequences
// half-way through their answers.
func (d *Disagg) TPOT(n int) unit.Seconds {
	d.b = Batch{Decode: n, DecodeContext: int64(n) * (d.ISL + d.OSL/2)}
	return d.Decode.Step(&d.b).Total / unit.Seconds(d.Spec.Tokens())
}

// RateMatch is prefill and decode workers in the ratio in which neither waits.
type RateMatch struct {
	Ratio          float64 // prefill workers per decode worker
	TokensPerGPU   float64 // output tokens/s per GPU, both roles counted
	PrefillPerGPU  float64 // prompt tokens/s per prefill GPU, cached ones left out
	DecodePerGPU   float64 // output tokens/s per decode GPU
	RequestsPerGPU float64 // requests/s per GPU, both roles counted
}

// Match rates a deployment whose decode workers hold n sequences each:
//
//	tokens/s/GPU = out / (prefill GPUs x ratio + decode GPUs)
//
// with out the output tokens/s of one decode worker; fractions of workers allowed.
func (d *Disagg) Match(n int) RateMatch {
	finished := float64(n) / float64(unit.Seconds(d.OSL-1)*d.TPOT(n)) // requests/s of a decode worker
	read := float64(d.Prompts()) / float64(d.ReadTime(d.Prompts()))   // requests/s of a prefill worker
	m := RateMatch{Ratio: finished / read}
	gpus := float64(d.PrefillGPUs)*m.Ratio + float64(d.DecodeGPUs)
	m.RequestsPerGPU = finished / gpus
	m.TokensPerGPU = finished * float64(d.OSL) / gpus
	m.PrefillPerGPU = read * float64(d.ISL-d.Cached) / float64(d.PrefillGPUs)
	m.DecodePerGPU = finished * float64(d.OSL) / float64(d.DecodeGPUs)
	return m
}
