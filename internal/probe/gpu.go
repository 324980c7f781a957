package probe

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/record"
)

// GPU is what to measure on NVIDIA GPUs. The libraries are loaded at run time; the
// zero value takes the defaults.
type GPU struct {
	Size    int   // M = N = K of the products; 0 = 8192
	Bytes   int64 // of copies and of the largest collective; 0 = 256 MiB
	Repeats int   // of every measurement; 0 = 7
	Done    func(done, all int)
	// Libraries replaces files by name: cuda, cublas, nvml, nccl, ffi. Tests name stand-ins.
	Libraries map[string]string
}

func (g *GPU) defaults() {
	g.Size, g.Repeats = orDefault(g.Size, 8192), orDefault(g.Repeats, 7)
	if g.Bytes == 0 {
		g.Bytes = 256 << 20
	}
}

// Check refuses what cannot be measured.
func (g *GPU) Check() error {
	switch {
	case g.Size != 0 && (g.Size < 16 || g.Size > 1<<16):
		return fmt.Errorf("products of size %d: give 16 to 65536", g.Size)
	case g.Bytes != 0 && (g.Bytes < 4096 || g.Bytes > 1<<36):
		return fmt.Errorf("copies of %d bytes: give 4 KiB to 64 GiB", g.Bytes)
	case g.Repeats < 0 || g.Repeats > 1000:
		return fmt.Errorf("%d repeats: give 1 to 1000", g.Repeats)
	}
	return nil
}

// Run measures all GPUs; a cancelled context ends it after the measurement that runs,
// with Partial set. A library that is not there costs its measurements and is noted,
// except the driver's, without which there is no GPU.
func (g *GPU) Run(ctx context.Context, rec *record.Record) error {
	if err := g.Check(); err != nil {
		return err
	}
	g.defaults()
	return g.run(ctx, rec)
}
