package sched

// Chunks is the number of model chunks that the layers are cut into: stages for
// one chunk per rank and for DualPipe, stages x vpp interleaved, 2 x stages for
// the V-shaped kinds.
func (k Kind) Chunks(stages, vpp int) int {
	switch k {
	case Interleaved:
		return stages * vpp
	case ZBV, DualPipeV:
		return 2 * stages
	}
	return stages
}

// LocalChunks is the number of chunks a rank works on: vpp interleaved, 2 for
// the V-shaped kinds and for DualPipe (its own and its mirror's), else 1.
func (k Kind) LocalChunks(vpp int) int {
	switch k {
	case Interleaved:
		return vpp
	case ZBV, DualPipe, DualPipeV:
		return 2
	}
	return 1
}

// ParamCopies is how often the pipeline holds every parameter: 2 for DualPipe,
// which feeds micro-batches from both ends (arXiv:2412.19437 table 2), else 1.
func (k Kind) ParamCopies() int {
	if k == DualPipe {
		return 2
	}
	return 1
}

// RankOf tells where a chunk lives. Chunks go round the ranks interleaved, down
// and back up in the V-shaped kinds. A chunk of DualPipe lives on two ranks:
// rank for micro-batches entering at rank 0, mirror for those entering at the
// last; for every other kind mirror equals rank.
func (k Kind) RankOf(chunk, stages, vpp int) (rank, mirror int) {
	switch k {
	case Interleaved:
		rank = chunk % stages
	case ZBV, DualPipeV:
		rank = min(chunk, 2*stages-1-chunk)
	case DualPipe:
		return chunk, stages - 1 - chunk
	default:
		rank = chunk
	}
	return rank, rank
}

// ChunkAt is the inverse of RankOf: the chunk that a rank holds as its local-th,
// 0 <= local < LocalChunks.
func (k Kind) ChunkAt(rank, local, stages int) int {
	switch k {
	case Interleaved:
		return local*stages + rank
	case ZBV, DualPipeV:
		if local == 1 {
			return 2*stages - 1 - rank
		}
	case DualPipe:
		if local == 1 {
			return stages - 1 - rank
		}
	}
	return rank
}

// Splits tells whether the backward pass is cut into B and W, at least in part.
// Otherwise a B holds both and the times of W add to it.
func (k Kind) Splits() bool { return k >= ZBH1 }

// staggered tells whether the ranks pass from one step to the next each at its
// own time, which the zero-bubble kinds need: the optimizer step is validated
// afterwards instead of waiting for all ranks (arXiv:2401.10241 section 4).
func (k Kind) staggered() bool { return k >= ZBH1 && k <= ZBV }

// auto tells whether the order depends on the times.
func (k Kind) auto() bool { return k == ZB1P || k == ZB2P }
