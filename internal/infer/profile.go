package infer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Profile is what an engine adds around the kernels of a step. Host figures count
// on the step's critical path only: what an engine hides behind the device is
// left out of them.
type Profile struct {
	Engine string
	Arch   string // GPU generation; empty = any
	// Before is the engine's version from which on the profile no longer holds; empty =
	// the latest profile, which also stands for versions that nobody stated.
	Before string
	// Of every step, of each generating sequence of a replica in it, of each prompt
	// chunk, of each prompt token.
	Step, Sequence, Prompt, Token unit.Seconds
	// Launch is the share of a kernel's start that is left among others, whose end it
	// overlaps; Quantise that of making operands ready, which engines fuse into the
	// kernel before. Kernels timed alone show all of both. No kernel falls below its floor.
	Launch, Quantise float64
	// Arrival is the latency of an all-reduce inside a node over that of one timed in a
	// loop: in a step, ranks wait for the last of them. 0 = the same.
	Arrival float64
	// Layer is kernels that no operation stands for and gaps between kernels, per
	// layer, from a CUDA graph; EagerLayer launched by the host.
	Layer, EagerLayer unit.Seconds
	// Before a request reaches the scheduler: HTTP, and for each token of its prompt,
	// tokenising. See Entry.
	Request, RequestToken unit.Seconds
	// Admission is the steps of other requests that pass beyond half of one before a
	// request's prompt is read and its first token is out: queues between front end and
	// scheduler are looked at once per step or more rarely, batches are planned ahead.
	Admission   float64
	Sustained   float64 // share of the achieved FLOP/s that lasting load holds: clocks under the power limit; 0 = all
	BatchTokens int64   // tokens of one step, the engine's default
	// Stream is the tokens of one message to the client, the first token's included: a
	// client of an engine that sends every 20 tokens sees its first one 19 tokens late.
	// 0 = each token is sent.
	Stream int64
	// Separate reads prompts in steps of their own, not beside generating sequences of the
	// same replica; other replicas generate meanwhile unless they draft.
	Separate bool
	Reserve  Reservation
	Grade    hw.Grade
	Source   string

	Version  string    // that was asked for; "" = the latest
	Drafting *Drafting // what it gives up while it speculates; nil = nothing
}

// Name is the engine with the version that was asked for.
func (p *Profile) Name() string {
	if p.Version == "" {
		return p.Engine
	}
	return p.Engine + " " + p.Version
}

// Entry is the time from a request's arrival to its place in the scheduler's queue, with a
// prompt of n tokens. Others generate meanwhile.
func (p *Profile) Entry(n int64) unit.Seconds { return p.Request + unit.Seconds(n)*p.RequestToken }

func (p *Profile) sustained() float64 {
	if p.Sustained > 0 {
		return p.Sustained
	}
	return 1
}

// overhead is the engine's own time in one step.
func (p *Profile) overhead(b *Batch, dp, layers int, eager bool) unit.Seconds {
	layer := p.Layer
	if eager {
		layer = max(p.EagerLayer, p.Layer)
	}
	prompts := ceil(int64(b.Prompts), int64(dp))
	tokens := float64(b.Prefill)
	if b.Prompts > 0 {
		tokens *= float64(prompts) / float64(b.Prompts)
	}
	if b.Busiest > 0 {
		tokens = min(tokens, float64(b.Busiest))
	}
	return p.Step + unit.Seconds(ceil(int64(b.Decode), int64(dp)))*p.Sequence + unit.Seconds(prompts)*p.Prompt +
		unit.Seconds(tokens)*p.Token + unit.Seconds(layers)*layer
}

// defaultEngine is the engine of a question that names none.
const (
	defaultEngine = "vllm"
	cpuEngine     = "llamacpp"
)

// OtherEngine is an engine that is none of the known ones: what the fitted ones have on average
// stands in for it, and kernels as the first engine of the GPU's generation has them.
const OtherEngine = "other"

// ProfiledEngines are the engines that have profiles of their own.
func ProfiledEngines() (names []string) {
	for _, p := range loadProfiles() {
		if !slices.Contains(names, p.Engine) && p.Engine != OtherEngine {
			names = append(names, p.Engine)
		}
	}
	return names
}

// ProfileOn is the profile of an engine such as sglang or sglang@0.4, "" = the usual
// one, on a device: its host times are the device's own where the device was calibrated.
func ProfileOn(text string, d *hw.Device) (*Profile, error) {
	p := DefaultProfile(d.Arch)
	if text != "" {
		engine, version, err := SplitEngine(text)
		if err != nil {
			return nil, err
		}
		if p, err = FindProfileOf(engine, version, d.Arch); err != nil {
			return nil, err
		}
		if version != "" {
			own := *p
			own.Version, own.Drafting = version, draftingOf(engine, version)
			p = &own
		}
	}
	if p.Grade == hw.Measured && d.Arch != hw.CPUArch && !ranHere(p, d) {
		own := *p
		own.Grade = hw.Assumed
		own.Source = "no serving run of " + d.Name + " is in the fit; GPUs left out of it are further off than its errors say (docs/accuracy.md): " + p.Source
		p = &own
	}
	if h := d.Kernels.HostOf(p.Engine); h.Known() {
		own := *p
		own.Step, own.Sequence, own.Grade, own.Source = h.Step, h.Sequence, hw.Measured, h.Source
		if w := h.Whole; w != nil {
			own.Prompt, own.Request, own.RequestToken = w.Prompt, w.Request, w.RequestToken
			own.Sustained, own.Launch, own.Quantise, own.Arrival, own.Admission = w.Sustained, w.Launch, w.Quantise, w.Arrival, w.Admission
		} else { // steps timed alone say nothing of the way to the engine
			own.Request, own.RequestToken = 0, 0
		}
		p = &own
	}
	return p, nil
}

// ranHere tells whether a profile stands on runs of the device's generation and its kernels on
// measurements of the device, as of Engine.Ranges.
func ranHere(p *Profile, d *hw.Device) bool {
	return p.Arch != "" && d.Kernels != nil && slices.Contains(d.Kernels.Devices, d.Name)
}

// DefaultProfile is the profile of the usual engine on a GPU generation.
func DefaultProfile(arch string) *Profile {
	engine := defaultEngine
	if arch == hw.CPUArch {
		engine = cpuEngine
	}
	p, err := FindProfile(engine, arch)
	if err != nil {
		panic("infer: " + err.Error()) // embedded; the tests rule it out
	}
	return p
}

// FindProfile is the latest profile of an engine on a GPU generation, its own where one
// was fitted, the engine's general one otherwise.
func FindProfile(engine, arch string) (*Profile, error) { return FindProfileOf(engine, "", arch) }

// FindProfileOf is FindProfile of an engine's version; "" = the latest. A version that
// has no profile on the generation takes its general one.
func FindProfileOf(engine, version, arch string) (*Profile, error) {
	all := loadProfiles()
	p := PickProfile(all, engine, version, arch)
	if p == nil {
		return nil, fmt.Errorf("engine %q has no profile: use one of %s, %s", engine, strings.Join(ProfiledEngines(), ", "), OtherEngine)
	}
	return p, nil
}

// PickProfile is the profile among list that holds for an engine's version, "" = the
// latest, on a GPU generation: of the version's the generation's own, else its general
// one, else those of later versions in the same order; nil = none of the engine.
func PickProfile(list []Profile, engine, version, arch string) *Profile {
	var best *Profile
	rank := 0
	arch = hw.Generation(arch)
	for i := range list {
		p := &list[i]
		old := p.Before != "" && older(version, p.Before)
		if p.Engine != strings.ToLower(engine) || p.Before != "" && !old || p.Arch != "" && p.Arch != arch {
			continue
		}
		r := 1
		if p.Arch != "" {
			r++
		}
		if old {
			r += 2
		}
		if r > rank || r == rank && old && older(p.Before, best.Before) {
			best, rank = p, r
		}
	}
	return best
}

// older tells whether version a, which must start with numbers apart by dots, lies before
// b; what follows the numbers does not count. Versions without numbers are the latest.
func older(a, b string) bool {
	x, y := numbersOf(a), numbersOf(b)
	return len(x) > 0 && slices.Compare(x, y) < 0
}

// numbersOf is the leading numbers of a version: 0.5.6.post2 gives 0 5 6.
func numbersOf(version string) []int {
	var out []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
		n, err := strconv.Atoi(part[:digits])
		if err != nil {
			break
		}
		if out = append(out, n); digits < len(part) {
			break
		}
	}
	return out
}
