package cost

// rowBlocks prices formats that are multiplied with blocks of rows, and what remains row
// by row (hw.RowBlock). Every row beyond the blocks goes over the weights again, which
// the caches hold by then, so that it takes what a second row takes beyond the first:
//
//	time(n) = time(blocks of n) + rest x (time(2) - time(1)), time(0 blocks) = time(1) for the first row
//
// The curve has holes at numbers that are no multiple of the block: four rows of q4_0
// take less than three.
type rowBlocks struct {
	rows  float64  // of a block; 0 = the format has none
	whole rowCurve // the measured numbers of rows that are multiples of it
}

// split takes the whole blocks of a curve.
func (b *rowBlocks) split(c rowCurve) {
	for _, r := range c {
		if b.rows > 0 && r.Rows%int64(b.rows) == 0 {
			b.whole = append(b.whole, r)
		}
	}
}

// seconds is the time beyond reading the weights once of flops in products of more than
// two rows, where all is the whole curve, first by how much longer a single row waits for
// memory, and single whether all rows go one by one, as those of experts do. Numbers of
// rows that were measured are met.
func (b *rowBlocks) seconds(all rowCurve, flops, rows, usual, first float64, single bool) float64 {
	n := float64(int64(rows/b.rows)) * b.rows // in blocks
	if single {
		n = 0
	}
	if n == rows || !single && all.holds(rows) || n > 0 && len(b.whole) == 0 {
		return all.seconds(flops, rows, usual)
	}
	row := flops / rows
	two := all.seconds(2*row, 2, usual)
	each := max(two-all.seconds(row, 1, usual)-first, 0)
	if n == 0 {
		return two + (rows-2)*each
	}
	return b.whole.seconds(n*row, n, usual) + (rows-n)*each
}

// holds tells whether so many rows were measured.
func (c rowCurve) holds(rows float64) bool {
	for _, r := range c {
		if float64(r.Rows) == rows {
			return true
		}
	}
	return false
}
