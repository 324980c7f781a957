package netlab

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/vishvananda/netlink"
)

// shapeInterface makes what leaves an interface keep to the shape.
func shapeInterface(at *netlink.Handle, index int, s Shape) error {
	switch {
	case s.Delay > 0:
		return delayInterface(at, index, s)
	case s.Rate > 0:
		return limitInterface(at, index, s.Rate)
	}
	return nil
}

// root is the one discipline of an interface.
func root(index int) netlink.QdiscAttrs {
	return netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
}

// netemPackets is netem's queue: enough for 100 Gb/s in packets of 1500 bytes over
// 10 ms.
const netemPackets = 100_000

// delayInterface uses netem; ErrNoNetem where the kernel lacks it.
func delayInterface(at *netlink.Handle, index int, s Shape) error {
	micros := func(d time.Duration) uint32 {
		return uint32(min(math.Ceil(float64(d)/float64(time.Microsecond)), math.MaxUint32))
	}
	q := netlink.NewNetem(root(index), netlink.NetemQdiscAttrs{Latency: micros(s.Delay), Jitter: micros(s.Jitter), Limit: netemPackets, Rate64: uint64(s.Rate)})
	err := at.QdiscAdd(q)
	if errors.Is(err, fs.ErrNotExist) { // ENOENT: no such discipline
		return ErrNoNetem
	}
	if err != nil {
		return fmt.Errorf("netem: %w", err)
	}
	return nil
}

// Of the token bucket: how much may go at once, at least a large segment, and how
// long a packet may wait.
const (
	burstTime  = time.Millisecond
	leastBurst = 64 << 10 // bytes
	longest    = 50 * time.Millisecond
)

// limitInterface uses the token bucket filter.
func limitInterface(at *netlink.Handle, index int, rate float64) error {
	burst := max(rate*burstTime.Seconds(), leastBurst)
	ticks := burst / rate * netlink.TIME_UNITS_PER_SEC * netlink.TickInUsec()
	q := &netlink.Tbf{QdiscAttrs: root(index), Rate: uint64(rate), Buffer: uint32(min(ticks, math.MaxUint32)),
		Limit: uint32(min(burst+rate*longest.Seconds(), math.MaxUint32))}
	if err := at.QdiscAdd(q); err != nil {
		return fmt.Errorf("token bucket: %w", err)
	}
	return nil
}
