package evm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
)

// frame is value that one contract's call, creation or self-destruction moved inside a transaction.
type frame struct {
	tx       int    // position in the block
	output   uint32 // while reading: its position among all frames of the transaction
	from, to address
	value    bursar.Amount
}

const (
	// maxFrames limits the frames with value of one block. Each costs at least 6,700 gas, so the largest block has
	// 40,000.
	maxFrames = 1 << 18
	// maxDepth exceeds the 1024 calls that the EVM allows to be nested.
	maxDepth = 1100
)

var errTooDeep = errors.New("calls are nested deeper than the EVM allows")

// number numbers the frames of each transaction. Only frames that moved value count, since tracers disagree about the
// others: some show calls of precompiled contracts.
func number(frames []frame) []frame {
	for i := range frames {
		frames[i].output = 1
		if i > 0 && frames[i-1].tx == frames[i].tx {
			frames[i].output = frames[i-1].output + 1
		}
	}
	return frames
}

// txTrace is a trace's information about its transaction.
type txTrace struct {
	hash   optionalHash
	traced bool    // it has a result
	from   address // of the outermost call
	failed bool    // the outermost call failed
	why    string  // why the tracer has no result
}

// callStream reads the answer of debug_traceBlockByHash with callTracer. It skips inputs and outputs, whose length
// anybody can choose. It implements rpc.Streamed.
type callStream struct {
	traces []txTrace
	frames []frame
	order  uint32
	depth  int
}

// ReadResult reads the traces of one block.
func (s *callStream) ReadResult(dec *jsontext.Decoder) error {
	*s = callStream{}
	return elements(dec, func() error { return s.transaction(dec) })
}

func (s *callStream) transaction(dec *jsontext.Decoder) error {
	if len(s.traces) >= maxReceipts {
		return errTooMuch
	}
	s.traces = append(s.traces, txTrace{})
	t, first := &s.traces[len(s.traces)-1], len(s.frames)
	s.order, s.depth = 0, 0
	err := members(dec, func(name []byte) (bool, error) {
		switch string(name) {
		case `"txHash"`:
			return true, t.hash.UnmarshalJSONFrom(dec)
		case `"error"`:
			return true, readString(dec, &t.why)
		case `"result"`:
			if dec.PeekKind() == jsontext.KindNull {
				return false, nil
			}
			t.traced = true
			top, err := s.frame(dec)
			t.from, t.failed = top.from, top.failed
			return true, err
		}
		return false, nil
	})
	// A frame is complete only after the frames below it, yet comes before them.
	slices.SortFunc(s.frames[first:], func(a, b frame) int { return int(a.output) - int(b.output) })
	return err
}

// oneCall holds the fields of one frame that are used.
type oneCall struct {
	from   address
	to     optional
	value  wei
	sends  bool // calls of its kind move value
	failed bool
}

// frame reads one frame with those below it and keeps those that moved value. A failed frame and everything below it
// was reverted.
func (s *callStream) frame(dec *jsontext.Decoder) (c oneCall, err error) {
	if s.depth++; s.depth > maxDepth {
		return c, errTooDeep
	}
	order, top, first := s.order, s.depth == 1, len(s.frames)
	s.order++
	err = members(dec, func(name []byte) (bool, error) {
		switch string(name) {
		case `"type"`:
			return true, c.kind(dec)
		case `"from"`:
			return true, c.from.UnmarshalJSONFrom(dec)
		case `"to"`:
			return true, c.to.UnmarshalJSONFrom(dec)
		case `"value"`:
			return true, c.value.UnmarshalJSONFrom(dec)
		case `"error"`:
			var why string
			err := readString(dec, &why)
			c.failed = why != ""
			return true, err
		case `"calls"`:
			return true, elements(dec, func() error {
				_, err := s.frame(dec)
				return err
			})
		}
		return false, nil
	})
	s.depth--
	switch {
	case err != nil:
		return c, err
	case c.failed:
		s.frames = s.frames[:first]
	case !top && c.sends && c.to.set && !c.value.IsZero():
		if len(s.frames) >= maxFrames {
			return c, errTooMuch
		}
		s.frames = append(s.frames, frame{
			tx:     len(s.traces) - 1,
			output: order,
			from:   c.from,
			to:     c.to.address,
			value:  c.value.Amount,
		})
	}
	return c, nil
}

// kind reads the type of a frame: a delegate call and a callcode show value that does not move.
func (c *oneCall) kind(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	switch string(value) {
	case `"CALL"`, `"CREATE"`, `"CREATE2"`, `"SELFDESTRUCT"`, `"SUICIDE"`:
		c.sends = true
	}
	return err
}

// readString reads a string, or null for none.
func readString(dec *jsontext.Decoder, to *string) error {
	token, err := dec.ReadToken()
	if err == nil && token.Kind() != jsontext.KindNull {
		*to = token.String()
	}
	return err
}

// settle matches the traces with the block's transactions and keeps the value that they moved. A canonical state-sync
// transaction is traced as calls of the system address, inside one outer call or, by some versions of bor, without one,
// which callTracer cannot show; or not at all. Untraced transactions are left to the comparison of balances.
func (s *callStream) settle(d *delivered) error {
	n := len(d.Txs)
	if d.bridged {
		n--
	}
	if len(s.traces) != n && len(s.traces) != len(d.Txs) {
		return fmt.Errorf("%w: got %d traces of %d transactions", errPartial, len(s.traces), len(d.Txs))
	}
	for i := range s.traces {
		t := &s.traces[i]
		if t.hash.set && t.hash.hash != d.Txs[i].Hash {
			return fmt.Errorf("trace %d: %w", i, errExternalTx)
		}
		if i >= n {
			continue
		}
		switch {
		case !t.traced || t.why != "":
			return fmt.Errorf("trace %d: %w: %.200q", i, errPartial, t.why)
		case t.from != d.Txs[i].From:
			return fmt.Errorf("trace %d: %w", i, errExternalTx)
		}
	}
	if d.bridged && (len(s.traces) == n || !s.traces[n].traced || s.traces[n].why != "" ||
		s.traces[n].from != systemAddress) {
		d.untraced = span{n, n + 1}
	}
	s.frames = slices.DeleteFunc(s.frames, func(f frame) bool {
		return !d.receipts[f.tx].succeeded() || s.traces[f.tx].failed || d.untraced.holds(f.tx)
	})
	d.frames = number(s.frames)
	return nil
}
