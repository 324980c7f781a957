//go:build !linux

package wire

import "net"

// Conn is the connection itself.
func Conn(c net.Conn) net.Conn { return c }
