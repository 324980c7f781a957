package infer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Drafter is what proposes speculative tokens.
type Drafter uint8

// MTP is the model's own multi-token-prediction module, applied once per draft;
// DraftModel is a smaller model with the same vocabulary.
const (
	NoDrafter Drafter = iota
	MTP
	DraftModel
)

var drafterNames = [...]string{"none", "mtp", "draft"}

// String is the drafter's name on the command line.
func (d Drafter) String() string { return drafterNames[d] }

// Speculation is how many tokens are drafted for each sequence and step, and how
// many of them hold. The zero value drafts nothing.
type Speculation struct {
	Drafter Drafter
	Model   string    // DraftModel: its name
	Drafts  int       // tokens drafted per sequence and step, one after the other
	Accept  []float64 // per draft: chance that it holds when those before it held; len = Drafts
}

// acceptLength is the measured tokens per step with 1 to 5 drafts of an MTP module
// on B200 (modelling notes, section 6). Later drafts hold less often: they build
// on hidden states that the module made itself.
var acceptLength = [...]float64{1.92, 2.58, 2.82, 2.99, 3.01}

// maxDrafts is beyond what any engine offers; it bounds the work of a step.
const maxDrafts = 16

// specForms is what an error asks for.
const specForms = "write none, mtp:N[:ACCEPT] or draft:MODEL:N:ACCEPT, for example mtp:1:0.87 or mtp:3:0.9/0.7/0.4"

// ParseSpeculation reads none, mtp:N[:ACCEPT] or draft:MODEL:N:ACCEPT. ACCEPT is
// one fraction for all drafts or one for each, separated by slashes; an MTP module
// without it takes the measured acceptance of up to 5 drafts. Errors are one line.
func ParseSpeculation(text string) (*Speculation, error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
	fields := strings.Split(rest, ":")
	s := &Speculation{}
	switch {
	case kind == "none" && rest == "":
		return s, nil
	case kind == "mtp":
		s.Drafter = MTP
	case kind == "draft" && len(fields) > 1 && fields[0] != "":
		s.Drafter, s.Model, fields = DraftModel, fields[0], fields[1:]
	default:
		return nil, fmt.Errorf("speculation %q is not understood: %s", text, specForms)
	}
	if len(fields) > 2 {
		return nil, fmt.Errorf("speculation %q has too many parts: %s", text, specForms)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil || n < 1 || n > maxDrafts {
		return nil, fmt.Errorf("speculation %q drafts %q tokens: give a whole number from 1 to %d", text, fields[0], maxDrafts)
	}
	s.Drafts = n
	if len(fields) == 1 {
		return s, s.measured(text)
	}
	if s.Accept, err = parseAccept(fields[1], n); err != nil {
		return nil, fmt.Errorf("speculation %q: %w", text, err)
	}
	return s, nil
}

// measured fills Accept from the measured lengths: draft i is reached when those
// before it held, so its chance is the ratio of two gains.
func (s *Speculation) measured(text string) error {
	if s.Drafter != MTP || s.Drafts > len(acceptLength) {
		return fmt.Errorf("speculation %q: no acceptance is known for it: add it, for example :0.7", text)
	}
	gain := 1.0
	for i := range s.Drafts {
		before := 1.0
		if i > 0 {
			before = acceptLength[i-1]
		}
		s.Accept = append(s.Accept, math.Round(1e12*(acceptLength[i]-before)/gain)/1e12) // 0.92, not 0.9199999999999999
		gain = acceptLength[i] - before
	}
	return nil
}

// parseAccept reads one fraction for n drafts or n of them.
func parseAccept(text string, n int) ([]float64, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 1 && len(parts) != n {
		return nil, fmt.Errorf("%d acceptances for %d drafts: give one, or one per draft separated by /", len(parts), n)
	}
	accept := make([]float64, n)
	for i := range accept {
		v, err := unit.ParseFraction(parts[min(i, len(parts)-1)])
		if err != nil {
			return nil, fmt.Errorf("acceptance: %w", err)
		}
		accept[i] = v
	}
	return accept, nil
}

// Check says in one line what is wrong with a speculation and how to mend it.
func (s *Speculation) Check() error {
	switch {
	case s.Drafter > DraftModel || (s.Drafter == NoDrafter) != (s.Drafts == 0):
		return fmt.Errorf("speculation by %d with %d drafts: %s", s.Drafter, s.Drafts, specForms)
	case s.Drafts < 0 || s.Drafts > maxDrafts:
		return fmt.Errorf("%d speculative drafts: give 0 to %d", s.Drafts, maxDrafts)
	case len(s.Accept) != s.Drafts:
		return fmt.Errorf("%d acceptances for %d drafts: give one per draft", len(s.Accept), s.Drafts)
	case s.Drafter == DraftModel && s.Model == "":
		return fmt.Errorf("speculation by a draft model without its name: %s", specForms)
	}
	for i, a := range s.Accept {
		if !(a >= 0 && a <= 1) {
			return fmt.Errorf("acceptance %g of draft %d: give a fraction from 0 to 1", a, i+1)
		}
	}
	return nil
}

// Tokens is the expected tokens that one step gives each sequence: its own and
// the drafts that hold up to the first that does not, 1 + a1 + a1 a2 + ...; a nil
// Speculation gives 1.
func (s *Speculation) Tokens() float64 {
	tokens, reached := 1.0, 1.0
	if s == nil {
		return tokens
	}
	for _, a := range s.Accept {
		reached *= a
		tokens += reached
	}
	return tokens
}

// certain tells that every step gives the same number of tokens.
func (s *Speculation) certain() bool {
	return !slices.ContainsFunc(s.Accept, func(a float64) bool { return a > 0 && a < 1 })
}

// String prints the speculation as ParseSpeculation reads it.
func (s *Speculation) String() string {
	if s == nil || s.Drafter == NoDrafter {
		return drafterNames[NoDrafter]
	}
	var b strings.Builder
	b.WriteString(s.Drafter.String())
	if s.Drafter == DraftModel {
		b.WriteString(":" + s.Model)
	}
	fmt.Fprintf(&b, ":%d", s.Drafts)
	for i, a := range s.Accept {
		b.WriteByte(":/"[min(i, 1)])
		b.WriteString(strconv.FormatFloat(a, 'g', -1, 64))
	}
	return b.String()
}
