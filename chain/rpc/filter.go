package rpc

import (
	"bytes"
	"errors"
	"io"
)

const (
	// longestString is how many bytes of a JSON string reach a Streamed.
	longestString = 4 << 10
	// longestToken is the longest number or literal: nothing in any chain's answers is near it.
	longestToken = 4 << 10
	// mostNames bounds the member names of all objects that are open at once, in bytes: the decoder keeps them to find
	// duplicates.
	mostNames = 1 << 20
)

var (
	errToken = errors.New("a number or literal is too long")
	errNames = errors.New("objects with too many members")
)

// filter makes JSON of any length safe for a decoder that keeps one token in memory at a time: it cuts strings to
// longestString, collapses spaces, and refuses tokens and objects without end. Within the limits it changes nothing.
// It does not check syntax: invalid JSON stays invalid, except for the parts that are cut off.
type filter struct {
	src io.Reader
	in  []byte // bytes that were read and not yet passed on
	buf []byte
	err error // of src, once in is used up

	mode      byte // one of the modes below
	escape    int  // characters of an escape sequence that are still to come
	uhex      int  // the value of a \u escape, while it is read; then that of the last unit
	high      bool // the last unit was a \u escape that needs another one
	passed    int  // of the string or token
	text      int  // length of the last string
	space     bool // the last character was space
	names     []int
	nameBytes int   // total length of the open objects' names
	out       int64 // bytes that were passed on

	rest *Hex // what wants the part of a string that is cut off; nil: nothing
	kept bool // the string that is being passed on is one of which rest gets a part
}

const (
	outside = iota
	inString
	inCut // in the rest of a string that is too long
)

func newFilter(src io.Reader) *filter { return &filter{src: src, buf: make([]byte, 32<<10)} }

// Read passes on at least one byte or an error.
func (f *filter) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := f.pass(p)
		f.out += int64(n)
		if n > 0 || err != nil {
			return n, err
		}
		if f.err != nil {
			return 0, f.err
		}
		var got int
		got, f.err = f.src.Read(f.buf)
		f.in = f.buf[:got]
	}
}

// pass moves characters from in to p until one of them is used up.
func (f *filter) pass(p []byte) (n int, err error) {
	for len(f.in) > 0 && n < len(p) {
		if f.mode == outside {
			n += f.plainPiece(p[n:])
			if len(f.in) == 0 || n == len(p) {
				break
			}
		}
		switch f.mode {
		case inCut:
			f.skip()
		case inString:
			n += f.string(p[n:])
			if f.kept && f.mode == outside {
				f.kept = false
				f.rest.end(f.out + int64(n))
			}
		default:
			var took int
			took, err = f.structure(p[n:])
			n += took
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// plainPiece passes on, in one step, what nearly all of an answer consists of: short strings without escapes,
// brackets, commas, numbers and literals. It stops before anything else, and treats these characters as structure and
// string do.
func (f *filter) plainPiece(p []byte) (n int) {
	in := f.in
	for len(in) > 0 && n < len(p) {
		c := in[0]
		switch {
		case c == '"':
			run := in[1:min(len(in), longestString, len(p)-n)]
			end := bytes.IndexByte(run, '"')
			if end < 0 || bytes.IndexByte(run[:end], '\\') >= 0 {
				f.in = in
				return n
			}
			n += copy(p[n:], in[:end+2])
			in = in[end+2:]
			f.text, f.passed, f.space = end+1, 0, false
		case c == ',':
			p[n], n, in = c, n+1, in[1:]
			f.passed, f.space = 0, false
		case c == '{' || c == '[':
			f.names = append(f.names, 0)
			p[n], n, in = c, n+1, in[1:]
			f.passed, f.space = 0, false
		case c == '}' || c == ']':
			f.close()
			p[n], n, in = c, n+1, in[1:]
			f.passed, f.space = 0, false
		case c > ' ' && c != ':' && f.passed < longestToken:
			p[n], n, in = c, n+1, in[1:]
			f.passed, f.space = f.passed+1, false
		case c == ':' && len(f.names) > 0 && f.nameBytes+f.text+16 <= mostNames:
			f.names[len(f.names)-1] += f.text + 16
			f.nameBytes += f.text + 16
			p[n], n, in = c, n+1, in[1:]
			f.passed, f.space = 0, false
		default:
			f.in = in
			return n
		}
	}
	f.in = in
	return n
}

// structure passes on characters outside strings.
func (f *filter) structure(p []byte) (n int, err error) {
	for i, c := range f.in {
		if n == len(p) {
			f.in = f.in[i:]
			return n, nil
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			f.passed = 0
			if f.space {
				continue
			}
			f.space = true
			p[n] = c
			n++
			continue
		case '"':
			f.mode, f.passed, f.space, f.high, f.escape = inString, 0, false, false, 0
			p[n] = c
			f.in = f.in[i+1:]
			return n + 1, nil
		case '{', '[':
			f.names = append(f.names, 0)
		case '}', ']':
			f.close()
		case ':':
			err = f.name()
		case ',':
		default:
			f.passed++
			f.space = false
			if f.passed > longestToken {
				return n, errToken
			}
			p[n] = c
			n++
			continue
		}
		if err != nil {
			return n, err
		}
		f.passed = 0
		f.space = false
		p[n] = c
		n++
	}
	f.in = nil
	return n, nil
}

// name counts the string that was just passed on as a member's name.
func (f *filter) name() error {
	if len(f.names) == 0 {
		return nil
	}
	f.names[len(f.names)-1] += f.text + 16
	f.nameBytes += f.text + 16
	if f.nameBytes > mostNames {
		return errNames
	}
	return nil
}

func (f *filter) close() {
	if last := len(f.names) - 1; last >= 0 {
		f.nameBytes -= f.names[last]
		f.names = f.names[:last]
	}
}
