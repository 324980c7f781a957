package emulate

import (
	"encoding/binary"
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// Prompts are counted without a vocabulary. A prompt given as token ids has as many
// tokens as ids. Text has as many as pieces into which the pre-tokenizers of current
// models cut it before they merge (pieces): exact for common words, too few for rare
// ones. A chat message costs perMessage tokens more and the answer's beginning
// primed, as OpenAI's cookbook counts its own format ("How to count tokens with
// tiktoken": three per message, one for the role, three for the reply).
const (
	perMessage = 4
	primed     = 3
)

// content is a prompt as width bytes per token, ids and pieces of text alike, so
// that it can be counted and cut into blocks.
type content []byte

const width = 4

// seed makes the hashes of pieces and blocks differ between processes; nothing
// depends on their values.
var seed = maphash.MakeSeed()

// text adds the tokens of a text.
func (c content) text(s string) content {
	for len(s) > 0 {
		n := piece(s)
		c = binary.LittleEndian.AppendUint32(c, uint32(maphash.String(seed, s[:n])))
		s = s[n:]
	}
	return c
}

// class is what a character counts as.
type class uint8

const (
	letter class = iota
	digit
	space
	sign
)

func classOf(r rune) class {
	switch {
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return sign
}

// mostDigits is how many digits are one piece.
const mostDigits = 3

// piece is the length in bytes of the first piece of a text: letters with the one
// character before them, up to three digits, signs with the space before them, or
// white space, as in the pattern of tiktoken's cl100k_base, which Llama 3, Qwen and
// DeepSeek keep to but for details (tiktoken_ext/openai_public.py).
func piece(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	first := classOf(r)
	next, _ := utf8.DecodeRuneInString(s[n:])
	switch {
	case first == digit:
		return n + run(s[n:], digit, mostDigits-1)
	case first == letter || len(s) > n && classOf(next) == letter && r != '\n' && r != '\r':
		return n + run(s[n:], letter, len(s))
	case first == sign || r == ' ' && len(s) > n && classOf(next) == sign:
		return n + run(s[n:], sign, len(s))
	}
	n += run(s[n:], space, len(s))
	if n < len(s) && n > 1 && s[n-1] == ' ' {
		n-- // goes with what follows
	}
	return n
}

// run is the bytes of at most so many characters of a class at the beginning.
func run(s string, c class, most int) (n int) {
	for n < len(s) && most > 0 {
		r, size := utf8.DecodeRuneInString(s[n:])
		if classOf(r) != c {
			break
		}
		n += size
		most--
	}
	return n
}

// ids adds tokens.
func (c content) ids(ids []int32) content {
	for _, id := range ids {
		c = binary.LittleEndian.AppendUint32(c, uint32(id))
	}
	return c
}

// message adds one message of a chat.
func (c content) message(role, text string) content {
	head := make([]byte, perMessage*width)
	copy(head, role)
	return append(c, head...).text(text)
}

// tokens is the length of the prompt.
func (c content) tokens() int { return len(c) / width }

// blocks identifies the whole blocks of a prompt, size tokens each: an id stands
// for the block and all that precedes it.
func (c content) blocks(size int) []uint64 {
	n := c.tokens() / size
	ids := make([]uint64, 0, n)
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range n {
		_, _ = h.Write(c[i*size*width : (i+1)*size*width]) // never fails
		ids = append(ids, h.Sum64())
	}
	return ids
}

// word writes token i of answer n: one piece, so that an answer that comes back in
// the next turn counts as what it was.
func word(to []byte, n uint64, i int) []byte {
	x := (n*0x9E3779B97F4A7C15 + uint64(i)*0xBF58476D1CE4E5B9) ^ uint64(i)<<7
	x ^= x >> 29
	return append(to, ' ', 'a'+byte(x%26), 'a'+byte(x/26%26), 'a'+byte(x/676%26))
}
