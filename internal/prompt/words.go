package prompt

import (
	_ "embed"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// wordList holds 2,048 words that are one token each, alone and after a space, in
// the vocabularies of Llama 3.1, DeepSeek-V3, Qwen3 and gpt-oss (the
// tokenizer.json of each, compared word by word).
//
//go:embed words.txt
var wordList string

var words = strings.Fields(wordList)

// Words makes texts of random words.
type Words struct {
	// Nonce sets the prompts of one run apart from those of all others.
	Nonce string
	Scale Scale
}

// Scale turns an asked length in tokens into words: words = (tokens - Fixed) / PerWord.
type Scale struct {
	PerWord float64 // tokens of one word and its space
	Fixed   float64 // tokens of template and special tokens
}

// OneToken is the scale of the vocabularies that the list was made for, without a
// template.
var OneToken = Scale{PerWord: 1}

// Fit is the scale that two texts of the given words and counted tokens show; ok
// is false where they contradict each other.
func Fit(words1, tokens1, words2, tokens2 int) (s Scale, ok bool) {
	if words1 == words2 {
		return s, false
	}
	s.PerWord = float64(tokens2-tokens1) / float64(words2-words1)
	s.Fixed = float64(tokens1) - s.PerWord*float64(words1)
	const most = 64 // tokens of a word: none of the list has more bytes
	return s, s.PerWord > 0 && s.PerWord <= most && s.Fixed > -s.PerWord
}

// Least is the shortest length that a prompt can have: one word.
func (s Scale) Least() int { return int(s.Fixed + s.PerWord + 0.999) }

// count is the words that make up the tokens, at least one.
func (s Scale) count(tokens int) int {
	return max(1, int((float64(tokens)-s.Fixed)/s.PerWord+0.5))
}

// stream is the prompt's source of random numbers, by the run's nonce and labels
// that set it apart within the run.
func stream(nonce string, labels ...uint64) *rand.Rand {
	h := fnv.New128a()
	h.Write([]byte(nonce)) // a hash never fails
	for _, l := range labels {
		var b [8]byte
		for i := range b {
			b[i] = byte(l >> (8 * i))
		}
		h.Write(b[:])
	}
	s := h.Sum(nil)
	var seed [2]uint64
	for i, c := range s {
		seed[i/8] = seed[i/8]<<8 | uint64(c)
	}
	return rand.New(rand.NewPCG(seed[0], seed[1]))
}

// Text is the prompt with that number, of so many tokens by the scale.
func (w *Words) Text(tokens int, number uint64) string {
	return w.Number(w.Scale.count(tokens), number)
}

// Number is the prompt with that number, of so many words.
func (w *Words) Number(count int, number uint64) string {
	var b strings.Builder
	add(&b, stream(w.Nonce, number), count)
	return b.String()
}

// Blocks is a prompt whose content follows block by block from ids, as traces
// with a prefix cache describe them: equal ids make equal words in every prompt
// of the run. The last block may be partial.
func (w *Words) Blocks(tokens, blockTokens int, ids []uint64) string {
	var b strings.Builder
	left := w.Scale.count(tokens)
	each := max(1, int(float64(blockTokens)/w.Scale.PerWord+0.5))
	for _, id := range ids {
		n := min(each, left)
		add(&b, stream(w.Nonce, id, blockLabel), n)
		if left -= n; left == 0 {
			break
		}
	}
	if left > 0 && len(ids) > 0 {
		add(&b, stream(w.Nonce, ids[len(ids)-1], blockLabel+1), left) // rounding of the scale
	}
	return b.String()
}

const blockLabel = 1 << 60

func add(b *strings.Builder, rng *rand.Rand, n int) {
	for range n {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[rng.IntN(len(words))])
	}
}
