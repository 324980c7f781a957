package prompt

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/dlclark/regexp2/v2"

	"github.com/ridgeline/ridgeline/internal/input"
)

// maxTokenizer bounds the file: the largest in use has 33 MB.
const maxTokenizer = 256 << 20

// file is what is read of a tokenizer.json.
type file struct {
	Model struct {
		Type         string
		Vocab        map[string]int
		Merges       []merge
		IgnoreMerges bool `json:"ignore_merges"`
		ByteFallback bool `json:"byte_fallback"`
	}
	Normalizer    *part
	PreTokenizer  *part `json:"pre_tokenizer"`
	PostProcessor *part `json:"post_processor"`
}

// part is a normalizer, pre-tokenizer or post-processor, or a sequence of them.
type part struct {
	Type           string
	Normalizers    []part
	PreTokenizers  []part `json:"pretokenizers"`
	Processors     []part
	Pattern        struct{ Regex, String string }
	Behavior       string
	Invert         bool
	AddPrefixSpace bool  `json:"add_prefix_space"`
	UseRegex       *bool `json:"use_regex"`
	Single         []map[string]json.RawMessage
}

// merge is two texts, written as "a b" or as a list.
type merge [2]string

func (m *merge) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[2]string)(m))
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	left, right, ok := strings.Cut(s, " ")
	if !ok {
		return fmt.Errorf("merge %.40q is no pair", s)
	}
	*m = merge{left, right}
	return nil
}

// gpt2Split is the pattern of a ByteLevel pre-tokenizer with use_regex: GPT-2's
// (openai/gpt-2, encoder.py).
const gpt2Split = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// OpenTokenizer reads a tokenizer.json.
func OpenTokenizer(path string) (*Tokenizer, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadTokenizer(f, path)
}

// ReadTokenizer is OpenTokenizer of what is open already; name is what complaints
// call it.
func ReadTokenizer(r io.Reader, name string) (*Tokenizer, error) {
	var f file
	if err := json.NewDecoder(io.LimitReader(r, maxTokenizer)).Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w: give a tokenizer.json", name, err)
	}
	t := &Tokenizer{ids: f.Model.Vocab, ranks: make(map[[2]string]int, len(f.Model.Merges)), whole: f.Model.IgnoreMerges}
	if f.Model.Type != "BPE" || len(t.ids) == 0 || f.Model.ByteFallback {
		return nil, fmt.Errorf("%s: model of type %.20q: byte-level BPE is what is read", name, f.Model.Type)
	}
	for i, m := range f.Model.Merges {
		if _, twice := t.ranks[m]; !twice {
			t.ranks[m] = i
		}
	}
	if err := t.normalizer(f.Normalizer); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	bytes := false
	if err := t.pretokenizer(f.PreTokenizer, &bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !bytes {
		return nil, fmt.Errorf("%s: no ByteLevel pre-tokenizer: byte-level BPE is what is read", name)
	}
	t.added = specials(f.PostProcessor)
	return t, nil
}

func (t *Tokenizer) normalizer(p *part) error {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "NFC":
		t.nfc = true
	case "Sequence":
		for i := range p.Normalizers {
			if err := t.normalizer(&p.Normalizers[i]); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("normalizer of type %.30q is not read", p.Type)
	}
	return nil
}

func (t *Tokenizer) pretokenizer(p *part, bytes *bool) error {
	pattern := ""
	switch {
	case p == nil:
		return nil
	case p.Type == "Sequence":
		for i := range p.PreTokenizers {
			if err := t.pretokenizer(&p.PreTokenizers[i], bytes); err != nil {
				return err
			}
		}
		return nil
	case p.Type == "ByteLevel" && !p.AddPrefixSpace:
		*bytes = true
		if p.UseRegex != nil && !*p.UseRegex {
			return nil
		}
		pattern = gpt2Split
	case p.Type == "Split" && p.Behavior == "Isolated" && !p.Invert && p.Pattern.Regex != "":
		pattern = p.Pattern.Regex
	default:
		return fmt.Errorf("pre-tokenizer of type %.30q with these settings is not read", p.Type)
	}
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return fmt.Errorf("pre-tokenizer: %w", err)
	}
	t.splits = append(t.splits, re)
	return nil
}

// specials counts the special tokens that a template puts around one text.
func specials(p *part) (n int) {
	if p == nil {
		return 0
	}
	for i := range p.Processors {
		n += specials(&p.Processors[i])
	}
	for _, s := range p.Single {
		if _, ok := s["SpecialToken"]; ok {
			n++
		}
	}
	return n
}
