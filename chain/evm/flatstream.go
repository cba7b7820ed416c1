package evm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

var errUnordered = errors.New("traces are out of order")

// flatTrace holds the used fields of an element of trace_block.
type flatTrace struct {
	call    oneCall
	kind    string
	refund  optional // receiver of the balance of a contract that self-destructs
	balance wei
	ended   optional
	made    optional // the contract that a creation made
	block   hash
	tx      optionalHash
	path    []int
}

// flatStream reads the answer of trace_block: every transaction begins with a trace of an empty path, and traces follow
// their callers. It implements rpc.Streamed.
type flatStream struct {
	block hash

	txs    []hash // in the order received
	from   address
	frames []frame
	failed []int // path of the failed trace whose callees follow; nil: none
	trace  flatTrace
}

// ReadResult reads the traces of one block.
func (s *flatStream) ReadResult(dec *jsontext.Decoder) error {
	*s = flatStream{block: s.block}
	n := 0
	return elements(dec, func() error {
		if err := s.trace.read(dec); err != nil {
			return fmt.Errorf("trace %d: %w", n, err)
		}
		n++
		return s.take(n - 1)
	})
}

// take keeps the value that a trace moved.
func (s *flatStream) take(n int) error {
	t := &s.trace
	if t.block != s.block {
		return fmt.Errorf("trace %d: %w", n, errOtherBlock)
	}
	if t.kind == "reward" || !t.tx.set {
		return nil
	}
	if len(t.path) == 0 {
		if len(s.txs) >= maxReceipts {
			return errTooMuch
		}
		s.txs, s.failed, s.from = append(s.txs, t.tx.hash), nil, t.call.from
	}
	if len(s.txs) == 0 || t.tx.hash != s.txs[len(s.txs)-1] {
		return fmt.Errorf("trace %d: %w", n, errUnordered)
	}
	if s.failed != nil && len(t.path) > len(s.failed) && slices.Equal(t.path[:len(s.failed)], s.failed) {
		return nil
	}
	s.failed = nil
	if t.call.failed {
		s.failed = append(make([]int, 0, len(t.path)), t.path...) // not nil, even of length 0
		return nil
	}
	f, ok := t.frame()
	if !ok || len(t.path) == 0 {
		return nil
	}
	if len(s.frames) >= maxFrames {
		return errTooMuch
	}
	f.tx = len(s.txs) - 1
	s.frames = append(s.frames, f)
	return nil
}

// frame returns the value that a trace moved, if any.
func (t *flatTrace) frame() (frame, bool) {
	f := frame{from: t.call.from, value: t.call.value.Amount}
	to := optional{}
	switch {
	case t.kind == "call" && t.call.sends:
		to = t.call.to
	case t.kind == "create":
		to = t.made
	case t.kind == "suicide":
		f.from, f.value, to = t.ended.address, t.balance.Amount, t.refund
	}
	f.to = to.address
	return f, to.set && !f.value.IsZero()
}

// join merges several outermost calls of the last transaction into one: erigon may show a state-sync transaction that
// way.
func (s *flatStream) join() {
	for n := len(s.txs); n > 1 && s.txs[n-2] == s.txs[n-1]; n = len(s.txs) {
		s.txs = s.txs[:n-1]
	}
	for i := range s.frames {
		s.frames[i].tx = min(s.frames[i].tx, len(s.txs)-1)
	}
}

// settle is callStream.settle for trace_block.
func (s *flatStream) settle(d *delivered) error {
	n := len(d.Txs)
	if d.bridged {
		s.join()
	}
	if d.bridged && len(s.txs) == n-1 {
		n--
		d.untraced = span{n, n + 1}
	}
	if len(s.txs) != n {
		return fmt.Errorf("%w: got traces of %d of %d transactions", errPartial, len(s.txs), len(d.Txs))
	}
	for i, tx := range s.txs {
		if tx != d.Txs[i].Hash {
			return fmt.Errorf("transaction %d: %w", i, errUnordered)
		}
	}
	if d.bridged && n == len(d.Txs) && s.from != systemAddress {
		d.untraced = span{n - 1, n}
	}
	s.frames = slices.DeleteFunc(s.frames, func(f frame) bool {
		return !d.receipts[f.tx].succeeded() || d.untraced.holds(f.tx)
	})
	d.frames = number(s.frames)
	return nil
}

// read reads a trace into the memory of the previous one.
func (t *flatTrace) read(dec *jsontext.Decoder) error {
	*t = flatTrace{path: t.path[:0]}
	return members(dec, func(name []byte) (bool, error) {
		switch string(name) {
		case `"type"`:
			return true, readString(dec, &t.kind)
		case `"action"`:
			return true, members(dec, func(name []byte) (bool, error) { return t.action(dec, name) })
		case `"result"`:
			return true, members(dec, func(name []byte) (bool, error) {
				if string(name) == `"address"` {
					return true, t.made.UnmarshalJSONFrom(dec)
				}
				return false, nil
			})
		case `"error"`:
			var why string
			err := readString(dec, &why)
			t.call.failed = why != ""
			return true, err
		case `"blockHash"`:
			return true, t.block.UnmarshalJSONFrom(dec)
		case `"transactionHash"`:
			return true, t.tx.UnmarshalJSONFrom(dec)
		case `"traceAddress"`:
			return true, elements(dec, func() error { return t.step(dec) })
		}
		return false, nil
	})
}

func (t *flatTrace) action(dec *jsontext.Decoder, name []byte) (bool, error) {
	switch string(name) {
	case `"callType"`:
		value, err := dec.ReadValue()
		t.call.sends = string(value) == `"call"`
		return true, err
	case `"from"`:
		return true, t.call.from.UnmarshalJSONFrom(dec)
	case `"to"`:
		return true, t.call.to.UnmarshalJSONFrom(dec)
	case `"value"`:
		return true, t.call.value.UnmarshalJSONFrom(dec)
	case `"address"`:
		return true, t.ended.UnmarshalJSONFrom(dec)
	case `"refundAddress"`:
		return true, t.refund.UnmarshalJSONFrom(dec)
	case `"balance"`:
		return true, t.balance.UnmarshalJSONFrom(dec)
	}
	return false, nil
}

// step reads one number of a path.
func (t *flatTrace) step(dec *jsontext.Decoder) error {
	if len(t.path) >= maxDepth {
		return errTooDeep
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	place, err := strconv.Atoi(string(value))
	t.path = append(t.path, place)
	return err
}
