package wire

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What io_uring(7) and linux/io_uring.h say.
const (
	opReceive  = 10         // IORING_OP_RECVMSG
	atSlots    = 0x10000000 // IORING_OFF_SQES, where submissions are mapped
	oneMapping = 1          // IORING_FEAT_SINGLE_MMAP, of both queues
	whenDone   = 1          // IORING_ENTER_GETEVENTS
)

// offsets of a queue's parts in its mapping: io_sqring_offsets and io_cqring_offsets up to where they differ.
type offsets struct{ Head, Tail, Mask, Entries uint32 }

// parameters is io_uring_params.
type parameters struct {
	Submissions, Completions, Flags, CPU, Idle, Features, Workers uint32

	_      [3]uint32
	Submit struct {
		offsets
		Flags, Dropped, Array, _ uint32
		_                        uint64
	}
	Complete struct {
		offsets
		Overflow, Entries, Flags, _ uint32
		_                           uint64
	}
}

// submission is an io_uring_sqe of recvmsg(2).
type submission struct {
	Op      uint8
	_       [3]uint8
	FD      int32
	_       uint64
	Message uint64 // the address of its header
	Headers uint32
	Flags   uint32
	Number  uint64
	_       [3]uint64
}

// completion is an io_uring_cqe.
type completion struct {
	Number uint64
	Result int32 // bytes, or an error below 0
	_      uint32
}

// A ring reads many sockets in one call: what a call costs by itself is paid once for all of them. One
// goroutine uses it at a time.
type ring struct {
	fd             int
	queues, slots  []byte // mapped
	submissions    []submission
	order          []uint32 // of the submissions
	completions    []completion
	submitted      *uint32 // how many ever
	taken, arrived *uint32 // completions
}

// newRing makes a ring for so many reads at once, a power of two. It fails where the system has none, or refuses
// them, as in many containers.
func newRing(reads int) (*ring, error) {
	var p parameters
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(reads), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("io_uring_setup", errno)
	}
	r := &ring{fd: int(fd)}
	err := errors.New("io_uring: Linux before 5.4")
	if p.Features&oneMapping != 0 && int(p.Submissions) == reads {
		err = r.mapped(&p)
	}
	if err == nil {
		err = r.trial()
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ring) mapped(p *parameters) (err error) {
	const access, shared = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	ends := max(uintptr(p.Submit.Array)+4*uintptr(p.Submissions), uintptr(p.Complete.Entries)+uintptr(p.Completions)*unsafe.Sizeof(completion{}))
	if r.queues, err = unix.Mmap(r.fd, 0, int(ends), access, shared); err != nil {
		return os.NewSyscallError("mmap", err)
	}
	if r.slots, err = unix.Mmap(r.fd, atSlots, int(uintptr(p.Submissions)*unsafe.Sizeof(submission{})), access, shared); err != nil {
		return os.NewSyscallError("mmap", err)
	}
	word := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.queues[offset])) }
	r.submissions = unsafe.Slice((*submission)(unsafe.Pointer(&r.slots[0])), p.Submissions)
	r.order = unsafe.Slice(word(p.Submit.Array), p.Submissions)
	r.completions = unsafe.Slice((*completion)(unsafe.Pointer(&r.queues[p.Complete.Entries])), p.Completions)
	r.submitted, r.taken, r.arrived = word(p.Submit.Tail), word(p.Complete.Head), word(p.Complete.Tail)
	return nil
}

// trial makes sure that a read never waits: one of an empty socket has to say so at once.
func (r *ring) trial() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	p := piece{buf: make([]byte, 1)}
	p.into(p.buf)
	if err := r.receive([]int{pair[0]}, []*piece{&p}); err != nil {
		return err
	}
	if p.err != unix.EAGAIN {
		return fmt.Errorf("io_uring: reading an empty socket: %v", p.err)
	}
	return nil
}

// receive reads each socket once, into its piece. An error is of the ring, which is of no use then.
func (r *ring) receive(fds []int, pieces []*piece) error {
	tail := *r.submitted
	for i, fd := range fds {
		at := (tail + uint32(i)) % uint32(len(r.submissions))
		r.submissions[at] = submission{Op: opReceive, FD: int32(fd), Message: uint64(uintptr(unsafe.Pointer(&pieces[i].header))), Headers: 1, Flags: unix.MSG_DONTWAIT, Number: uint64(i)}
		r.order[at] = at
	}
	atomic.StoreUint32(r.submitted, tail+uint32(len(fds)))
	// MSG_DONTWAIT completes each read within the call, so that the system never writes into a piece later.
	for left := len(fds); left > 0; {
		n, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(left), 0, whenDone, 0, 0)
		switch errno {
		case 0:
			left -= int(n)
		case unix.EINTR, unix.EAGAIN, unix.EBUSY: // it ran short of memory for a moment
		default:
			return os.NewSyscallError("io_uring_enter", errno)
		}
	}
	first, last := *r.taken, atomic.LoadUint32(r.arrived)
	if int(last-first) != len(fds) {
		return fmt.Errorf("io_uring: %d of %d reads completed at once", last-first, len(fds))
	}
	for ; first != last; first++ {
		done := r.completions[first%uint32(len(r.completions))]
		pieces[done.Number].took(int(done.Result))
	}
	atomic.StoreUint32(r.taken, first)
	return nil
}

func (r *ring) close() {
	for _, m := range [][]byte{r.queues, r.slots} {
		if m != nil {
			unix.Munmap(m)
		}
	}
	unix.Close(r.fd)
}
