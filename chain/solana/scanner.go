package solana

import "bytes"

// scanner reads one JSON value that a decoder has found valid. It makes no copies and allocates nothing. If it meets
// something unexpected, it sets failed, and the rest must not be used.
type scanner struct {
	data   []byte
	at     int
	failed bool
}

// kind returns the first character of the next value; 0 at the end.
func (s *scanner) kind() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// object calls member for each member of an object, with its name; member consumes the value. It skips a value of
// another kind.
func (s *scanner) object(member func(name []byte)) {
	if s.kind() != '{' {
		s.skip()
		return
	}
	for s.at++; !s.failed; {
		if c := s.kind(); c != '"' {
			s.close(c, '}')
			return
		}
		member(s.text())
	}
}

// array calls item at each item of an array; item consumes it. It skips a value of another kind.
func (s *scanner) array(item func()) {
	if s.kind() != '[' {
		s.skip()
		return
	}
	for s.at++; !s.failed; {
		if c := s.kind(); c == ']' || c == 0 {
			s.close(c, ']')
			return
		}
		item()
	}
}

func (s *scanner) close(found, want byte) {
	s.failed = s.failed || found != want
	s.at++
}

// text consumes a string and returns the bytes between its quotes. The strings read here never contain an escape: keys,
// signatures and the names of members.
func (s *scanner) text() []byte {
	if s.kind() != '"' {
		s.failed = true
		return nil
	}
	from := s.at + 1
	n := bytes.IndexByte(s.data[from:], '"')
	if n < 0 || bytes.IndexByte(s.data[from:from+n], '\\') >= 0 {
		s.failed = true
		return nil
	}
	s.at = from + n + 1
	return s.data[from : from+n]
}

// number consumes a natural number below 2^64.
func (s *scanner) number() uint64 {
	s.kind()
	from := s.at
	for s.at < len(s.data) && !ends(s.data[s.at]) {
		s.at++
	}
	n, ok := number(s.data[from:s.at])
	s.failed = s.failed || !ok
	return n
}

// number reads a natural number below 2^64.
func number(digits []byte) (uint64, bool) {
	if len(digits) == 0 || len(digits) > 20 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// truth consumes true or false.
func (s *scanner) truth() bool {
	c := s.kind()
	s.failed = s.failed || c != 't' && c != 'f'
	s.skip()
	return c == 't'
}

// skip consumes the next value of any kind.
func (s *scanner) skip() {
	switch s.kind() {
	case '"':
		s.skipText()
	case '{', '[':
		s.skipNested()
	default:
		for s.at < len(s.data) && !ends(s.data[s.at]) {
			s.at++
		}
	}
}

// ends reports whether a character ends a number or a literal.
func ends(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

func (s *scanner) skipNested() {
	for depth := 0; s.at < len(s.data); {
		switch s.data[s.at] {
		case '"':
			s.skipText()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
	s.failed = true
}

// skipText consumes a string with any escapes.
func (s *scanner) skipText() {
	for s.at++; ; {
		n := bytes.IndexByte(s.data[s.at:], '"')
		if n < 0 {
			s.failed = true
			return
		}
		escapes := 0
		for i := s.at + n - 1; i >= s.at && s.data[i] == '\\'; i-- {
			escapes++
		}
		s.at += n + 1
		if escapes%2 == 0 {
			return
		}
	}
}
