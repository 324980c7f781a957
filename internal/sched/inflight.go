package sched

// InFlight is the closed form of Layout.PeakInFlight: the most chunks of
// micro-batches that a rank holds at once (modelling: 1F1B p - rank, interleaved
// 1 + (p-1)/(pv) times that of rank 0, ZB-H1 p, ZB-H2 2p - 1, V-shaped and
// DualPipe one more than the pipeline is deep). It is exact for the fixed kinds
// (zb-v with at least 2p - 1 micro-batches, an upper bound below). For zb-1p
// and zb-2p it is the scheduler's limit, an upper bound when WeightShare is 1.
func InFlight(k Kind, stages, microbatches, vpp, rank int) int {
	p, m := stages, microbatches
	switch k {
	case GPipe:
		return m
	case OneFOneB:
		return min(m, p-rank)
	case Interleaved:
		return min(m*vpp, 2*(p-rank-1)+(vpp-1)*p+1)
	case ZBH1:
		return min(m, p)
	case ZBH2:
		return min(m, 2*p-1)
	case ZBV:
		return min(2*m, 2*p)
	case DualPipe:
		return p + 1
	case DualPipeV:
		return 2*p + 1
	}
	return min(m, k.limit(p))
}
