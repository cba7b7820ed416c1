package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	// maxCompared bounds the addresses of ours of one block whose balances are compared. It takes 1.3 million gas to name
	// as many, and knowledge of them.
	maxCompared = 4096
	// maxTries is how often a block is read again whose balances could not be had for a reason that may pass.
	maxTries = 3
	// maxRemembered bounds the blocks whose tries are counted.
	maxRemembered = 1024
)

// differences finds value that contracts sent in transactions without a trace: the balance of each watched address that
// these name is compared with the one before, and what nothing else explains came from a contract. It belongs to the
// transaction that names the address; where several do, it is inferred.
//
// An address that nothing in the block names is not found here: reconciliation finds it.
func (c *Chain) differences(ctx context.Context, s source, w *scanner) error {
	found, err := w.mentioned(c.tokens)
	if err != nil || len(found) == 0 {
		return err
	}
	if extra := len(found) - maxCompared; extra > 0 {
		w.note(fmt.Sprintf("%d more addresses of ours are named in it than are compared", extra))
		found = found[:maxCompared]
	}
	addresses := make([]address, len(found))
	for i, m := range found {
		addresses[i] = m.address
	}
	before, after, err := c.compared(ctx, s, w, addresses)
	if err != nil {
		return c.settleState(ctx, s, w, addresses, err)
	}
	c.counts.compared.Add(uint64(len(found)))
	for i, m := range found {
		if err := c.weigh(ctx, w, m, before[i], after[i]); err != nil {
			return err
		}
	}
	return nil
}

// weigh compares what an address held before and after a block with what moved in it.
func (c *Chain) weigh(ctx context.Context, w *scanner, m mention, before, after bursar.Amount) error {
	in, out, err := w.explained(m.address)
	if err != nil {
		return err
	}
	have, err1 := after.Add(out)
	want, err2 := before.Add(in)
	if err1 != nil || err2 != nil {
		return bursar.ErrAmountOverflow
	}
	if lost := want.SubOrZero(have); !lost.IsZero() {
		c.counts.lost.Add(1)
		c.log.ErrorContext(ctx, "an address of ours lost value that no transaction explains",
			"address", m.base, "height", w.out.Ref.Height, "lost", lost.String())
		w.note(fmt.Sprintf("address %s of ours lost %s wei that no transaction explains", m.base, lost))
	}
	if rest := have.SubOrZero(want); !rest.IsZero() {
		txs := m.txs()
		w.add(w.Txs[txs[0]].Hash.String, 1, m.address, rest)
		w.out.Transfers[len(w.out.Transfers)-1].Inferred = len(txs) > 1
	}
	return nil
}

// compared asks for the balances of addresses before and after a block: the block's own endpoint first, then the
// others.
func (c *Chain) compared(
	ctx context.Context, s source, w *scanner, of []address,
) (before, after []bursar.Amount, err error) {
	parent := chain.BlockRef{Height: w.out.Ref.Height - 1, Hash: w.out.Parent}
	at := func(s *rpc.Session, ref chain.BlockRef, held *[]bursar.Amount) error {
		return insist(func() (err error) {
			*held, err = c.balances(ctx, s, ref, "", of)
			return err
		})
	}
	both := func(s *rpc.Session) error { return cmp.Or(at(s, w.out.Ref, &after), at(s, parent, &before)) }
	if err = both(s.Session); err == nil || s.alone {
		return before, after, err
	}
	for _, e := range c.nodes.Endpoints() {
		if e.Name == s.Name() {
			continue
		}
		other, down := c.nodes.On(ctx, e.Name)
		if down != nil {
			continue
		}
		if both(other) == nil {
			return before, after, nil
		}
	}
	return nil, nil, err
}

// settleState lets a block pass whose state no endpoint shows, at once where it is thrown away and else after a few
// tries. An operator is told; what was missed is found by reconciliation.
func (c *Chain) settleState(ctx context.Context, s source, w *scanner, of []address, err error) error {
	var answered *rpc.Error
	if !stateGone(err) && !errors.As(err, &answered) || !stateGone(err) && c.again(w.out.Ref.Hash) {
		return err
	}
	c.counts.uncompared.Add(uint64(len(of)))
	c.log.WarnContext(ctx, "value sent by contracts in a block cannot be seen", "node", s.Name(),
		"height", w.out.Ref.Height, "addresses", len(of), "error", err)
	w.note(fmt.Sprintf("the balances of %d addresses of ours that it names cannot be had (%.300v); value that "+
		"contracts sent them is not seen", len(of), err))
	return nil
}

// again counts a try at a block and reports whether it is worth another one.
func (c *Chain) again(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tries) > maxRemembered {
		clear(c.tries)
	}
	c.tries[hash]++
	return c.tries[hash] < maxTries
}

// explained adds up what transactions, frames and the consensus layer moved to and from an address.
func (w *scanner) explained(a address) (in, out bursar.Amount, err error) {
	var ins, outs []bursar.Amount
	for i := range w.Txs {
		r := &w.receipts[i]
		if w.Txs[i].From == a {
			outs = append(outs, r.fee())
		}
		own, pays := w.own(i)
		if pays && r.succeeded() && own.from == a {
			outs = append(outs, own.value)
		}
		if pays && r.succeeded() && own.to == a {
			ins = append(ins, own.value)
		}
	}
	for _, f := range w.frames {
		if f.to == a {
			ins = append(ins, f.value)
		}
		if f.from == a {
			outs = append(outs, f.value)
		}
	}
	earned, err := w.earned(a)
	if err != nil {
		return in, out, err
	}
	if in, err = bursar.Sum(append(ins, earned...)...); err != nil {
		return in, out, err
	}
	out, err = bursar.Sum(outs...)
	return in, out, err
}

// earned is what the consensus layer paid an address.
func (w *scanner) earned(a address) (list []bursar.Amount, err error) {
	for _, withdrawal := range w.Withdrawals {
		if withdrawal.Address == a {
			amount, err := withdrawal.amount()
			if err != nil {
				return nil, err
			}
			list = append(list, amount)
		}
	}
	if w.Miner == a {
		tips, err := w.tips()
		if err != nil {
			return nil, err
		}
		list = append(list, tips)
	}
	return list, nil
}
