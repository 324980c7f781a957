//go:build amd64 || arm64

package probe

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ridgeline/ridgeline/internal/record"
)

// session is one probe of all GPUs on one thread, which CUDA contexts are bound to.
type session struct {
	*GPU
	cuda     *cuda
	rec      *record.Record
	ctx      context.Context
	contexts []uintptr
	nvml     *nvml // nil = not there
	done     int
}

func (g *GPU) run(ctx context.Context, rec *record.Record) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := g.cuda()
	if err != nil {
		return err
	}
	s := &session{GPU: g, cuda: c, rec: rec, ctx: ctx}
	if err := s.devices(); err != nil {
		return err
	}
	s.nvml, err = g.newNVML(rec)
	s.note("clocks and power", err)
	for _, part := range []struct {
		what string
		run  func() error
	}{{"products", s.products}, {"FP8 products", s.productsFP8}, {"copies", s.copies}, {"peer copies", s.peers}, {"collectives", s.collectives}} {
		if ctx.Err() != nil {
			break
		}
		s.note(part.what, part.run())
		s.done++
		if g.Done != nil {
			g.Done(s.done, 5)
		}
	}
	rec.Partial = ctx.Err() != nil
	if len(rec.Results) == 0 && !rec.Partial {
		return fmt.Errorf("nothing could be measured: %v", rec.Notes)
	}
	return nil
}

// note keeps why a part is missing.
func (s *session) note(what string, err error) {
	if err != nil && s.ctx.Err() == nil {
		s.rec.Notes = append(s.rec.Notes, fmt.Sprintf("%s not measured: %v", what, err))
	}
}

// devices names the GPUs and opens a context on each.
func (s *session) devices() error {
	var n, version int32
	if err := failed("cuDeviceGetCount", s.cuda.count(&n)); err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("the driver sees no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES")
	}
	if failed("", s.cuda.version(&version)) == nil {
		s.rec.Machine.Libraries = append(s.rec.Machine.Libraries, fmt.Sprintf("CUDA driver API %d.%d", version/1000, version%1000/10))
	}
	for i := range n {
		var d int32
		var c uintptr
		buf := make([]byte, 256)
		if err := failed("cuDeviceGet", s.cuda.device(&d, i)); err != nil {
			return err
		}
		if err := failed("cuDeviceGetName", s.cuda.name(&buf[0], int32(len(buf)), d)); err != nil {
			return err
		}
		if err := failed("cuDevicePrimaryCtxRetain", s.cuda.retain(&c, d)); err != nil {
			return err
		}
		s.rec.Machine.GPUs = append(s.rec.Machine.GPUs, text(buf))
		s.contexts = append(s.contexts, c)
	}
	return nil
}

// on makes a device current.
func (s *session) on(i int) error {
	return failed("cuCtxSetCurrent", s.cuda.current(s.contexts[i]))
}

// buffer is device memory, freed by the caller.
func (s *session) buffer(n int64) (address, error) {
	var p address
	return p, failed(fmt.Sprintf("cuMemAlloc of %d bytes", n), s.cuda.alloc(&p, uint64(n)))
}

// measure repeats run, warmed up once, and adds the result of amount per second, or
// of seconds where amount is 0; clocks and power are read while it goes on.
func (s *session) measure(r record.Result, device int, amount float64, run func() error) error {
	if err := run(); err != nil {
		return err
	}
	var samples []float64
	for range s.Repeats {
		t, err := s.cuda.timed(run)
		if err != nil {
			return err
		}
		if amount > 0 {
			t = amount / t
		}
		samples = append(samples, t)
		if s.ctx.Err() != nil {
			break
		}
	}
	if s.nvml != nil {
		if err := run(); err != nil { // under way while they are read
			return err
		}
		r.ClockHz, r.PowerW = s.nvml.read(device)
		if err := failed("cuCtxSynchronize", s.cuda.synchronize()); err != nil {
			return err
		}
	}
	if r.Device == "" {
		r.Device = fmt.Sprintf("gpu%d", device)
	}
	r.Summarize(samples)
	s.rec.Results = append(s.rec.Results, r)
	return s.ctx.Err()
}

// copies measures each GPU's own memory (read and written: twice the bytes) and the
// way from and to pinned host memory.
func (s *session) copies() error {
	for i := range s.contexts {
		if err := s.on(i); err != nil {
			return err
		}
		if err := s.copiesOf(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) copiesOf(device int) error {
	n := uint64(s.Bytes)
	a, err := s.buffer(s.Bytes)
	if err != nil {
		return err
	}
	defer s.cuda.free(a)
	b, err := s.buffer(s.Bytes)
	if err != nil {
		return err
	}
	defer s.cuda.free(b)
	var host unsafe.Pointer
	if err := failed("cuMemAllocHost", s.cuda.allocHost(&host, n)); err != nil {
		return err
	}
	defer s.cuda.freeHost(host)
	r := record.Result{Kind: record.Copy, Unit: "bytes/s", Bytes: s.Bytes}
	for _, c := range []struct {
		what, how string
		amount    float64
		run       func() int32
	}{
		{"device", "cuMemcpyDtoD, read and written", 2 * float64(n), func() int32 { return s.cuda.within(b, a, n) }},
		{"host-to-device", "cuMemcpyHtoD, pinned", float64(n), func() int32 { return s.cuda.toDevice(a, host, n) }},
		{"device-to-host", "cuMemcpyDtoH, pinned", float64(n), func() int32 { return s.cuda.toHost(host, a, n) }},
	} {
		r.What, r.Kernel = c.what, c.how
		if err := s.measure(r, device, c.amount, func() error { return failed(c.how, c.run()) }); err != nil {
			return err
		}
	}
	return nil
}

// peers measures the copy from the first GPU to each other one.
func (s *session) peers() error {
	for j := 1; j < len(s.contexts); j++ {
		var can int32
		if err := failed("cuDeviceCanAccessPeer", s.cuda.canPeer(&can, 0, int32(j))); err != nil {
			return err
		}
		how := "cuMemcpyPeer through the host"
		if can == 1 {
			how = "cuMemcpyPeer"
		}
		if err := s.peer(j, can == 1, how); err != nil {
			return err
		}
	}
	return nil
}

// alreadyEnabled is CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED.
const alreadyEnabled = 704

func (s *session) peer(j int, direct bool, how string) error {
	if err := s.on(j); err != nil {
		return err
	}
	b, err := s.buffer(s.Bytes)
	if err != nil {
		return err
	}
	defer s.cuda.free(b)
	if err := s.on(0); err != nil {
		return err
	}
	if direct {
		if code := s.cuda.enable(s.contexts[j], 0); code != alreadyEnabled {
			if err := failed("cuCtxEnablePeerAccess", code); err != nil {
				return err
			}
		}
	}
	a, err := s.buffer(s.Bytes)
	if err != nil {
		return err
	}
	defer s.cuda.free(a)
	r := record.Result{Kind: record.Copy, What: "device-to-device", Unit: "bytes/s", Bytes: s.Bytes, Kernel: how, Device: fmt.Sprintf("gpu0-gpu%d", j)}
	return s.measure(r, 0, float64(s.Bytes), func() error {
		return failed("cuMemcpyPeer", s.cuda.peer(b, s.contexts[j], a, s.contexts[0], uint64(s.Bytes)))
	})
}
