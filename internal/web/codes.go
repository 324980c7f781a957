package web

import "net/http"

// code is the kind of a problem, for readers that word it themselves, as the page
// does in Vietnamese (web/src/i18n/problems.ts).
type code string

// The kinds that speak of the server's own state; those of the input
// have the codes of package note, or none.
const (
	codeCrowded      code = "too_many_waiting"
	codeNoTurn       code = "no_turn"
	codeHeld         code = "answers_unread"
	codeStopping     code = "stopping"
	codeTooLong      code = "too_long"
	codeBenchRunning code = "bench_under_way"
	codeWatchers     code = "too_many_watchers"
	codeNoServices   code = "no_services"
	codeOtherService code = "other_service"
	codeNoRun        code = "no_run"
	codeDamagedRun   code = "damaged_run"
	codeNotKept      code = "run_not_kept"
)

// values are the figures and names of a problem: seconds, counts, words of the request.
type values map[string]any

// coded adds the kind and what its wording needs.
func (p *Problem) coded(c code, v values) *Problem {
	p.Code, p.Values = c, v
	return p
}

func unavailable(c code, v values, detail string) *Problem {
	return problem(http.StatusServiceUnavailable, detail).coded(c, v)
}
