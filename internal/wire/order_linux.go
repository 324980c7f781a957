//go:build !race

package wire

// ordered is for the detector of races.
func ordered(int) {}
