package netlab

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Up makes the hosts. It needs root, and leaves nothing behind where it fails.
func (h *Hosts) Up() (err error) {
	if err := h.check(); err != nil {
		return err
	}
	var spaces [2]netns.NsHandle
	for i, name := range h.names() {
		if spaces[i], err = newNamed(name); err != nil {
			if i > 0 {
				err = errors.Join(err, netns.DeleteNamed(h.names()[0]))
			}
			return fmt.Errorf("namespace %s: %w", name, err)
		}
		defer spaces[i].Close()
	}
	if err = h.join(spaces); err != nil {
		return errors.Join(err, h.Down())
	}
	return nil
}

// newNamed makes a namespace; the calling thread comes back to its own.
func newNamed(name string) (netns.NsHandle, error) {
	if at, err := netns.GetFromName(name); err == nil {
		_ = at.Close()
		return netns.None(), errors.New("exists already: take another name, or remove it with `netlab hosts down`")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	if err != nil {
		return netns.None(), err
	}
	defer home.Close()
	made, err := netns.NewNamed(name)
	if back := netns.Set(home); back != nil {
		panic(back) // this thread would go on in the wrong network
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: network namespaces need root", err)
	}
	return made, err
}

// join puts a pair of interfaces between the namespaces and shapes both.
func (h *Hosts) join(spaces [2]netns.NsHandle) error {
	names := h.names()
	var at [2]*netlink.Handle
	for i := range at {
		var err error
		if at[i], err = netlink.NewHandleAt(spaces[i]); err != nil {
			return err
		}
		defer at[i].Close()
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = names[0]
	if err := at[0].LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: names[1], PeerNamespace: netlink.NsFd(spaces[1])}); err != nil {
		return fmt.Errorf("veth pair: %w", err)
	}
	for i, shape := range []Shape{h.Link.Up, h.Link.Down} {
		for _, name := range []string{"lo", names[i]} {
			link, err := at[i].LinkByName(name)
			if err != nil {
				return fmt.Errorf("interface %s: %w", name, err)
			}
			if name != "lo" {
				ip := &net.IPNet{IP: net.IP([]([]byte){AddressA.AsSlice(), AddressB.AsSlice()}[i]), Mask: net.CIDRMask(addressBits, 32)}
				if err := at[i].AddrAdd(link, &netlink.Addr{IPNet: ip}); err != nil {
					return fmt.Errorf("address of %s: %w", name, err)
				}
				if err := shapeInterface(at[i], link.Attrs().Index, shape); err != nil {
					return err
				}
			}
			if err := at[i].LinkSetUp(link); err != nil {
				return fmt.Errorf("interface %s: %w", name, err)
			}
		}
	}
	return nil
}

// Down removes the hosts; interfaces go with their namespaces.
func (h *Hosts) Down() error {
	if err := h.check(); err != nil {
		return err
	}
	var errs []error
	for _, name := range h.names() {
		if err := netns.DeleteNamed(name); err != nil {
			errs = append(errs, fmt.Errorf("namespace %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// Run runs a command on the host a or b.
func (h *Hosts) Run(host string, cmd *exec.Cmd) error {
	if err := h.check(); err != nil {
		return err
	}
	if host != "a" && host != "b" {
		return fmt.Errorf("host %q: the two are a and b", host)
	}
	to, err := netns.GetFromName(h.Name + "-" + host)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("host %s of %s is not there: make both with `netlab hosts up`", host, h.Name)
	} else if err != nil {
		return err
	}
	defer to.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	if err != nil {
		return err
	}
	defer home.Close()
	if err := netns.Set(to); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: entering a network namespace needs root", err)
		}
		return err
	}
	err = cmd.Start() // a child is born where its thread is
	if back := netns.Set(home); back != nil {
		panic(back) // this thread would go on in the wrong network
	}
	if err != nil {
		return err
	}
	return cmd.Wait()
}
