package evm

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// differences finds value that contracts sent in a block without traces: the balance of each watched address that the
// block's contract calls mention is compared with the one before, and what nothing else explains came from a contract. It
// belongs to the transaction that mentions the address; where several do, it is unproven.
//
// An address that nothing in the block mentions is not found here: reconciliation finds it.
func (c *Chain) differences(ctx context.Context, s *rpc.Session, w *scanner) error {
	found, err := w.mentioned(c.quiet)
	if err != nil || len(found) == 0 {
		return err
	}
	addresses := make([]address, len(found))
	for i, m := range found {
		addresses[i] = m.address
	}
	after, err := c.balances(ctx, s, w.out.Ref, "", addresses)
	if err != nil {
		return c.settleState(ctx, s, w, err)
	}
	parent := chain.BlockRef{Height: w.out.Ref.Height - 1, Hash: w.out.Parent}
	before, err := c.balances(ctx, s, parent, "", addresses)
	if err != nil {
		return c.settleState(ctx, s, w, err)
	}
	for i, m := range found {
		in, out, err := w.explained(m.address)
		if err != nil {
			return err
		}
		have, err1 := after[i].Add(out)
		want, err2 := before[i].Add(in)
		if err1 != nil || err2 != nil {
			return bursar.ErrAmountOverflow
		}
		if have.Less(want) {
			c.log.ErrorContext(ctx, "an address of ours lost value that no transaction explains",
				"address", m.base, "height", w.out.Ref.Height, "lost", want.SubOrZero(have).String())
		}
		if rest := have.SubOrZero(want); !rest.IsZero() {
			w.add(w.Txs[m.txs[0]].Hash.String(), 1, m.address, rest)
			w.out.Transfers[len(w.out.Transfers)-1].Unproven = len(m.txs) > 1
		}
	}
	return nil
}

// settleState lets a block pass whose state the node has thrown away: what was missed is found by reconciliation.
func (c *Chain) settleState(ctx context.Context, s *rpc.Session, w *scanner, err error) error {
	if !stateGone(err) {
		return err
	}
	c.log.WarnContext(ctx, "value sent by contracts in a block cannot be seen", "node", s.Name(),
		"height", w.out.Ref.Height, "error", err)
	return nil
}

// explained adds up what transactions and the consensus layer moved to and from an address.
func (w *scanner) explained(a address) (in, out bursar.Amount, err error) {
	var ins, outs []bursar.Amount
	for i := range w.Txs {
		tx, r := &w.Txs[i], &w.receipts[i]
		if tx.From == a {
			outs = append(outs, r.fee())
			if r.succeeded() {
				outs = append(outs, tx.Value.Amount)
			}
		}
		if r.succeeded() && tx.To.set && tx.To.address == a {
			ins = append(ins, tx.Value.Amount)
		}
	}
	for _, withdrawal := range w.Withdrawals {
		if withdrawal.Address == a {
			amount, err := withdrawal.amount()
			if err != nil {
				return in, out, err
			}
			ins = append(ins, amount)
		}
	}
	if w.Miner == a {
		tips, err := w.tips()
		if err != nil {
			return in, out, err
		}
		ins = append(ins, tips)
	}
	if in, err = bursar.Sum(ins...); err != nil {
		return in, out, err
	}
	out, err = bursar.Sum(outs...)
	return in, out, err
}
