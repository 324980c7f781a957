package wire

import (
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// piece is what one read of a socket brings, with the time at which the system got the last of it. What the
// call takes stays in its place.
type piece struct {
	buf     []byte
	header  unix.Msghdr
	vector  unix.Iovec
	control struct { // of SO_TIMESTAMPNS (socket(7)), laid out as cmsg(3) says
		unix.Cmsghdr
		stamp unix.Timespec
	}

	n     int
	stamp int64 // on the wall clock, ns; 0 where the system does not tell
	err   error
}

// into has the next read go into b, which is not empty.
func (p *piece) into(b []byte) {
	p.vector.Base = &b[0]
	p.vector.SetLen(len(b))
	p.header.Iov = &p.vector
	p.header.SetIovlen(1)
	p.header.Control = (*byte)(unsafe.Pointer(&p.control))
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
}

// took is told how many bytes the read brought, or its error below 0.
func (p *piece) took(result int) {
	p.n, p.stamp, p.err = max(result, 0), 0, nil
	if result < 0 {
		p.err = unix.Errno(-result)
		return
	}
	told := uintptr(p.header.Controllen) >= unsafe.Offsetof(p.control.stamp)+unsafe.Sizeof(p.control.stamp)
	if told && p.control.Level == unix.SOL_SOCKET && p.control.Type == unix.SO_TIMESTAMPNS {
		p.stamp = p.control.stamp.Nano()
	}
}

// reader reads sockets that do not block. It never waits, so that Go's scheduler need not hear of it: a read
// costs one system call.
type reader struct {
	piece
	clock   clock // of the turn
	between gaps

	// What was read since the turn began.
	pieces int
	oldest time.Time // when the first of them came
	told   bool      // the system told when each came
}

// readers are for reads outside the loops.
var readers = sync.Pool{New: func() any { return &reader{piece: piece{buf: make([]byte, 4<<10)}} }}

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

// receive reads into b, which is not empty.
func (r *reader) receive(fd int, b []byte) *piece {
	for {
		r.into(b)
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.header)), unix.MSG_DONTWAIT)
		if errno == unix.EINTR {
			continue
		}
		r.took(max(int(n), 0) - int(errno))
		return &r.piece
	}
}
