package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/prompt"
)

// maker turns turns into requests.
type maker struct {
	c     *Config
	words prompt.Words
	ids   prompt.IDs
	exact *prompt.Counted // of Exact prompts
}

// unique is the number of a prompt within the run: no two stages share one.
func unique(stage, number int) uint64 { return uint64(stage)<<32 | uint64(number) }

func (m *maker) request(q turn, number, stage int, history []openai.Message) (*openai.Request, error) {
	r := m.blank(q.output)
	r.Keep = m.c.Keep || m.c.Turns > 1
	text := q.text
	id := unique(stage, number)
	switch {
	case text != "" && len(history) > 0: // its conversation is new already
	case text != "":
		text = "(" + m.words.Number(newWords, id) + ") " + text
	case m.c.Prompts == TokenIDs && q.blocks != nil:
		r.IDs = m.ids.Blocks(q.input, q.blockTokens, q.blocks)
		return r, nil
	case m.c.Prompts == TokenIDs:
		r.IDs = m.ids.Make(q.input, id)
		return r, nil
	case q.blocks != nil:
		text = m.words.Blocks(q.input, q.blockTokens, q.blocks)
	case m.exact != nil:
		var err error
		if text, err = m.exact.Text(q.input, id); err != nil {
			return nil, err
		}
	default:
		text = m.words.Text(q.input, id)
	}
	if m.c.Service.Endpoint == openai.Completions {
		r.Text = text
		return r, nil
	}
	r.Messages = append(history[:len(history):len(history)], openai.Message{Role: "user", Content: text})
	return r, nil
}

// newWords stand before a dialogue's first question, which no prefix cache then knows
// from another stage, run or round through the file: 2,048^4 are 44 bits.
const newWords = 4

// blank is a request without its question.
func (m *maker) blank(output int) *openai.Request {
	r := &openai.Request{MaxTokens: output, Stream: m.c.Stream, Continuous: m.c.Stream, Temperature: m.c.Temperature, Extra: m.c.Extra}
	if m.c.IgnoreEOS && output > 0 {
		r.IgnoreEOS, r.MinTokens = true, output
	}
	return r
}

// The lengths in words of the two questions by which texts are calibrated.
const (
	shortText = 32
	longText  = 256
)

// prepare asks the service first questions: whether it answers at all, and how
// many tokens it counts in texts of known words. They are in no metric.
func (r *run) prepare(ctx context.Context) error {
	c := r.c
	m := &maker{c: c, words: prompt.Words{Nonce: c.Nonce, Scale: prompt.OneToken}, ids: prompt.IDs{Nonce: c.Nonce, Low: c.IDs[0], High: c.IDs[1]}}
	r.maker = m
	fixed := 0
	if c.Prompts == Exact {
		fixed = c.Tokenizer.Added()
		var err error
		if m.exact, err = prompt.NewCounted(c.Nonce, c.Tokenizer, fixed); err != nil {
			return &InputError{err}
		}
		r.report.Prompts = "random words counted by a tokenizer"
	}
	if c.Prompts == TokenIDs {
		r.report.Prompts = "random token ids"
	}
	if c.NoCheck {
		if c.Prompts == CommonWords {
			r.report.Prompts = "random words of one token each, not calibrated"
		}
		r.saidDialogues()
		return r.possible()
	}
	r.progress(Event{Phase: Checking})
	if err := r.calibrate(ctx, m); err != nil {
		return err
	}
	r.saidDialogues()
	return r.possible()
}

// saidDialogues tells how the prompts of a data set are made.
func (r *run) saidDialogues() {
	if r.c.Dialogues != nil {
		r.report.Prompts = fmt.Sprintf("the file's questions, %d random words before the first of each dialogue", newWords)
	}
}

func (r *run) calibrate(ctx context.Context, m *maker) error {
	c := r.c
	if c.Prompts == TokenIDs {
		q := m.blank(1)
		q.IDs = m.ids.Make(min(shortText, c.least()), 1<<63)
		_, err := r.first(ctx, q)
		return err
	}
	var counts [2]int
	var texts [2]string
	for i, n := range []int{shortText, longText} {
		q := m.blank(1)
		texts[i] = m.words.Number(n, 1<<63|uint64(i))
		if c.Service.Endpoint == openai.Completions {
			q.Text = texts[i]
		} else {
			q.Messages = []openai.Message{{Role: "user", Content: texts[i]}}
		}
		a, err := r.first(ctx, q)
		if err != nil {
			return err
		}
		if counts[i] = a.Usage.Prompt; c.Dialogues != nil {
			return nil // its texts are as they are
		}
	}
	scale, ok := prompt.Fit(shortText, counts[0], longText, counts[1])
	switch {
	case counts[0] == 0 || counts[1] == 0:
		r.warn(note.NoPromptCount, "", "the service does not say how many tokens a prompt has: lengths are those of the usual vocabularies, template not included")
	case m.exact != nil:
		m.exact.SetFixed(counts[1] - c.Tokenizer.Count(texts[1]))
		if a, b := counts[0]-c.Tokenizer.Count(texts[0]), counts[1]-c.Tokenizer.Count(texts[1]); a != b {
			r.warn(note.OtherTokenizer, "short long", "the service counts %d and %d tokens more than the tokenizer: it is another model's", a, b)
		}
	case !ok:
		r.warn(note.OddPromptCount, "short short_words long long_words", "the service counts %d tokens in %d words and %d in %d: lengths are those of the usual vocabularies", counts[0], shortText, counts[1], longText)
	default:
		m.words.Scale = scale
		r.report.Prompts = fmt.Sprintf("random words, %.3g tokens each by the service's own count, with %.3g of template within the length", scale.PerWord, scale.Fixed)
	}
	if r.report.Prompts == "" {
		r.report.Prompts = "random words of one token each, not calibrated"
	}
	return nil
}

// first sends a question before the run; a service that does not answer it is an
// error that says why.
func (r *run) first(ctx context.Context, q *openai.Request) (*openai.Answer, error) {
	q.IgnoreEOS, q.MinTokens = false, 0
	ctx, stop := context.WithTimeout(ctx, checkLimit)
	defer stop()
	l := Level{}
	if len(r.c.Levels) > 0 {
		l = r.c.Levels[0]
	}
	a := r.client(l).Do(ctx, q)
	for try := range refusedTries {
		wait, once := askAgain(a, try)
		if !once {
			break
		}
		select { // a service that is busy for a moment is no reason to measure nothing
		case <-ctx.Done():
		case <-time.After(wait):
			a = r.client(l).Do(ctx, q)
		}
	}
	switch {
	case a.Class == "" || a.Class == openai.Empty:
		return a, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, note.Of("url", fmt.Errorf("%s did not answer a first question within %v: see whether it is up", r.c.Service.URL, checkLimit))
	case ctx.Err() != nil:
		return nil, errors.New("interrupted before anything was measured")
	case a.Class == openai.NoDone || a.Class == openai.NoFinish:
		return a, nil // counted in the run, where it says more; what it counted is used
	}
	if a.Class == openai.RateLimited || a.Class == openai.Unavailable {
		return nil, note.Of("url", fmt.Errorf("%s refused a first question %d times: %s (%s): wait until it is free, or leave the questions out with --no-check", r.c.Service.URL, refusedTries+1, a.Reason, a.Class))
	}
	return nil, note.Of(r.blamed(a), r.unanswered(a))
}

// unanswered is why a first question has no answer, with what mends it.
func (r *run) unanswered(a *openai.Answer) error {
	url := r.c.Service.URL
	switch {
	case r.blamed(a) == "model":
		return fmt.Errorf("%s did not answer a first question: %s (%s): name a model that it serves with --model", url, a.Reason, a.Class)
	case a.Status == http.StatusNotFound:
		return fmt.Errorf("%s did not answer a first question: %s (%s): give the address up to /v1, and an --endpoint that it serves", url, a.Reason, a.Class)
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		return fmt.Errorf("%s did not answer a first question: %s (%s): give its key with --api-key-file or --api-key-env", url, a.Reason, a.Class)
	}
	return fmt.Errorf("%s did not answer a first question: %s (%s): try again, or leave the questions out with --no-check to have failures counted", url, a.Reason, a.Class)
}

// askAgain tells whether a first question is asked once more, and after which wait.
func askAgain(a *openai.Answer, try int) (wait time.Duration, ok bool) {
	switch a.Class {
	case openai.RateLimited, openai.Unavailable:
		return max(refusedWait<<try, min(a.RetryAfter, longestWait)), true
	case openai.NoDone, openai.NoFinish:
		return 0, a.Usage.Prompt == 0 // what was cut off may hold its count another time
	}
	return 0, false
}

// blamed is the field that a refusal is about: the model where the service says that it has none of that name.
func (r *run) blamed(a *openai.Answer) string {
	if m := r.c.Service.Model; a.Status == http.StatusNotFound && m != "" && strings.Contains(a.Reason, m) {
		return "model"
	}
	return "url"
}

// checkLimit is how long a first question may take: a service that is warming up
// compiles kernels for minutes.
const checkLimit = 10 * time.Minute

// A refused first question (429, 503) is asked again so often, after waits that double,
// or as long as the refusal asks for within bounds.
const (
	refusedTries = 3
	refusedWait  = time.Second
	longestWait  = 30 * time.Second
)

// least is the shortest prompt that will be asked.
func (c *Config) least() int {
	switch {
	case c.Trace != nil:
		n := c.Trace.Requests[0].Input
		for i := range c.Trace.Requests {
			n = min(n, c.Trace.Requests[i].Input)
		}
		return n
	case c.Dialogues != nil:
		return 1
	}
	return c.Input.Low
}

// possible refuses lengths that no prompt can have, before the run.
func (r *run) possible() error {
	n := r.c.least()
	switch m := r.maker; {
	case r.c.Dialogues != nil || r.c.Trace != nil:
		return nil // a trace's shortest prompts are as short as can be made, and the report says so
	case m.exact != nil:
		if _, err := m.exact.Text(n, 1<<62); err != nil {
			return &InputError{fmt.Errorf("input length: %w", err)}
		}
	case r.c.Prompts == CommonWords && n < m.words.Scale.Least():
		return &InputError{fmt.Errorf("input length %d: the service's template alone has %.0f tokens, ask for at least %d", n, m.words.Scale.Fixed, m.words.Scale.Least())}
	}
	return nil
}

func (r *run) warn(c note.Code, keys, format string, args ...any) {
	if n := note.New(c, keys, format, args...); !r.report.Notes.Has(n.Text) {
		r.report.Notes = append(r.report.Notes, n)
		r.report.Warnings = append(r.report.Warnings, n.Text)
	}
}
