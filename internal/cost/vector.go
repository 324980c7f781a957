package cost

import (
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// The vector units of a CPU. An engine's thread reads weights in the order it
// multiplies them, so that memory and compute times add up rather than overlap:
//
//	time = bytes / memory rate + FLOPs / rate(rows) + outputs x end of a row
//
// rate(rows) is what calibration measured (hw.RowRate), else the rate of large
// products. Products of one row wait for memory most, each format's kernel in its own
// way, and less where the weights stay in the caches: their memory rate is what the
// probe's kernel of that format reached on as large a working set (hw.Stream), where it
// measured that. Blocks of two rows and more hide part of their reads; theirs is the
// streaming rate. Every output ends a row of weights: partial sums are added up, so that
// narrow matrices take longer than wide ones of as many bytes (hw.RowEnd); the probe's
// streams hold that of their rows. Neither tiles nor waves nor launches exist; what the host does between
// steps belongs to the engine's profile.

// rowCurve is FLOP/s by rows of a product, ascending; empty = the rate of large products.
type rowCurve []hw.RowRate

// resolveRows takes the curves of the named engine.
func (m *Machine) resolveRows(k *hw.Kernels) {
	for _, e := range k.RowEnds {
		if !m.options.UsePeak {
			m.rowEnd[e.Format] = e.Time
		}
	}
	for i := range k.Engines {
		e := &k.Engines[i]
		if e.Name != m.options.Engine || m.options.UsePeak {
			continue
		}
		m.decodeCore = e.Core
		for _, r := range e.Rows {
			m.rows[r.Format] = append(m.rows[r.Format], r)
		}
		for _, b := range e.Blocks {
			m.blocks[b.Format].rows = float64(b.Rows)
		}
	}
	for f, c := range m.rows {
		slices.SortFunc(c, func(a, b hw.RowRate) int { return int(a.Rows - b.Rows) })
		m.blocks[f].split(c)
	}
}

// seconds is the time of flops in products of so many rows: the time per weight is
// taken as linear between measured numbers of rows, the rate as constant outside.
func (c rowCurve) seconds(flops, rows, usual float64) float64 {
	if len(c) == 0 || rows <= 0 {
		return over(flops, usual)
	}
	i, _ := slices.BinarySearchFunc(c, rows, func(r hw.RowRate, rows float64) int {
		if float64(r.Rows) < rows {
			return -1
		}
		return 1
	})
	switch {
	case i == 0:
		return over(flops, c[0].Rate)
	case i == len(c):
		return over(flops, c[i-1].Rate)
	}
	a, b := c[i-1], c[i]
	x := (rows - float64(a.Rows)) / float64(b.Rows-a.Rows)
	perWeight := (1-x)*over(float64(a.Rows), a.Rate) + x*over(float64(b.Rows), b.Rate)
	return flops / rows * perWeight
}

// Reading is the machine for steps that read so many bytes of weights over and over: a
// CPU's caches hold some of them. On GPUs it is the machine itself.
func (m *Machine) Reading(set unit.Bytes) *Machine {
	k := m.cluster.Device.Kernels
	if !m.vector || len(k.Streams) == 0 || m.options.UsePeak || set <= 0 {
		return m
	}
	c := *m
	c.floorRead = m.hbm
	for f := range unit.NumFormats {
		c.read[f] = streamRate(k.Streams, f, float64(set))
		c.floorRead = max(c.floorRead, c.read[f])
	}
	return &c
}

// streamRate is bytes/s of a format on a working set; 0 = not measured. A larger set is
// not read faster: where it was, others disturbed the measurement of the smaller one.
func streamRate(list []hw.Stream, f unit.Format, set float64) float64 {
	var below, above hw.Stream // nearest, with the best rate of those above
	for _, s := range list {
		switch {
		case s.Format != f:
		case s.Bytes < set:
			if s.Bytes > below.Bytes {
				below = s
			}
		default:
			if above.Bytes == 0 || s.Bytes < above.Bytes {
				above.Bytes = s.Bytes
			}
			above.Rate = max(above.Rate, s.Rate)
		}
	}
	switch {
	case above.Bytes == 0:
		return below.Rate
	case below.Bytes == 0:
		return above.Rate
	}
	below.Rate = max(below.Rate, above.Rate)
	x := math.Log(set/below.Bytes) / math.Log(above.Bytes/below.Bytes)
	return 1 / ((1-x)/below.Rate + x/above.Rate)
}

// rowProduct prices a product, or the products of all groups, on vector units.
func (m *Machine) rowProduct(op *work.Op) Price {
	weights, rows := op.Format, float64(op.M)
	if op.Stored != 0 {
		weights = op.Stored
	}
	if op.Touched > 0 {
		rows = max(op.Rows/op.Touched, 1)
	}
	memory := over(float64(op.Bytes), m.hbm)
	first := 0.0             // by how much longer one row waits for memory than several
	ends := 1.0              // of rows of weights, as a share of all
	single := max(2-rows, 0) // of the rows: experts have 1.3 on the mean
	if read := m.read[weights]; read > 0 {
		first = over(float64(op.Bytes), read) - memory
		ends = max(1-single*float64(op.K)/hw.StreamColumns, 0)
	}
	usual := m.matrix[op.Format]
	compute := m.rows[weights].seconds(float64(op.FLOPs), rows, usual)
	// Matrices of three dimensions, as those of attention heads, are laid out anew for experts alone.
	if b := &m.blocks[weights]; b.rows > 0 && rows > 2 && (op.Groups <= 1 || op.Touched > 0) {
		compute = b.seconds(m.rows[weights], float64(op.FLOPs), rows, usual, first, op.Touched > 0)
	}
	compute += ends * over(float64(op.FLOPs), 2*float64(op.K)) * float64(m.rowEnd[weights])
	return m.inOrder(op, compute, usual, memory+single*first)
}

// inOrder prices an operation whose memory and compute times add up.
func (m *Machine) inOrder(op *work.Op, compute, rate, memory float64) Price {
	f := float64(op.FLOPs)
	return m.price(kernel{flops: f, bytes: float64(op.Bytes), ceiling: rate, executed: f, rate: over(f, compute), compute: compute, memory: memory, overlap: 1})
}
