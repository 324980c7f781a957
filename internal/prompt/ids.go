package prompt

// IDs makes prompts of random token ids from Low up to High, High not included.
type IDs struct {
	Nonce     string
	Low, High int
}

// CommonIDs are ids that every model with a vocabulary of 32,000 tokens has and
// that are neither special nor single bytes in the usual vocabularies.
var CommonIDs = [2]int{1000, 30000}

// Make is the prompt with that number.
func (p *IDs) Make(tokens int, number uint64) []int {
	rng := stream(p.Nonce, number)
	list := make([]int, tokens)
	for i := range list {
		list[i] = p.Low + rng.IntN(p.High-p.Low)
	}
	return list
}

// Blocks is a prompt whose content follows block by block from ids.
func (p *IDs) Blocks(tokens, blockTokens int, ids []uint64) []int {
	list := make([]int, 0, tokens)
	for _, id := range ids {
		rng := stream(p.Nonce, id, blockLabel)
		for range min(blockTokens, tokens-len(list)) {
			list = append(list, p.Low+rng.IntN(p.High-p.Low))
		}
	}
	return list
}
