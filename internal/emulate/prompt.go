package emulate

import (
	"encoding/binary"
	"hash/maphash"
)

// Prompts are counted without a tokenizer. A prompt given as token ids has as many
// tokens as ids. Text is counted at bytesPerToken, rounded up: OpenAI's rule of
// thumb of four characters per token (help.openai.com, "What are tokens and how to
// count them?"). A chat message costs perMessage tokens more and the answer's
// beginning primed, as OpenAI's cookbook counts its own format ("How to count
// tokens with tiktoken": three per message, one for the role, three for the reply).
const (
	bytesPerToken = 4
	perMessage    = 4
	primed        = 3
)

// content is a prompt as bytesPerToken bytes per token, so that text and ids are
// counted and cut into blocks alike.
type content []byte

// text adds text in whole tokens.
func (c content) text(s string) content {
	c = append(c, s...)
	for len(c)%bytesPerToken != 0 {
		c = append(c, 0)
	}
	return c
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
	head := make([]byte, perMessage*bytesPerToken)
	copy(head, role)
	return append(c, head...).text(text)
}

// tokens is the length of the prompt.
func (c content) tokens() int { return len(c) / bytesPerToken }

// seed makes block ids differ between processes; nothing depends on their values.
var seed = maphash.MakeSeed()

// blocks identifies the whole blocks of a prompt, size tokens each: an id stands
// for the block and all that precedes it.
func (c content) blocks(size int) []uint64 {
	n := c.tokens() / size
	ids := make([]uint64, 0, n)
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range n {
		_, _ = h.Write(c[i*size*bytesPerToken : (i+1)*size*bytesPerToken]) // never fails
		ids = append(ids, h.Sum64())
	}
	return ids
}

// word writes token i of answer n: bytesPerToken bytes, so that an answer that
// comes back in the next turn counts as what it was.
func word(to []byte, n uint64, i int) []byte {
	x := (n*0x9E3779B97F4A7C15 + uint64(i)*0xBF58476D1CE4E5B9) ^ uint64(i)<<7
	x ^= x >> 29
	to = append(to, ' ')
	for range bytesPerToken - 1 {
		to = append(to, 'a'+byte(x%26))
		x /= 26
	}
	return to
}
