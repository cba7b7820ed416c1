package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// frame is value that one contract's call, creation or end delivered inside a transaction.
type frame struct {
	tx       int // position in the block
	output   uint32
	from, to address
	value    bursar.Amount
}

// plainGas is what a transaction costs that runs no code (Yellow Paper, G_transaction).
const plainGas = 21_000

// fetchFrames asks for a block's traces, in the first way that the node knows. Blocks in which no contract ran have none.
// When the node knows no way, or has thrown the state away, the block is not traced.
func (c *Chain) fetchFrames(ctx context.Context, s *rpc.Session, d *delivered) error {
	if !slices.ContainsFunc(d.receipts, ran) {
		d.traced = true
		return nil
	}
	lacking, way := c.lacks(s), c.cfg.Trace
	if way == TraceGeth || way == TraceAuto && !lacking.noGethTrace {
		err := c.gethFrames(ctx, s, d)
		if !unknownMethod(err) {
			return c.settleFrames(ctx, s, d, err)
		}
		c.learn(s, func(k *skills) { k.noGethTrace = true })
	}
	if way == TraceParity || way == TraceAuto && !lacking.noParityTrace {
		err := c.parityFrames(ctx, s, d)
		if !unknownMethod(err) {
			return c.settleFrames(ctx, s, d, err)
		}
		c.learn(s, func(k *skills) { k.noParityTrace = true })
	}
	if way == TraceGeth || way == TraceParity {
		return fmt.Errorf("the node cannot trace as configured (%s)", way)
	}
	return nil
}

// ran reports whether a transaction may have run code with success.
func ran(r receipt) bool { return r.succeeded() && r.GasUsed > plainGas }

func (c *Chain) settleFrames(ctx context.Context, s *rpc.Session, d *delivered, err error) error {
	switch {
	case err == nil:
		d.traced = true
		return nil
	case stateGone(err):
		c.log.WarnContext(ctx, "node has no state to trace a block", "node", s.Name(), "height", uint64(d.Number), "error", err)
		return nil
	}
	return unsound(s, err)
}

// callFrame is a frame of geth's callTracer.
type callFrame struct {
	Type  string      `json:"type"`
	From  address     `json:"from"`
	To    optional    `json:"to"`
	Value wei         `json:"value"`
	Error string      `json:"error"`
	Calls []callFrame `json:"calls"`
}

type gethTrace struct {
	TxHash *hash      `json:"txHash"`
	Result *callFrame `json:"result"`
	Error  string     `json:"error"`
}

func (c *Chain) gethFrames(ctx context.Context, s *rpc.Session, d *delivered) error {
	type tracer struct {
		Tracer  string `json:"tracer"`
		Timeout string `json:"timeout"`
	}
	var traces []gethTrace
	err := s.Call(ctx, "debug_traceBlockByHash", []any{d.Hash.String(), tracer{"callTracer", "25s"}}, &traces)
	if err != nil {
		return err
	}
	frames, err := framesOf(d.traceable(len(traces)), d.receipts, traces)
	if err != nil {
		return s.Fail(err)
	}
	d.frames = frames
	return nil
}

// traceable is the block without the bridge's transaction where the node has not traced that.
func (d *delivered) traceable(traced int) *block {
	b := d.block
	if n := len(b.Txs); d.bridged && traced == n-1 {
		b.Txs = b.Txs[:n-1]
	}
	return &b
}

// framesOf matches traces with transactions and collects what they delivered.
func framesOf(b *block, receipts []receipt, traces []gethTrace) ([]frame, error) {
	if len(traces) != len(b.Txs) {
		return nil, fmt.Errorf("%w: %d traces of %d transactions", errPartial, len(traces), len(b.Txs))
	}
	var frames []frame
	for i, trace := range traces {
		switch {
		case trace.TxHash != nil && *trace.TxHash != b.Txs[i].Hash, trace.Result != nil && trace.Result.From != b.Txs[i].From:
			return nil, fmt.Errorf("trace %d: %w", i, errForeignTx)
		case trace.Result == nil || trace.Error != "":
			return nil, fmt.Errorf("trace %d: %w: %.200q", i, errPartial, trace.Error)
		}
		if !receipts[i].succeeded() || trace.Result.Error != "" {
			continue
		}
		for _, call := range trace.Result.Calls {
			frames = call.collect(i, frames)
		}
	}
	return number(frames), nil
}

// collect appends the value that a frame and those below it delivered. What a failed frame did, and all that was done below
// it, was undone.
func (f *callFrame) collect(tx int, frames []frame) []frame {
	if f.Error != "" {
		return frames
	}
	switch f.Type {
	case "CALL", "CREATE", "CREATE2", "SELFDESTRUCT", "SUICIDE":
		if f.To.set && !f.Value.IsZero() {
			frames = append(frames, frame{tx: tx, from: f.From, to: f.To.address, value: f.Value.Amount})
		}
	}
	for i := range f.Calls {
		frames = f.Calls[i].collect(tx, frames)
	}
	return frames
}

// number gives the frames of each transaction their outputs. Only frames that delivered value count, since tracers disagree
// about others: some show calls of precompiled contracts.
func number(frames []frame) []frame {
	for i := range frames {
		frames[i].output = 1
		if i > 0 && frames[i-1].tx == frames[i].tx {
			frames[i].output = frames[i-1].output + 1
		}
	}
	return frames
}

// flatTrace is an element of trace_block.
type flatTrace struct {
	Type   string `json:"type"`
	Action struct {
		CallType string   `json:"callType"`
		From     address  `json:"from"`
		To       optional `json:"to"`
		Value    wei      `json:"value"`
		Ended    optional `json:"address"` // of a contract that ended itself
		Refund   optional `json:"refundAddress"`
		Balance  wei      `json:"balance"`
	} `json:"action"`
	Result *struct {
		Address optional `json:"address"`
	} `json:"result"`
	Error     string `json:"error"`
	BlockHash hash   `json:"blockHash"`
	TxHash    *hash  `json:"transactionHash"`
	Position  *int   `json:"transactionPosition"`
	Path      []int  `json:"traceAddress"`
}

func (c *Chain) parityFrames(ctx context.Context, s *rpc.Session, d *delivered) error {
	var traces []flatTrace
	if err := s.Call(ctx, "trace_block", []any{d.Number.hex()}, &traces); err != nil {
		return err
	}
	seen := 0
	for i := range traces {
		if traces[i].TxHash != nil && len(traces[i].Path) == 0 {
			seen++
		}
	}
	frames, err := flatFrames(d.traceable(seen), d.receipts, traces)
	if err != nil {
		return s.Fail(err)
	}
	d.frames = frames
	return nil
}

var errUnordered = errors.New("traces are out of order")

// flatFrames is framesOf for trace_block: every transaction begins with a trace of an empty path, and frames follow their
// callers.
func flatFrames(b *block, receipts []receipt, traces []flatTrace) ([]frame, error) {
	var frames []frame
	var failed []int // path of the failed frame whose callees follow; nil: none
	tx := -1
	for i := range traces {
		t := &traces[i]
		if t.BlockHash != b.Hash {
			return nil, fmt.Errorf("trace %d: %w", i, errOtherBlock)
		}
		if t.Type == "reward" || t.TxHash == nil {
			continue
		}
		if len(t.Path) == 0 {
			tx, failed = tx+1, nil
		}
		if tx < 0 || tx >= len(b.Txs) || *t.TxHash != b.Txs[tx].Hash {
			return nil, fmt.Errorf("trace %d: %w", i, errUnordered)
		}
		if failed != nil && len(t.Path) > len(failed) && slices.Equal(t.Path[:len(failed)], failed) {
			continue
		}
		failed = nil
		if t.Error != "" {
			failed = append(make([]int, 0, len(t.Path)), t.Path...) // not nil, even of length 0
			continue
		}
		if f, ok := t.frame(tx); ok && len(t.Path) > 0 && receipts[tx].succeeded() {
			frames = append(frames, f)
		}
	}
	if tx+1 != len(b.Txs) {
		return nil, fmt.Errorf("%w: traces of %d of %d transactions", errPartial, tx+1, len(b.Txs))
	}
	return number(frames), nil
}

// frame returns what a trace delivered, if anything.
func (t *flatTrace) frame(tx int) (frame, bool) {
	f := frame{tx: tx, from: t.Action.From, value: t.Action.Value.Amount}
	to := optional{}
	switch {
	case t.Type == "call" && t.Action.CallType == "call":
		to = t.Action.To
	case t.Type == "create" && t.Result != nil:
		to = t.Result.Address
	case t.Type == "suicide":
		f.from, f.value, to = t.Action.Ended.address, t.Action.Balance.Amount, t.Action.Refund
	}
	f.to = to.address
	return f, to.set && !f.value.IsZero()
}
