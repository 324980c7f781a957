package infer

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Disagg is a deployment in two roles for one kind of request: prefill workers
// read prompts, their KV caches travel, decode workers generate.
type Disagg struct {
	Prefill, Decode         Stepper // one worker of each role, see Role
	PrefillGPUs, DecodeGPUs int     // of one worker
	ISL, OSL                int64   // tokens of a prompt and of an answer; the prefill makes the first one
	Cached                  int64   // of ISL: found in the prefix cache of the prefill workers and not read
	// PrefillTokens is how many prompt tokens a worker reads per step, all its PrefillRanks
	// attention replicas together (0 = 1), each of which reads prompts of its own; prompts longer
	// than a replica's share are read in several steps.
	PrefillTokens int64
	PrefillRanks  int
	// Spread is the coefficient of variation of the lengths of prompts, 0 = all alike.
	Spread float64
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

// ranks is the attention replicas of a prefill worker, budget the prompt tokens that a step
// of one reads.
func (d *Disagg) ranks() int64  { return int64(max(d.PrefillRanks, 1)) }
func (d *Disagg) budget() int64 { return max(d.PrefillTokens/d.ranks(), 1) }

// full is how many prompts a prefill worker reads at a time, parts of them counted; of
// those longer than a replica's step, one on each.
func (d *Disagg) full() float64 {
	return float64(d.ranks()) * max(float64(d.budget())/float64(d.ISL-d.Cached), 1)
}

// Prompts is how many whole ones those are.
func (d *Disagg) Prompts() int { return int(d.full()) }

// ReadTime is the time in which a prefill worker reads n prompts together; a
// prompt longer than a step is read in chunks that see the earlier ones.
func (d *Disagg) ReadTime(n int) unit.Seconds { return d.reads(n, d.ISL-d.Cached) }

// reads is ReadTime of n prompts of which so many tokens each are read.
func (d *Disagg) reads(n int, fresh int64) unit.Seconds {
	chunks := ceil(fresh, d.budget())
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

// whole is the time in which a prefill worker reads as many as full says. Prompts that are
// alike and no shorter than a step of a replica are each read by themselves; else every step
// is full of tokens, in parts of one prompt more than fit.
func (d *Disagg) whole() unit.Seconds {
	fresh, budget, ranks := d.ISL-d.Cached, d.budget(), d.ranks()
	if fresh >= budget && d.Spread == 0 {
		return d.ReadTime(int(ranks))
	}
	parts := ceil(budget, fresh)
	if budget%fresh != 0 || d.Spread > 0 {
		parts = int64(math.Round(float64(budget)/float64(fresh) + 1))
	}
	deviation := d.Spread * float64(d.ISL) // long prompts have more pairs than short ones lack
	each := pairs(d.ISL) - pairs(d.Cached) + deviation*deviation/2
	d.b = Batch{Prefill: budget * ranks, Prompts: int(parts * ranks), Busiest: budget, PrefillPairs: float64(ranks*budget) / float64(fresh) * each}
	return d.Prefill.Step(&d.b).Total * unit.Seconds(max(float64(fresh)/float64(budget), 1))
}

// Reads is how many requests/s a prefill worker reads whose steps are full.
func (d *Disagg) Reads() float64 { return d.full() / float64(d.whole()) }

// lone is the mean time in which a prefill worker reads one prompt by itself, over lengths
// that lie evenly about the mean.
func (d *Disagg) lone() unit.Seconds {
	if d.Spread <= 0 {
		return d.ReadTime(1)
	}
	fresh, half := float64(d.ISL-d.Cached), math.Sqrt(3)*d.Spread*float64(d.ISL)
	sum := unit.Seconds(0)
	for i := range evenly {
		at := (2*float64(i)+1)/evenly - 1
		sum += d.reads(1, max(int64(fresh+at*half+0.5), 1))
	}
	return sum / evenly
}

// evenly is at how many lengths a mean over them is taken.
const evenly = 6

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
	read := d.Reads()
	m := RateMatch{Ratio: finished / read}
	gpus := float64(d.PrefillGPUs)*m.Ratio + float64(d.DecodeGPUs)
	m.RequestsPerGPU = finished / gpus
	m.TokensPerGPU = finished * float64(d.OSL) / gpus
	m.PrefillPerGPU = read * float64(d.ISL-d.Cached) / float64(d.PrefillGPUs)
	m.DecodePerGPU = finished * float64(d.OSL) / float64(d.DecodeGPUs)
	return m
}
