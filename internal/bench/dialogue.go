package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/prompt"
)

// Dialogue is a conversation of a data set: what its user said, and how long the
// answers were.
type Dialogue struct {
	Questions []string
	Answers   []int // tokens, 0 = not known
}

// turns are the first n of the dialogue.
func (d Dialogue) turns(n int) []turn {
	var list []turn
	for i := range min(n, len(d.Questions)) {
		list = append(list, turn{text: d.Questions[i], output: d.Answers[i]})
	}
	return list
}

// longestDialogue is the most questions of one.
func (c *Config) longestDialogue() (n int) {
	for _, d := range c.Dialogues {
		n = max(n, len(d.Questions))
	}
	return n
}

// OpenDialogues reads a data set in the ShareGPT format: a JSON list of objects
// with conversations of {from, value}. With a tokenizer the lengths of its answers
// are asked for; without, the model decides. Dialogues that do not begin with a
// user's words are left out; a file without any other is an error.
func OpenDialogues(path string, t *prompt.Tokenizer) ([]Dialogue, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadDialogues(f, path, t)
}

// ReadDialogues is OpenDialogues of what is open already; name is what complaints
// call it.
func ReadDialogues(r io.Reader, name string, t *prompt.Tokenizer) ([]Dialogue, error) {
	d := json.NewDecoder(r)
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return nil, fmt.Errorf("%s: no JSON list: give a data set in the ShareGPT format", name)
	}
	var list []Dialogue
	for n := 1; d.More(); n++ {
		var x struct {
			Conversations []struct{ From, Value string }
		}
		if err := d.Decode(&x); err != nil {
			return nil, fmt.Errorf("%s, dialogue %d: %w", name, n, err)
		}
		var g Dialogue
		for i := 0; i+1 < len(x.Conversations); i += 2 {
			asked, answered := x.Conversations[i], x.Conversations[i+1]
			if !isUser(asked.From) || isUser(answered.From) || strings.TrimSpace(asked.Value) == "" || answered.Value == "" {
				break
			}
			tokens := 0
			if t != nil {
				tokens = max(t.Count(answered.Value), 1)
			}
			g.Questions, g.Answers = append(g.Questions, asked.Value), append(g.Answers, tokens)
		}
		if len(g.Questions) > 0 {
			list = append(list, g)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s: the list has no end: %w", name, noEOF(err))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no dialogue of a user and an answer: give a data set in the ShareGPT format", name)
	}
	return list, nil
}

func isUser(from string) bool { return from == "human" || from == "user" }

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
