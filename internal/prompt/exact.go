package prompt

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Counted makes texts of random words whose tokens a tokenizer counts.
type Counted struct {
	words     Words
	tokenizer *Tokenizer
	alone     []int // tokens of each word at the start of a text
	after     []int // and after a space
	fixed     int   // tokens that the service adds: special ones, the template
}

// NewCounted counts every word of the list once: the pre-tokenizers that are read
// cut texts before spaces, so that a text's count is the sum of its words'. That
// is proven on one long text, and refused where it does not hold.
func NewCounted(nonce string, t *Tokenizer, fixed int) (*Counted, error) {
	c := &Counted{words: Words{Nonce: nonce, Scale: OneToken}, tokenizer: t, fixed: fixed}
	for _, w := range words {
		c.alone, c.after = append(c.alone, t.Count(w)), append(c.after, t.Count(" "+w))
	}
	sum := c.alone[0]
	for _, n := range c.after[1:] {
		sum += n
	}
	if n := t.Count(strings.Join(words, " ")); n != sum {
		return nil, fmt.Errorf("the tokenizer counts %d tokens in a text whose words have %d: send token ids or plain words instead", n, sum)
	}
	return c, nil
}

// Text is the prompt with that number, of exactly so many tokens, those included
// that the service adds.
func (c *Counted) Text(tokens int, number uint64) (string, error) {
	rng := stream(c.words.Nonce, number)
	left := tokens - c.fixed
	if left < 1 {
		return "", fmt.Errorf("a prompt of %d tokens: the service itself adds %d, ask for more", tokens, c.fixed)
	}
	const tries = 1000 // vocabularies in which words have many tokens need several to come out even
	for range tries {
		if text, ok := c.fill(rng, left); ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("a prompt of %d tokens: the words of the list do not add up to it", tokens)
}

// fill draws words until they have the tokens, or says that no word fills the rest.
func (c *Counted) fill(rng *rand.Rand, left int) (string, bool) {
	var b strings.Builder
	for cost := c.alone; left > 0; cost = c.after {
		i, tries := rng.IntN(len(words)), 0
		for cost[i] > left || cost[i] == 0 { // the next word that fits: one of one token nearly always does
			if i, tries = (i+1)%len(words), tries+1; tries == len(words) {
				return "", false
			}
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[i])
		left -= cost[i]
	}
	return b.String(), true
}

// SetFixed says how many tokens the service adds, once it has counted one prompt.
func (c *Counted) SetFixed(n int) { c.fixed = n }
