package prompt

import (
	"slices"
	"strings"

	"github.com/dlclark/regexp2/v2"
	"golang.org/x/text/unicode/norm"
)

// Tokenizer counts and makes tokens as a Hugging Face tokenizer.json says. It
// reads byte-level BPE, which current models use; anything else in a file is an
// error that names it.
type Tokenizer struct {
	ids    map[string]int // by the token's text in byte-level letters
	ranks  map[[2]string]int
	whole  bool // a piece that is a token itself is not merged
	nfc    bool
	splits []*regexp2.Regexp
	added  int // special tokens that the post-processor puts around one text
}

// Vocabulary is how many tokens there are, special ones left out.
func (t *Tokenizer) Vocabulary() int { return len(t.ids) }

// Added is how many special tokens are put around one text: a service that adds
// them counts them too.
func (t *Tokenizer) Added() int { return t.added }

// Count is how many tokens a text has, special ones not counted.
func (t *Tokenizer) Count(text string) int { return len(t.Encode(text)) }

// Encode is the tokens of a text, without special ones; text that no token spells
// is left out, which a byte-level vocabulary never does.
func (t *Tokenizer) Encode(text string) (ids []int) {
	if t.nfc {
		text = norm.NFC.String(text)
	}
	pieces := []string{text}
	for _, re := range t.splits {
		var next []string
		for _, p := range pieces {
			next = isolate(next, re, p)
		}
		pieces = next
	}
	for _, p := range pieces {
		ids = t.merged(ids, spell(p))
	}
	return ids
}

// isolate cuts a text into matches and what lies between.
func isolate(list []string, re *regexp2.Regexp, text string) []string {
	at := 0
	spans, err := re.FindAllStringIndex(text, -1)
	if err != nil {
		return append(list, text) // a match over the library's time limit: none is set
	}
	for _, s := range spans {
		if s[0] > at {
			list = append(list, text[at:s[0]])
		}
		if s[1] > s[0] {
			list = append(list, text[s[0]:s[1]])
		}
		at = s[1]
	}
	if at < len(text) {
		list = append(list, text[at:])
	}
	return list
}

// merged appends the tokens of one piece: the pair of lowest rank is joined until
// none is left (Sennrich et al., arXiv:1508.07909).
func (t *Tokenizer) merged(ids []int, letters []string) []int {
	if id, ok := t.ids[strings.Join(letters, "")]; ok && (t.whole || len(letters) == 1) {
		return append(ids, id)
	}
	for len(letters) > 1 {
		best, at := -1, 0
		for i := 0; i+1 < len(letters); i++ {
			if rank, ok := t.ranks[[2]string{letters[i], letters[i+1]}]; ok && (best < 0 || rank < best) {
				best, at = rank, i
			}
		}
		if best < 0 {
			break
		}
		letters[at] += letters[at+1]
		letters = slices.Delete(letters, at+1, at+2)
	}
	for _, l := range letters {
		if id, ok := t.ids[l]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// byteLetters are the letters that stand for bytes in byte-level vocabularies:
// printable ones for themselves, the rest from U+0100 on (openai/gpt-2,
// encoder.py, bytes_to_unicode).
var byteLetters = func() (l [256]string) {
	next := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= '¡' && b <= '¬' || b >= '®' && b <= 'ÿ' {
			l[b] = string(b)
		} else {
			l[b] = string(next)
			next++
		}
	}
	return l
}()

// spell is a text in byte-level letters.
func spell(text string) []string {
	list := make([]string, len(text))
	for i := range len(text) {
		list[i] = byteLetters[text[i]]
	}
	return list
}
