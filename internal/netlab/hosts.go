package netlab

import (
	"errors"
	"fmt"
	"net/netip"
)

// Hosts are two hosts made of one: network namespaces with a link between them.
// They outlast the program that made them, until Down.
type Hosts struct {
	Name string // they are called NAME-a and NAME-b
	// Link is a's view: Up is from a to b. Delays need netem in the kernel.
	Link Link
}

// Addresses of the two hosts, of the block for tests of networks (RFC 2544).
var (
	AddressA = netip.MustParseAddr("198.18.0.1")
	AddressB = netip.MustParseAddr("198.18.0.2")
)

// addressBits is the length of their prefix.
const addressBits = 30

// ErrNoNetem says that delays of the kernel are not to be had.
var ErrNoNetem = errors.New("this kernel has no netem: put the proxy (`netlab --listen A --to B --delay D`) between the hosts instead")

// ErrOtherSystem says that the system has no network namespaces.
var ErrOtherSystem = errors.New("network namespaces are Linux's: use the proxy (`netlab --listen A --to B`) on this system")

// maxName keeps the names of interfaces within 15 bytes.
const maxName = 11

// check says what is wrong.
func (h *Hosts) check() error {
	if h.Name == "" || len(h.Name) > maxName {
		return fmt.Errorf("name %q: give 1 to %d letters", h.Name, maxName)
	}
	for _, c := range h.Name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return fmt.Errorf("name %q: use a-z, 0-9 and -", h.Name)
		}
	}
	return h.Link.Check()
}

// names are the hosts', which are those of their interfaces too.
func (h *Hosts) names() [2]string { return [2]string{h.Name + "-a", h.Name + "-b"} }
