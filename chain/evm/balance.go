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
	// maxCompared limits how many of our addresses are compared by balance in one block. To mention that many costs 1.3
	// million gas, and requires knowing them.
	maxCompared = 4096
	// maxTries is how often a block is read again if its balances are unavailable for a reason that may be temporary.
	maxTries = 3
	// maxRemembered limits how many blocks have their tries counted.
	maxRemembered = 1024
)

// differences finds value that contracts sent in untraced transactions: it compares the balance of each watched address
// that these transactions mention with the balance before the block, and attributes any unexplained increase to a
// contract. The increase belongs to the transaction that mentions the address; if several do, the transfer is inferred.
//
// This method cannot find value for an address that nothing in the block mentions: reconciliation finds it.
func (c *Chain) differences(ctx context.Context, s source, w *scanner) error {
	found, err := w.mentioned(c.tokens)
	if err != nil || len(found) == 0 {
		return err
	}
	if extra := len(found) - maxCompared; extra > 0 {
		w.note(fmt.Sprintf("the block mentions %d more of our addresses than are compared", extra))
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
		if err := c.compareBalances(ctx, w, m, before[i], after[i]); err != nil {
			return err
		}
	}
	return nil
}

// compareBalances compares an address's balances before and after a block with the value that moved in it.
func (c *Chain) compareBalances(ctx context.Context, w *scanner, m mention, before, after bursar.Amount) error {
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
		c.nodes.Log.ErrorContext(ctx, "one of our addresses lost value that no transaction explains",
			"address", m.base, "height", w.out.Ref.Height, "lost", lost.String())
		w.note(fmt.Sprintf("our address %s lost %s wei that no transaction explains", m.base, lost))
	}
	if rest := have.SubOrZero(want); !rest.IsZero() {
		txs := m.txs()
		w.add(w.Txs[txs[0]].Hash.String, 1, m.address, rest)
		w.out.Transfers[len(w.out.Transfers)-1].Inferred = len(txs) > 1
	}
	return nil
}

// compared requests the balances of addresses before and after a block: from the block's own endpoint first, then from
// the others.
func (c *Chain) compared(
	ctx context.Context, s source, w *scanner, of []address,
) (before, after []bursar.Amount, err error) {
	parent := chain.BlockRef{Height: w.out.Ref.Height - 1, Hash: w.out.Parent}
	at := func(s *rpc.Session, ref chain.BlockRef, balances *[]bursar.Amount) error {
		return insist(func() (err error) {
			*balances, err = c.balances(ctx, s, ref, "", of)
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

// settleState accepts a block whose state no endpoint has: at once if the state is pruned, otherwise after a few tries.
// It notifies an operator; reconciliation finds what was missed.
func (c *Chain) settleState(ctx context.Context, s source, w *scanner, of []address, err error) error {
	var answered *rpc.Error
	if !stateGone(err) && !errors.As(err, &answered) || !stateGone(err) && c.again(w.out.Ref.Hash) {
		return err
	}
	c.counts.uncompared.Add(uint64(len(of)))
	c.nodes.Log.WarnContext(ctx, "value sent by contracts in a block cannot be read", "node", s.Name(),
		"height", w.out.Ref.Height, "addresses", len(of), "error", err)
	w.note(fmt.Sprintf("the balances of %d of our addresses that the block mentions are unavailable (%.300v); "+
		"value that contracts sent to them is missed", len(of), err))
	return nil
}

// again counts a try to read a block and reports whether another one is allowed.
func (c *Chain) again(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tries) > maxRemembered {
		clear(c.tries)
	}
	c.tries[hash]++
	return c.tries[hash] < maxTries
}

// explained sums the value that transactions, frames and the consensus layer moved to and from an address.
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

// earned returns the amounts that the consensus layer paid an address.
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
