package wire

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A gate is between a loop's epoll instance and Go's poller, and open only while the loop waits. Without
// it each piece would wake the thread that waits in the poller, though the loop is about to ask anyway.
type gate struct {
	watched int // the loop's epoll instance
	file    *os.File
	ready   syscall.RawConn // of the gate's own instance
	fd      int
}

func newGate(watched int) (g gate, err error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return g, os.NewSyscallError("epoll_create1", err)
	}
	g = gate{watched: watched, fd: fd}
	if err = unix.SetNonblock(fd, true); err != nil { // else Go's poller takes it not
		unix.Close(fd)
		return g, os.NewSyscallError("fcntl", err)
	}
	g.file = os.NewFile(uintptr(fd), "epoll")
	if err = g.file.SetReadDeadline(time.Time{}); err == nil { // it is in the poller
		g.ready, err = g.file.SyscallConn()
	}
	if err == nil {
		err = g.set(unix.EPOLL_CTL_ADD)
	}
	if err != nil {
		g.file.Close()
	}
	return g, err
}

// set opens the gate, until one event went through.
func (g *gate) set(op int) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(g.fd, op, g.watched, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT}))
}

// wait calls serve, and again whenever something happened since serve returned, for ever.
func (g *gate) wait(serve func()) error {
	event := make([]unix.EpollEvent, 1)
	var err error
	waited := g.ready.Read(func(uintptr) bool {
		if _, err = unix.EpollWait(g.fd, event, 0); err != nil { // it shuts the gate
			err = os.NewSyscallError("epoll_wait", err)
			return true
		}
		serve()
		err = g.set(unix.EPOLL_CTL_MOD)
		return err != nil
	})
	if err == nil {
		err = waited
	}
	return err
}
