//go:build amd64 || arm64

package probe

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/record"
)

// nccl is the part of NCCL that probes need (nccl.h).
type nccl struct {
	version       func(v *int32) int32
	all           func(comms *uintptr, n int32, devices *int32) int32
	destroy       func(comm uintptr) int32
	begin, end    func() int32
	allReduce     func(send, receive address, count uint64, kind, op int32, comm, stream uintptr) int32
	allGather     func(send, receive address, count uint64, kind int32, comm, stream uintptr) int32
	reduceScatter func(send, receive address, count uint64, kind, op int32, comm, stream uintptr) int32
}

const (
	ncclFloat = 7 // ncclFloat32
	ncclSum   = 0
)

// collectives measures each collective by size over all GPUs of this host, in one
// process; Bytes is nccl-tests' size, the whole tensor.
func (s *session) collectives() error {
	n := len(s.contexts)
	if n < 2 {
		return nil // nothing to exchange
	}
	l, err := s.load("nccl")
	if err != nil {
		return err
	}
	c := &nccl{}
	if err := l.bind(map[string]any{"ncclGetVersion": &c.version, "ncclCommInitAll": &c.all, "ncclCommDestroy": &c.destroy, "ncclGroupStart": &c.begin, "ncclGroupEnd": &c.end,
		"ncclAllReduce": &c.allReduce, "ncclAllGather": &c.allGather, "ncclReduceScatter": &c.reduceScatter}); err != nil {
		return err
	}
	var version int32
	if failed("", c.version(&version)) == nil {
		s.rec.Machine.Libraries = append(s.rec.Machine.Libraries, fmt.Sprintf("NCCL %d", version))
	}
	comms := make([]uintptr, n)
	if err := failed("ncclCommInitAll", c.all(&comms[0], int32(n), nil)); err != nil {
		return err
	}
	var send, receive []address
	defer func() {
		for i := range comms {
			c.destroy(comms[i])
		}
		for i := range min(len(send), len(receive)) {
			if s.on(i) == nil {
				s.cuda.free(send[i])
				s.cuda.free(receive[i])
			}
		}
	}()
	for i := range n {
		if err := s.on(i); err != nil {
			return err
		}
		for _, to := range []*[]address{&send, &receive} {
			p, err := s.buffer(s.Bytes)
			if err != nil {
				return err
			}
			*to = append(*to, p)
		}
	}
	return s.sweep(c, comms, send, receive)
}

// sweep goes from 8 KiB up in steps of 8.
func (s *session) sweep(c *nccl, comms []uintptr, send, receive []address) error {
	n := uint64(len(comms))
	for _, k := range []struct {
		what string
		one  func(i int, count uint64) int32
	}{
		{"all-reduce", func(i int, count uint64) int32 {
			return c.allReduce(send[i], receive[i], count, ncclFloat, ncclSum, comms[i], 0)
		}},
		{"all-gather", func(i int, count uint64) int32 {
			return c.allGather(send[i], receive[i], count/n, ncclFloat, comms[i], 0)
		}},
		{"reduce-scatter", func(i int, count uint64) int32 {
			return c.reduceScatter(send[i], receive[i], count/n, ncclFloat, ncclSum, comms[i], 0)
		}},
	} {
		for bytes := int64(8 << 10); bytes <= s.Bytes; bytes *= 8 {
			count := uint64(bytes/4) / n * n
			r := record.Result{Kind: record.Collective, What: k.what, Unit: "s", Format: "fp32", Bytes: int64(4 * count), Ranks: int(n), Nodes: 1, Kernel: "NCCL, one process", Device: "all"}
			if err := s.on(0); err != nil {
				return err
			}
			err := s.measure(r, 0, 0, func() error {
				if err := failed("ncclGroupStart", c.begin()); err != nil {
					return err
				}
				for i := range comms {
					if err := failed(k.what, k.one(i, count)); err != nil {
						return err
					}
				}
				return failed("ncclGroupEnd", c.end())
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
