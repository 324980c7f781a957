package web

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/note"
)

// Problem is an error as RFC 9457 words it: detail is one line that names the
// input and the mend, field the part of the request that it speaks of.
type Problem struct {
	Title  string `json:"title" doc:"the status in words"`
	Status int    `json:"status" doc:"HTTP status code"`
	Detail string `json:"detail" doc:"one line: what is wrong, and the mend"`
	Field  string `json:"field,omitempty" doc:"the field of the request that is wrong"`
	Code   code   `json:"code,omitempty" doc:"the kind, where other languages word it"`
	Values values `json:"values,omitempty" doc:"figures and names that a wording of the kind needs; times in seconds"`
	retry  int    // seconds, 0 = never
}

// again says when the request may be sent again: in seconds, in Retry-After.
func (p *Problem) again(seconds int) *Problem {
	p.retry = seconds
	return p
}

// GetHeaders are those that the answer bears beside the usual ones.
func (p *Problem) GetHeaders() http.Header {
	if p.retry == 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(p.retry)}}
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of RFC 9457.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// problem makes an error answer. Detail may speak of flags: fields bear their
// names with underscores.
func problem(status int, detail string) *Problem {
	p := &Problem{Title: http.StatusText(status), Status: status, Detail: shortened(fieldNames(strings.Join(strings.Fields(detail), " ")))}
	for _, m := range anyFlag.FindAllStringSubmatch(detail, -1) {
		if m[1] != "" {
			p.Field = underscored(m[1])
			break
		}
	}
	return p
}

// headRunes and tailRunes are what is kept of a detail that quotes too much of its
// input: what it is about, and the mend.
const headRunes, tailRunes = 800, 400

func shortened(detail string) string {
	r := []rune(detail)
	if len(r) <= headRunes+tailRunes {
		return detail
	}
	return string(r[:headRunes]) + " … " + string(r[len(r)-tailRunes:])
}

// anyFlag is a flag in a message, whose name may hold digits and dashes, or a whole
// command line in back quotes, whose flags are no fields.
var anyFlag = regexp.MustCompile("`[^`]*`|--([a-z][a-z0-9-]*)")

// fieldNames writes flags as the fields of the same name.
func fieldNames(text string) string {
	return anyFlag.ReplaceAllStringFunc(text, func(found string) string {
		if flag, ok := strings.CutPrefix(found, "--"); ok {
			return underscored(flag)
		}
		return found
	})
}

func underscored(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// badInput is the answer to a question that cannot be answered as it was put.
func badInput(err error) *Problem {
	var own *Problem
	if errors.As(err, &own) {
		return own
	}
	return told(http.StatusUnprocessableEntity, err)
}

// told is the answer to an error with what it bears: its kind and figures, the field that it is about.
func told(status int, err error) *Problem {
	p := problem(status, err.Error())
	var about *note.About
	var fault *note.Fault
	if errors.As(err, &fault) {
		p.Code, p.Values = code(fault.Code), fault.Values
	}
	if errors.As(err, &about) {
		p.Field = about.Field
	}
	return p
}

// humaError words what huma itself refuses: sizes, content types, parameters.
func humaError(status int, message string, errs ...error) huma.StatusError {
	for _, err := range errs {
		var own *Problem
		var d huma.ErrorDetailer
		switch {
		case errors.As(err, &own):
			return own
		case errors.As(err, &d):
			return detailed(status, d.ErrorDetail())
		case err != nil:
			message += ": " + err.Error()
		}
	}
	if status == http.StatusRequestTimeout {
		message = "the body of the request did not arrive within 5 s: send it again"
	}
	if status == http.StatusInternalServerError && strings.HasPrefix(message, "cannot read request body") { // huma's word for a body whose chunks are broken or cut off
		status, message = http.StatusBadRequest, strings.Replace(message, "cannot read request body", "the body cannot be read", 1)+": send it whole"
	}
	if limit := bodyLimit.FindStringSubmatch(message); status == http.StatusRequestEntityTooLarge && limit != nil {
		refused, _ := strconv.ParseInt(limit[1], 10, 64) // digits
		message = fmt.Sprintf("the request has more than the %d bytes that this server takes: a Hugging Face config.json has a few thousand, send that alone", refused-1)
	}
	return problem(status, message)
}

// bodyLimit is the limit as huma words it.
var bodyLimit = regexp.MustCompile(`limit=(\d+)`)

// detailed is a problem with the place that huma names, such as query.seq.
func detailed(status int, e *huma.ErrorDetail) *Problem {
	name := e.Location[strings.LastIndexByte(e.Location, '.')+1:]
	if strings.HasPrefix(e.Message, huma.ErrUnknownContentType.Error()) {
		return problem(http.StatusUnsupportedMediaType, "the body is of another type: send it with Content-Type: application/json")
	}
	if e.Location == "body" { // what json cannot read never gets to fields
		return problem(http.StatusBadRequest, "the body is no JSON: "+e.Message)
	}
	p := problem(status, name+": "+e.Message)
	p.Field = name
	return p
}
