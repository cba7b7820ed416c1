package rpc

import "bytes"

// string passes on the characters inside a string, plain ones in one piece.
func (f *filter) string(p []byte) int {
	n := 0
	for len(f.in) > 0 && n < len(p) {
		if f.escape == 0 && f.passed < longestString {
			took := f.plain(p[n:])
			n += took
			f.passed += took
			if took > 0 {
				f.high = false
				continue
			}
		}
		c := f.in[0]
		if f.escape == 0 && c != '"' && f.passed >= longestString && f.mayCut(c) {
			f.mode = inCut
			if f.rest != nil {
				f.kept = true
				f.rest.begin()
			}
			return n
		}
		f.in = f.in[1:]
		p[n] = c
		n++
		f.passed++
		if f.unit(c) {
			f.mode, f.text, f.passed = outside, f.passed, 0
			return n
		}
	}
	return n
}

// plain passes on characters up to a quote, a backslash or the length limit.
func (f *filter) plain(p []byte) int {
	run := f.in[:min(len(f.in), len(p), longestString-f.passed)]
	if i := bytes.IndexByte(run, '"'); i >= 0 {
		run = run[:i]
	}
	if i := bytes.IndexByte(run, '\\'); i >= 0 {
		run = run[:i]
	}
	f.in = f.in[len(run):]
	return copy(p, run)
}

// unit follows escape sequences and reports the quote that ends the string.
func (f *filter) unit(c byte) (ends bool) {
	switch {
	case f.escape == 0 && c == '"':
		return true
	case f.escape == 0 && c == '\\':
		f.escape = 1
	case f.escape == 0:
		f.high = false
	case f.escape == 1 && c == 'u':
		f.escape, f.uhex = 5, 0
	case f.escape == 1:
		f.escape, f.high = 0, false
	default:
		f.uhex = f.uhex<<4 | hexDigit(c)
		if f.escape--; f.escape == 1 {
			f.escape, f.high = 0, f.uhex>>10 == 0xD800>>10
		}
	}
	return false
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 0
}

// mayCut reports whether a string can end before c and still be well-formed: not inside a UTF-8 character, not between
// two halves of a surrogate pair. A malformed string is cut soon after the limit.
func (f *filter) mayCut(c byte) bool {
	return !f.high && (c < 0x80 || c >= 0xC0) || f.passed >= longestString+16
}

// skip drops the rest of a string up to its closing quote, which string passes on.
func (f *filter) skip() {
	for len(f.in) > 0 {
		if f.escape > 0 { // the character after a backslash
			f.escape, f.in = 0, f.in[1:]
			continue
		}
		end := bytes.IndexByte(f.in, '"')
		run := f.in
		if end >= 0 {
			run = f.in[:end]
		}
		if i := bytes.IndexByte(run, '\\'); i >= 0 {
			f.keep(run[:i+1])
			f.escape, f.in = 1, f.in[i+1:]
			continue
		}
		f.keep(run)
		if end < 0 {
			f.in = nil
			return
		}
		f.in = f.in[end:] // the quote is passed on by string, which ends there
		f.mode = inString
		return
	}
}

// keep passes a part that is cut off to what wants it.
func (f *filter) keep(part []byte) {
	if f.kept {
		f.rest.add(part)
	}
}
