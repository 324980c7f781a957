package wire

// blank finds blank lines in a stream that comes in pieces; a line ends in LF or CR LF.
type blank struct {
	begins bool // a line begins here, or one that holds a CR so far
	cr     bool
	ended  bool // what came last was a blank line, and nothing since
}

// cut is the length of b up to the end of its first blank line, or all of it.
func (s *blank) cut(b []byte) int {
	s.ended = false
	for i, x := range b {
		switch {
		case x == '\n' && s.begins:
			s.cr, s.ended = false, true
			return i + 1
		case x == '\n':
			s.begins, s.cr = true, false
		case x == '\r' && s.begins && !s.cr:
			s.cr = true
		default:
			s.begins, s.cr = false, false
		}
	}
	return len(b)
}
