package sched

// zbv is the V-shaped zero-bubble order of arXiv:2405.15362: chunk 0 goes down
// the ranks and chunk 1 back up, so that every rank holds p micro-batches of
// half the layers twice. It fills 2 (p - rank) - 1 forwards of chunk 0, then
// alternates until the backward of chunk 1 returns, and puts off the weight
// gradients of the last backwards. With fewer than 2p - 1 micro-batches the
// order is that of 2p - 1 without the missing ones.
//
//	0 F0F1F2F3-F4f0b0w0f1b1-w1f2b2w2F5B0-W0f3b3w3B1W1f4-b4w4B2W2f5b5-w5B3W3B4W4B5-W5....
//	1 ..F0F1F2-f0F3f1b0w0f2-b1w1F4B0W0f3-b2w2F5B1W1f4b3-w3B2W2f5b4w4-B3b5B4W3B5W4-w5W5..
//	2 ....F0f0-F1f1F2f2b0w0-F3B0W0f3b1w1-F4B1W1f4b2w2F5-B2W2f5b3w3B3-b4B4b5B5W3w4-w5W4W5
//	  0                                                                             19 s
//	F forward  B backward  W weight gradient  . idle  number: micro-batch
//	small: rank's further chunks
func zbv(to []item, p, m, rank int) []item {
	n := max(m, 2*p-1)
	var f, b, w [2]int // next micro-batch of each chunk
	put := func(pass Pass, l int) {
		at := [...]*[2]int{F: &f, B: &b, W: &w}[pass]
		if at[l] < m {
			to = append(to, item{pass: pass, local: uint8(l), mb: int32(at[l])})
		}
		at[l]++
	}
	for range 2*(p-rank) - 1 {
		put(F, 0)
	}
	for range rank {
		put(F, 1)
		put(F, 0)
	}
	for range p - rank {
		put(F, 1)
		put(B, 1)
		put(W, 1)
	}
	for f[1] < f[0] || f[0] < n {
		if f[0] < n {
			put(F, 0)
		}
		put(B, 0)
		put(W, 0)
		put(F, 1)
		put(B, 1)
		put(W, 1)
	}
	for range rank {
		put(B, 0)
		put(B, 1)
	}
	for range p - rank {
		put(B, 0)
		put(W, 0)
	}
	for l := 1; l >= 0; l-- {
		for w[l] < b[l] {
			put(W, l)
		}
	}
	return to
}
