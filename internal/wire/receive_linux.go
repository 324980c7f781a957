package wire

import (
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reader reads sockets that do not block, with the time at which the system got the bytes.
// It never waits, so that Go's scheduler need not hear of it, and what the call takes stays in its
// place: a read costs one system call.
type reader struct {
	buf     []byte
	header  unix.Msghdr
	vector  unix.Iovec
	control struct { // of SO_TIMESTAMPNS (socket(7)), laid out as cmsg(3) says
		unix.Cmsghdr
		stamp unix.Timespec
	}
	clock   clock // of the turn
	between gaps

	// What was read since the turn began.
	pieces int
	oldest time.Time // when the first of them came
	told   bool      // the system told when each came
}

// readers are for reads outside the loops.
var readers = sync.Pool{New: func() any { return &reader{buf: make([]byte, 4<<10)} }}

// begin starts a turn.
func (r *reader) begin() {
	r.clock.read()
	r.pieces, r.told = 0, true
}

// note keeps when a piece came, to the end of the turn.
func (r *reader) note(came time.Time) {
	if r.pieces++; r.pieces == 1 || came.Before(r.oldest) {
		r.oldest = came
	}
}

// end notes how late the pieces were consumed, and gives the turn's length.
func (r *reader) end() time.Duration {
	took := time.Since(r.clock.now)
	if r.pieces > 0 {
		raise(&behind, took+r.clock.now.Sub(r.oldest))
	}
	return took
}

// receive reads into b, which is not empty. stamp is when the last of the bytes came, on the
// wall clock in ns, 0 where the system does not tell.
func (r *reader) receive(fd int, b []byte) (n int, stamp int64, err error) {
	r.vector.Base = &b[0]
	r.vector.SetLen(len(b))
	r.header.Iov = &r.vector
	r.header.SetIovlen(1)
	for {
		r.header.Control = (*byte)(unsafe.Pointer(&r.control))
		r.header.SetControllen(int(unsafe.Sizeof(r.control)))
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.header)), unix.MSG_DONTWAIT)
		switch {
		case errno == unix.EINTR:
			continue
		case errno != 0:
			return 0, 0, errno
		}
		ordered(fd)
		told := uintptr(r.header.Controllen) >= unsafe.Offsetof(r.control.stamp)+unsafe.Sizeof(r.control.stamp)
		if told && r.control.Level == unix.SOL_SOCKET && r.control.Type == unix.SO_TIMESTAMPNS {
			stamp = r.control.stamp.Nano()
		}
		return int(got), stamp, nil
	}
}
