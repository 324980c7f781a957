package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/note"
)

// WhyNotDoc is why a plan is not the answer: two sentences, and the numbers.
type WhyNotDoc struct {
	Sentences []string       `json:"sentences"`
	Plan      PlanDoc        `json:"plan"`
	Against   PlanDoc        `json:"against"`
	BreakEven []BreakEvenDoc `json:"break_even"`
	Warnings  []string       `json:"warnings"`
	Notes     note.List      `json:"notes,omitempty"` // the same with their kinds and figures
}

// NewWhyNotDoc builds the document.
func NewWhyNotDoc(a *api.TrainAnswer) WhyNotDoc {
	return WhyNotDoc{Sentences: []string{whyNot(a), whatWouldHelp(a.BreakEvens)}, Plan: planDoc(a, a.Best), Against: planDoc(a, a.Overall),
		BreakEven: breakEvens(a.BreakEvens), Warnings: a.Warnings.Texts(), Notes: a.Warnings}
}

// whyNot is the first sentence: what is wrong with the plan.
func whyNot(a *api.TrainAnswer) string {
	if a.Best.Plan.String() == a.Overall.Plan.String() {
		return "It is the plan that it is compared with."
	}
	return sentence(a.WhyNot)
}

// whatWouldHelp is the second: the figure that has to improve least for something
// else to bind, or where none helps the one that may fall least.
func whatWouldHelp(list []advise.BreakEven) string {
	var best *advise.BreakEven
	far := func(b *advise.BreakEven) float64 {
		if b.Flip < b.Now {
			return 1e6 * b.Now / b.Flip // after all that help; flips lie within 1,000 times
		}
		return b.Flip / b.Now
	}
	for i := range list {
		if b := &list[i]; b.Flip > 0 && b.Now > 0 && (best == nil || far(b) < far(best)) {
			best = b
		}
	}
	switch {
	case best == nil && len(list) == 0:
		return "Nothing about the machine was turned."
	case best == nil:
		return fmt.Sprintf("It is bound by %s, and no figure of the machine within 1,000 times today's changes that.", boundName(list[0].Bound))
	}
	if best.What == advise.Links.String() {
		return fmt.Sprintf("It is bound by %s; with %s at %.3g times today's rates it is bound by %s.", boundName(best.Bound), best.What, best.Flip, boundName(best.Next))
	}
	return fmt.Sprintf("It is bound by %s; with a %s of %s in place of %s (x %.3g) it is bound by %s.", boundName(best.Bound), best.What,
		inUnit(best.Flip, best.Unit), inUnit(best.Now, best.Unit), best.Flip/best.Now, boundName(best.Next))
}

// sentence starts with a capital and ends with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "It is as good."
	}
	r := []rune(s)
	r[0] = unicode.ToUpper(r[0])
	return strings.TrimSuffix(string(r), ".") + "."
}
