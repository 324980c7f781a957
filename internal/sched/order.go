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
