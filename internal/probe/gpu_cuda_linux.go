//go:build amd64 || arm64

package probe

import (
	"fmt"
	"unsafe"
)

// The handles of the CUDA driver API, and a device address.
type (
	address uint64
	event   uintptr
)

// cuda is the part of the driver API that probes need; every call returns a CUresult.
type cuda struct {
	start       func(flags uint32) int32
	version     func(v *int32) int32
	count       func(n *int32) int32
	device      func(d *int32, ordinal int32) int32
	name        func(buf *byte, n, device int32) int32
	memory      func(bytes *uint64, device int32) int32
	retain      func(context *uintptr, device int32) int32
	current     func(context uintptr) int32
	alloc       func(p *address, n uint64) int32
	free        func(p address) int32
	allocHost   func(p *unsafe.Pointer, n uint64) int32
	freeHost    func(p unsafe.Pointer) int32
	toDevice    func(to address, from unsafe.Pointer, n uint64) int32
	toHost      func(to unsafe.Pointer, from address, n uint64) int32
	within      func(to, from address, n uint64) int32
	peer        func(to address, toContext uintptr, from address, fromContext uintptr, n uint64) int32
	canPeer     func(can *int32, device, other int32) int32
	enable      func(context uintptr, flags uint32) int32
	newEvent    func(e *event, flags uint32) int32
	mark        func(e event, stream uintptr) int32
	wait        func(e event) int32
	elapsed     func(ms *float32, from, to event) int32
	synchronize func() int32
}

func (g *GPU) cuda() (*cuda, error) {
	l, err := g.load("cuda")
	if err != nil {
		return nil, fmt.Errorf("no NVIDIA driver: %w", err)
	}
	c := &cuda{}
	err = l.bind(map[string]any{"cuInit": &c.start, "cuDriverGetVersion": &c.version, "cuDeviceGetCount": &c.count, "cuDeviceGet": &c.device, "cuDeviceGetName": &c.name,
		"cuDeviceTotalMem_v2": &c.memory, "cuDevicePrimaryCtxRetain": &c.retain, "cuCtxSetCurrent": &c.current, "cuMemAlloc_v2": &c.alloc, "cuMemFree_v2": &c.free,
		"cuMemAllocHost_v2": &c.allocHost, "cuMemFreeHost": &c.freeHost, "cuMemcpyHtoD_v2": &c.toDevice, "cuMemcpyDtoH_v2": &c.toHost, "cuMemcpyDtoD_v2": &c.within,
		"cuMemcpyPeer": &c.peer, "cuDeviceCanAccessPeer": &c.canPeer, "cuCtxEnablePeerAccess": &c.enable, "cuEventCreate": &c.newEvent, "cuEventRecord": &c.mark,
		"cuEventSynchronize": &c.wait, "cuEventElapsedTime": &c.elapsed, "cuCtxSynchronize": &c.synchronize})
	if err == nil {
		err = failed("cuInit", c.start(0))
	}
	return c, err
}

// failed is the error of a call of any of the libraries, all of which return 0 for success.
func failed(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s returns error %d", call, code)
}

// timed is the seconds between events around run on the default stream.
func (c *cuda) timed(run func() error) (float64, error) {
	var from, to event
	var ms float32
	for _, e := range []*event{&from, &to} {
		if err := failed("cuEventCreate", c.newEvent(e, 0)); err != nil {
			return 0, err
		}
	}
	if err := failed("cuEventRecord", c.mark(from, 0)); err != nil {
		return 0, err
	}
	if err := run(); err != nil {
		return 0, err
	}
	if err := failed("cuEventRecord", c.mark(to, 0)); err != nil {
		return 0, err
	}
	if err := failed("cuEventSynchronize", c.wait(to)); err != nil {
		return 0, err
	}
	err := failed("cuEventElapsedTime", c.elapsed(&ms, from, to))
	if err == nil && !(ms > 0) {
		err = fmt.Errorf("a measurement took %g ms: give larger --size or --copy", ms)
	}
	return float64(ms) / 1e3, err
}

// text is a C string in a buffer.
func text(buf []byte) string {
	for i, b := range buf {
		if b == 0 {
			return string(buf[:i])
		}
	}
	return string(buf)
}
