package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// plainGas is the cost of a transaction that moves value to an existing account without code: the Yellow Paper's
// G_transaction, and the sum of EIP-2780's parts.
const plainGas = 21_000

// mayPay reports whether a transaction may have run code that sends value. A transaction with value, without data and
// without a log of a contract, whose cost is that of a plain transfer, has run no code.
func (d *delivered) mayPay(i int) bool {
	tx, r := &d.Txs[i], &d.receipts[i]
	switch {
	case !r.succeeded():
		return false
	case d.bridged && i == len(d.Txs)-1, !tx.To.set, len(tx.Input) > 0, r.spoke, tx.Value.IsZero():
		return true
	}
	return r.GasUsed != plainGas
}

// source is the endpoint from which a block is read; alone forbids to ask others instead.
type source struct {
	*rpc.Session
	alone bool
}

// fetchFrames finds the value that contracts sent in a block: in its logs if the chain logs every transfer (EIP-7708),
// otherwise in its traces. If no code ran there is nothing to find.
//
// A block that no endpoint can trace is accepted: the comparison of balances finds what is missing, and an operator is
// notified if an endpoint supports tracing at all. An error means that the read failed, and never that a trace was
// unavailable.
func (c *Chain) fetchFrames(ctx context.Context, s source, d *delivered) error {
	frames, complete := d.logged()
	if complete {
		d.frames = frames
		return nil
	}
	first, last := 0, len(d.Txs)
	for first < last && !d.mayPay(first) {
		first++
	}
	if first == last {
		return nil
	}
	err := errors.New("tracing is not configured")
	if c.cfg.Trace != TraceNone {
		if err = c.traced(ctx, s, d); err == nil || !declined(err) {
			return err
		}
	}
	d.frames, d.untraced = nil, span{0, last}
	c.counts.untraced.Add(1)
	if c.cfg.Trace != TraceNone && (c.cfg.Trace != TraceAuto || !errors.Is(err, rpc.ErrNotOffered)) {
		d.why = err
		c.counts.fallbacks.Add(1)
		c.nodes.Log.WarnContext(ctx, "block cannot be traced", "node", s.Name(), "height", uint64(d.Number), "error", err)
	}
	return nil
}

// traced asks the block's own endpoint and then the others.
func (c *Chain) traced(ctx context.Context, s source, d *delivered) error {
	err := c.trace(ctx, s.Session, d)
	if err == nil || !declined(err) || s.alone {
		return err
	}
	for _, e := range c.nodes.Endpoints() {
		if e.Name == s.Name() {
			continue
		}
		other, down := c.nodes.On(ctx, e.Name)
		if down != nil {
			continue
		}
		also := c.trace(ctx, other, d)
		if also == nil {
			return nil
		}
		err = moreSpecific(err, also)
	}
	return errors.Join(err, ctx.Err())
}

// errUntraceable wraps the defect of a trace that was received.
var errUntraceable = errors.New("the trace does not match the block")

// declined reports whether an error concerns one trace and not the endpoint.
func declined(err error) bool { return rpc.Declined(err) || errors.Is(err, errUntraceable) }

// moreSpecific prefers a failure at this block to a missing method.
func moreSpecific(a, b error) error {
	if errors.Is(a, rpc.ErrNotOffered) {
		return b
	}
	return a
}

// tracing is a streamed answer that can be joined with its block.
type tracing interface {
	rpc.Streamed
	settle(d *delivered) error
}

// trace asks one endpoint in each configured way until one works.
func (c *Chain) trace(ctx context.Context, s *rpc.Session, d *delivered) error {
	type tracer struct {
		Tracer  string `json:"tracer"`
		Timeout string `json:"timeout"`
	}
	err := fmt.Errorf("%s: %w", c.cfg.Trace, rpc.ErrNotOffered)
	for _, way := range []struct {
		name   Tracing
		method string
		params []any
		out    tracing
	}{
		{TraceGeth, "debug_traceBlockByHash", []any{d.Hash.String(), tracer{"callTracer", "25s"}}, &callStream{}},
		{TraceParity, "trace_block", []any{d.Number.hex()}, &flatStream{block: d.Hash}},
	} {
		if c.cfg.Trace != TraceAuto && c.cfg.Trace != way.name {
			continue
		}
		failed := insist(func() error { return s.CallOptional(ctx, way.method, way.params, way.out) })
		if failed == nil {
			if failed = way.out.settle(d); failed == nil {
				return nil
			}
			d.frames, d.untraced = nil, span{}
			failed = fmt.Errorf("%s: %w: %w", way.method, errUntraceable, failed)
		}
		if !declined(failed) {
			return failed
		}
		err = moreSpecific(err, failed)
	}
	return err
}
