//go:build !linux

package netlab

import "os/exec"

// Up makes the hosts.
func (h *Hosts) Up() error { return ErrOtherSystem }

// Down removes them.
func (h *Hosts) Down() error { return ErrOtherSystem }

// Run runs a command on the host a or b.
func (h *Hosts) Run(string, *exec.Cmd) error { return ErrOtherSystem }
