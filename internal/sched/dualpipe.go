package sched

// dual writes one rank's list for the two DualPipes: two streams of
// micro-batches, 0 the one whose forward reaches the rank first and 1 the one
// that comes back (DualPipeV) or from the other end (DualPipe). Weight
// gradients that are put off wait in a queue, first in first out.
type dual struct {
	to    []item
	local [2]uint8 // chunk of each stream
	base  [2]int32 // number of the stream's first micro-batch
	f, b  [2]int32 // forwards and backwards written
	late  []item
}

func (d *dual) fwd(s int) {
	d.to = append(d.to, item{pass: F, local: d.local[s], mb: d.base[s] + d.f[s]})
	d.f[s]++
}

func (d *dual) bwd(s int, split bool) {
	mb := d.base[s] + d.b[s]
	d.to = append(d.to, item{pass: B, full: !split, local: d.local[s], mb: mb})
	d.b[s]++
	if split {
		d.late = append(d.late, item{pass: W, local: d.local[s], mb: mb})
	}
}

func (d *dual) wgt() {
	d.to = append(d.to, d.late[0])
	d.late = d.late[1:]
}

// pair overlaps the next forward of stream s with the next backward of the other.
func (d *dual) pair(s int) {
	d.to = append(d.to, item{pass: FB, full: true, local: d.local[s], mb: d.base[s] + d.f[s], mc: d.base[1-s] + d.b[1-s]})
	d.f[s]++
	d.b[1-s]++
}

// run is the published order in its eight steps: half the ranks of DualPipe, or
// all of DualPipeV, numbered from the outside (0) to the turn (half - 1), and
// main the number of overlapped rounds of rank 0 less one.
func (d *dual) run(half, rank, main int) []item {
	in := half - rank - 1
	for range 2 * in { // 1: nF0
		d.fwd(0)
	}
	for range rank + 1 { // 2: nF0F1
		d.fwd(0)
		d.fwd(1)
	}
	for range in { // 3: nB1W1F1
		d.bwd(1, true)
		d.wgt()
		d.fwd(1)
	}
	for i := range main + rank + 1 { // 4: nF0B1F1B0
		if i == 0 && in == 0 { // the turn runs its first pair apart: less bubble
			d.fwd(0)
			d.bwd(1, false)
		} else {
			d.pair(0)
		}
		d.pair(1)
	}
	for range in { // 5: nB1F1B0
		d.bwd(1, false)
		d.pair(1)
	}
	split := false
	for i := range rank + 1 { // 6: nB1B0, the later half split
		if i == (rank+1)/2 && rank%2 == 1 {
			split = true
		}
		d.bwd(1, split)
		if i == (rank+1)/2 && rank%2 == 0 {
			split = true
		}
		d.bwd(0, split)
	}
	for range in { // 7: nWB0
		d.wgt()
		d.bwd(0, true)
	}
	for len(d.late) > 0 { // 8: nW
		d.wgt()
	}
	return d.to
}

// dualpipe feeds half of the micro-batches from each end (arXiv:2412.19437
// section 3.2.1). Micro-batches 0..m/2-1 enter at rank 0 and use chunk 0 of the
// ranks, the others enter at the last rank and use chunk 1.
//
//	0 F0-F1-F2-f4--b4-w4-f5-F3b5------...f6B0-----b6----....f7B1-----b7----B2--W2-B3-W3-
//	1 ...F0-f4-F1--f5-F2-b4----f6B0------F3b5-----f7B1------b6----B2----...b7--B3-w7-W3-
//	2 ...f4-F0-f5--F1-f6-B0----F2b4------f7B1-----F3b5------B2----b6----...B3--b7-W3-w7-
//	3 f4-f5-f6-F0--B0-W0-F1-f7B1------...F2b4-----B2----....F3b5-----B3----b6--w6-b7-w7-
//	  0                                                                             26 s
//	F forward  B backward  W weight gradient  X overlapped F and B  . idle
//	number: micro-batch  small: rank's further chunks
func dualpipe(to []item, p, m, rank int) []item {
	d := dual{to: to, local: [2]uint8{0, 1}, base: [2]int32{0, int32(m / 2)}}
	outer := rank
	if rank >= p/2 {
		d.local, d.base = [2]uint8{1, 0}, [2]int32{int32(m / 2), 0}
		outer = p - 1 - rank
	}
	return d.run(p/2, outer, m/2-p)
}

// dualpipeV folds DualPipe in the middle: half the ranks, one copy of the
// parameters, chunk 0 going down and chunk 1 coming back up ("cut-in-half"
// schedule of the DualPipe repository).
//
//	0 F0-F1F2-f0b0-w0f1-F3b1----..f2B0----F4b2----f3B1---b3---...f4B2----b4---B3W3-B4W4-
//	1 ...F0f0-F1f1-F2b0----f2B0---F3b1----f3B1----F4b2---f4B2----b3---B3---...b4B4-w4W4-
//	  0                                                                             16 s
//	F forward  B backward  W weight gradient  X overlapped F and B  . idle
//	number: micro-batch  small: rank's further chunks
func dualpipeV(to []item, p, m, rank int) []item {
	d := dual{to: to, local: [2]uint8{0, 1}}
	return d.run(p, rank, m-2*p)
}
