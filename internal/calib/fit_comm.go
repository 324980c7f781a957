package calib

import (
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
)

// collectives fits the latencies of one scale-up domain on the NCCL tables. The
// rates are the catalogue's, measured on large messages elsewhere.
func (f *fitter) collectives() error {
	sources, err := f.load("comm/nccl-*.parquet", 2, commSamples)
	if err != nil || len(sources) == 0 {
		return err
	}
	for _, s := range sources {
		d, err := catalog.Device(s.gpu)
		if err != nil {
			return err
		}
		s.cluster = &hw.Cluster{Name: s.gpu, Device: d, GPUs: d.DefaultNode.GPUs, Node: d.DefaultNode, Fabric: hw.Fabric{Oversubscription: 1}}
	}
	l := &f.kernels.Links
	start, hop, pair, chunk, sum := 5.0, 1.0, 7.0, 2.0, 20.0
	l.Own = 0.3
	knobs := []knob{{&start, 1, 30}, {&hop, 0, 6}, {&pair, 1, 30}, {&chunk, 0, 12}, {&sum, 0, 60}, {&l.Own, 0, 1}}
	return f.solve(&problem{what: "collectives", sources: sources, knobs: knobs, refresh: func() {
		l.Start, l.Hop, l.Pair, l.Chunk, l.Switch = us(start), us(hop), us(pair), us(chunk), us(sum)
	}})
}
