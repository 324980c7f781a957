package openai

// scanner walks through JSON (RFC 8259).
type scanner struct {
	data []byte
	at   int
}

// space passes blanks and gives the byte that follows, 0 at the end.
func (s *scanner) space() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take passes one byte, where it is the next that is no blank.
func (s *scanner) take(c byte) bool {
	if s.space() != c {
		return false
	}
	s.at++
	return true
}

// end tells whether only blanks are left.
func (s *scanner) end() bool { return s.space() == 0 && s.at == len(s.data) }

// null passes a null.
func (s *scanner) null() bool { return s.space() == 'n' && s.word("null") }

func (s *scanner) word(w string) bool {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// object calls value with every key, before which it stands; false from it ends the walk.
func (s *scanner) object(value func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, ok := s.text()
		if !ok || !s.take(':') || !value(key) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// text reads a string without escapes; it is of the data.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	from := s.at
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return s.data[from : s.at-1], true
		case c == '\\' || c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// add reads a string to the end of another.
func (s *scanner) add(to *string) bool {
	text, ok := s.text()
	switch {
	case *to == "":
		*to = string(text)
	case len(text) > 0:
		*to += string(text)
	}
	return ok
}

// count reads a whole number of at most nine digits.
func (s *scanner) count(to *int) bool {
	s.space()
	from, n := s.at, 0
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		n = 10*n + int(s.data[s.at]-'0')
		s.at++
	}
	digits := s.at - from
	if digits == 0 || digits > 9 || digits > 1 && s.data[from] == '0' {
		return false
	}
	*to = n
	return s.delimited()
}

// delimited tells whether a number or word ends here.
func (s *scanner) delimited() bool {
	switch s.space() {
	case ',', '}', ']', 0:
		return true
	}
	return false
}

// deepest is how far values that are passed over may be nested.
const deepest = 4

// skip passes a value: strings without escapes, whole numbers, words, and what is made
// of them.
func (s *scanner) skip(depth int) bool {
	if depth > deepest {
		return false
	}
	switch c := s.space(); c {
	case '"':
		_, ok := s.text()
		return ok
	case 'n':
		return s.word("null")
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case '{':
		return s.object(func([]byte) bool { return s.skip(depth + 1) })
	case '[':
		return s.list(depth)
	default:
		if c == '-' {
			s.at++
		}
		return s.digits()
	}
}

func (s *scanner) list(depth int) bool {
	s.at++
	if s.take(']') {
		return true
	}
	for s.skip(depth + 1) {
		if !s.take(',') {
			return s.take(']')
		}
	}
	return false
}

// digits passes a whole number, or one with a fraction; exponents are left to the full reader.
func (s *scanner) digits() bool {
	whole := s.run()
	if whole == 0 || whole > 1 && s.data[s.at-whole] == '0' {
		return false
	}
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		if s.run() == 0 {
			return false
		}
	}
	return s.delimited()
}

func (s *scanner) run() (n int) {
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
		n++
	}
	return n
}
