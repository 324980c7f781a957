//go:build amd64 || arm64

package probe

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/record"
)

// nvml is the part of NVML that probes need (nvml.h).
type nvml struct {
	start   func() int32
	driver  func(buf *byte, n uint32) int32
	handle  func(i uint32, h *uintptr) int32
	clock   func(h uintptr, which uint32, mhz *uint32) int32
	power   func(h uintptr, mw *uint32) int32
	handles []uintptr
}

// smClock is NVML_CLOCK_SM.
const smClock = 1

func (g *GPU) newNVML(rec *record.Record) (*nvml, error) {
	l, err := g.load("nvml")
	if err != nil {
		return nil, err
	}
	n := &nvml{}
	if err := l.bind(map[string]any{"nvmlInit_v2": &n.start, "nvmlSystemGetDriverVersion": &n.driver, "nvmlDeviceGetHandleByIndex_v2": &n.handle,
		"nvmlDeviceGetClockInfo": &n.clock, "nvmlDeviceGetPowerUsage": &n.power}); err != nil {
		return nil, err
	}
	if err := failed("nvmlInit", n.start()); err != nil {
		return nil, err
	}
	buf := make([]byte, 96)
	if failed("", n.driver(&buf[0], uint32(len(buf)))) == nil {
		rec.Machine.Driver = text(buf)
	}
	for i := range rec.Machine.GPUs {
		var h uintptr
		if err := failed(fmt.Sprintf("nvmlDeviceGetHandleByIndex %d", i), n.handle(uint32(i), &h)); err != nil {
			return nil, err
		}
		n.handles = append(n.handles, h)
	}
	return n, nil
}

// read is the SM clock and the power of a GPU now; 0 where it does not tell.
func (n *nvml) read(device int) (hz, watts float64) {
	var mhz, mw uint32
	if n.clock(n.handles[device], smClock, &mhz) == 0 {
		hz = float64(mhz) * 1e6
	}
	if n.power(n.handles[device], &mw) == 0 {
		watts = float64(mw) / 1e3
	}
	return hz, watts
}
