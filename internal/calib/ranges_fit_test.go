package calib

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/catalog"
)

// ranged tells whether a row is of those that ranges come from: two rows in four, as some
// tables alternate between two ways of launching.
func ranged(row int) bool { return row/2%2 == 1 }

// leastRange is how many rows a range needs of its own.
const leastRange = 50

// fitRanges measures how far measured times lie from predictions with the catalogue's
// constants, on half of the tables' rows: the others test it.
func fitRanges(paths []string) ([]Range, error) {
	ratios := map[Range][]float64{}
	for _, path := range paths {
		c, k, err := openRows(path)
		if err != nil {
			return nil, err
		}
		gpu, err := c.gpu(path)
		if err != nil {
			return nil, err
		}
		d, err := catalog.Device(gpu)
		if err != nil {
			return nil, err
		}
		m, err := tableMachine(gpu, engineName(path), k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		for i := range c.rows {
			var x sample
			if !ranged(i) || k.row(c, i, &x) != "" {
				continue
			}
			p := predict(m, nil, &x)
			if !(p > 0) || p > maxLatency {
				continue
			}
			key := Range{Arch: d.Arch, Engine: engineName(path), Kind: k.name}
			ratios[key] = append(ratios[key], x.seconds/p)
			if key.Kernel = kernelName(k, c, i); key.Kernel != "" {
				ratios[key] = append(ratios[key], x.seconds/p)
			}
		}
	}
	var list []Range
	for r, v := range ratios {
		if r.Kernel != "" && len(v) < leastRange {
			continue
		}
		slices.Sort(v)
		r.Rows, r.Low, r.High = len(v), round(v[len(v)/10]), round(v[len(v)-1-len(v)/10])
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Range) int { return slices.Compare(a.words(), b.words()) })
	return list, nil
}

func (r Range) words() []string { return []string{r.Arch, r.Engine, r.Kind, r.Kernel} }
