package sched

// order appends the passes of one rank in the order it runs them, for the kinds
// whose order does not depend on the times.
func (k Kind) order(to []item, p, m, v, rank int) []item {
	switch k {
	case GPipe:
		return gpipe(to, m)
	case OneFOneB:
		return oneFOneB(to, p, m, rank)
	case Interleaved:
		return interleaved(to, p, m, v, rank)
	case ZBH1:
		return handcrafted(to, m, p-rank, rank)
	case ZBH2:
		return handcrafted(to, m, 2*(p-rank)-1, 2*rank)
	case ZBV:
		return zbv(to, p, m, rank)
	case DualPipe:
		return dualpipe(to, p, m, rank)
	case DualPipeV:
		return dualpipeV(to, p, m, rank)
	}
	return to
}

// gpipe runs all forwards, then all backwards (arXiv:1811.06965; drawn with
// backwards in the same order as forwards, as figure 3 of arXiv:2104.04473).
//
//	0 F0-F1-F2-F3-F4-F5-............................B0----B1----B2----B3----B4----B5----
//	1 ...F0-F1-F2-F3-F4-F5-..................B0-----B1----B2----B3----B4----B5----......
//	2 ......F0-F1-F2-F3-F4-F5-.........B0----B1-----B2----B3----B4----B5----............
//	3 .........F0-F1-F2-F3-F4-F5-B0----B1----B2-----B3----B4----B5----..................
//	  0                                                                             27 s
//	F forward  B backward  . idle  number: micro-batch
func gpipe(to []item, m int) []item {
	for i := range m {
		to = append(to, fwd(0, i))
	}
	for i := range m {
		to = append(to, bwd(0, i))
	}
	return to
}

// oneFOneB fills the pipeline with p - rank forwards, then takes one backward
// for each forward, so that a rank holds p - rank micro-batches (PipeDream-Flush,
// arXiv:2104.04473 figure 4 top).
//
//	0 F0-F1-F2-F3-..................B0----F4-B1-----F5-B2----...B3----...B4----...B5----
//	1 ...F0-F1-F2-............B0----F3-B1----F4--B2----F5-B3----...B4----...B5----......
//	2 ......F0-F1-......B0----F2-B1----F3-B2-----F4-B3----F5-B4----...B5----............
//	3 .........F0-B0----F1-B1----F2-B2----F3-B3-----F4-B4----F5-B5----..................
//	  0                                                                             27 s
//	F forward  B backward  . idle  number: micro-batch
func oneFOneB(to []item, p, m, rank int) []item {
	warm := min(p-rank, m)
	for i := range warm {
		to = append(to, fwd(0, i))
	}
	for i := range m {
		to = append(to, bwd(0, i))
		if i+warm < m {
			to = append(to, fwd(0, i+warm))
		}
	}
	return to
}

// interleaved is the 1F1B of v chunks per rank: groups of p micro-batches go
// through a chunk before the rank turns to the next (arXiv:2104.04473 section
// 2.2, order of Megatron-LM's interleaved schedule). The rank warms up with
// 2 (p - rank - 1) + (v - 1) p forwards of chunks.
//
//	0 F0F1F2f0f1f2F3F4....b0-F5b1--f3b2--f4B0--f5B1--..B2--..b3--..b4-..b5--B3--B4--B5--
//	1 ..F0F1F2f0f1f2..b0--Fb1--F4b2--F5B0--f3B1--f4B2--f5b3--..b4--.b5--B3--B4--B5--....
//	2 ....F0F1F2f0b0--f1b1-f2b2--F3B0--F4B1--F5B2--f3b3--f4b4--f5b5-B3--B4--B5--........
//	  0                                                                             21 s
//	F forward  B backward  . idle  number: micro-batch  small: rank's further chunks
func interleaved(to []item, p, m, v, rank int) []item {
	total := m * v
	at := func(k int) (local, mb int) { return k % (p * v) / p, k/(p*v)*p + k%p }
	warm := min(2*(p-rank-1)+(v-1)*p, total)
	for k := range warm {
		l, i := at(k)
		to = append(to, fwd(l, i))
	}
	for k := range total {
		if k+warm < total {
			l, i := at(k + warm)
			to = append(to, fwd(l, i))
		}
		l, i := at(k)
		to = append(to, bwd(v-1-l, i))
	}
	return to
}

// handcrafted is ZB-H1 and ZB-H2 (arXiv:2401.10241 section 2): 1F1B with warm
// forwards and every weight gradient put off by late backwards, so that all
// ranks hold warm + late micro-batches: p for H1, 2p - 1 for H2.
//
//	0 F0--F1--F2--F3--...........B0--W0--F4--B1--W1--F5--B2--W2--B3-W3--B4--W4--B5--W5--
//	1 ....F0--F1--F2--.......B0--F3--B1--W0--F4--B2--W1--F5--B3--W2-B4--W3--B5--W4--W5--
//	2 ........F0--F1--....B0-F2--B1--F3--B2--W0--F4--B3--W1--F5--B4-W2--B5--W3--W4--W5--
//	3 ............F0--B0--F1-B1--F2--B2--F3--B3--W0--F4--B4--W1--F5-B5--W2--W3--W4--W5--
//	  0                                                                             21 s
//	F forward  B backward  W weight gradient  . idle  number: micro-batch
//
//	0 F0--F1--F2--F3--F4--F5-....B0--W0--B1--W1--B2--W2--B3--W3--B4-W4--B5--W5--........
//	1 ....F0--F1--F2--F3--F4-B0--F5--B1--....B2--W0--B3--W1--B4--W2-B5--W3--W4--W5--....
//	2 ........F0--F1--F2--B0-F3--B1--F4--B2--F5--B3--....B4--W0--B5-W1--W2--W3--W4--W5--
//	3 ............F0--B0--F1-B1--F2--B2--F3--B3--F4--B4--F5--B5--W0-W1--W2--W3--W4--W5--
//	  0                                                                             21 s
//	F forward  B backward  W weight gradient  . idle  number: micro-batch
func handcrafted(to []item, m, warm, late int) []item {
	warm = min(warm, m)
	for i := range warm {
		to = append(to, fwd(0, i))
	}
	for i := range m {
		to = append(to, inp(0, i))
		if i >= late {
			to = append(to, wgt(0, i-late))
		}
		if i+warm < m {
			to = append(to, fwd(0, i+warm))
		}
	}
	for i := max(0, m-late); i < m; i++ {
		to = append(to, wgt(0, i))
	}
	return to
}
