package evm

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// TxIDs of value that comes without a transaction.
const (
	// withdrawalID is followed by the withdrawal's index, which the consensus layer never repeats and keeps across
	// reorgs.
	withdrawalID = "withdrawal:"
	// feesID is followed by the block's hash: a proposer's earnings disappear with the block.
	feesID = "fees:"
)

// scanner evaluates one block. It looks up each address once.
type scanner struct {
	*delivered
	watch  chain.Watch
	folded chain.FoldedWatch // nil if the watch knows canonical addresses only
	tokens map[address]Token
	known  map[address]string // the base address, or "" if it is not ours
	out    chain.Block
}

// scan returns a block's effects on watched addresses. It sends requests only if traces are missing.
func (c *Chain) scan(ctx context.Context, s source, d *delivered, watch chain.Watch) (chain.Block, error) {
	w := newScanner(d, watch, c.tokens)
	frames := d.frames
	for i := range d.Txs {
		w.sent(i, frames)
		frames = w.value(i, frames)
		w.logs(i)
	}
	if err := w.consensus(); err != nil {
		return chain.Block{}, err
	}
	if d.why != nil {
		w.note(fmt.Sprintf("no endpoint could trace the block (%.300v); value that contracts sent in it was searched "+
			"by comparing balances",
			d.why))
	}
	if w.out.Untraced = d.untraced != (span{}); w.out.Untraced {
		if err := c.differences(ctx, s, w); err != nil {
			return chain.Block{}, fmt.Errorf("compare balances: %w", err)
		}
	}
	return w.out, nil
}

// note adds an anomaly of the block as a whole.
func (w *scanner) note(what string) {
	w.out.Anomalies = append(w.out.Anomalies, chain.Anomaly{What: what})
}

func newScanner(d *delivered, watch chain.Watch, tokens map[address]Token) *scanner {
	folded, _ := watch.(chain.FoldedWatch)
	return &scanner{
		delivered: d, watch: watch, folded: folded, tokens: tokens, known: map[address]string{},
		out: chain.Block{
			Ref: d.ref(), Parent: d.Parent.String(), Time: time.Unix(int64(d.Time), 0).UTC(),
		},
	}
}

// pays returns the base of a watched address, or "".
func (w *scanner) pays(a address) string {
	if w.folded != nil {
		// The checksum of an address costs a hash, and nearly all addresses are not ours.
		if text := a.digits(); !w.folded.PaysFolded(text[:]) {
			return ""
		}
	}
	base, asked := w.known[a]
	if !asked {
		if base = a.String(); !w.watch.Pays(base) {
			base = ""
		}
		w.known[a] = base
	}
	return base
}

// fee returns what a transaction cost its sender. It always fits in 128 bits.
func (r *receipt) fee() bursar.Amount {
	gas, _ := r.GasPrice.Mul(uint64(r.GasUsed))
	blobs, _ := r.BlobGasPrice.Mul(uint64(r.BlobGasUsed))
	fee, _ := gas.Add(blobs)
	return fee
}

// value adds what a transaction itself and the contracts in it delivered, and returns the frames of the following
// transactions. A payment from an address to itself changes nothing.
func (w *scanner) value(i int, frames []frame) []frame {
	if own, pays := w.own(i); pays && w.receipts[i].succeeded() {
		w.add(w.Txs[i].Hash.String, 0, own.to, own.value)
	}
	for len(frames) > 0 && frames[0].tx == i {
		if f := frames[0]; f.from != f.to {
			w.add(w.Txs[i].Hash.String, f.output, f.to, f.value)
		}
		frames = frames[1:]
	}
	return frames
}

func (w *scanner) add(txID func() string, output uint32, to address, amount bursar.Amount) {
	if base := w.pays(to); base != "" {
		w.out.Transfers = append(w.out.Transfers, chain.Transfer{
			TxID: txID(), Output: output, Address: bursar.Address{Base: base}, Amount: amount, Internal: output > 0,
		})
	}
}

// consensus adds value that comes without a transaction: withdrawals of validators, and tips if the proposer's fee
// recipient is one of ours. Tips are inferred, since chains divide them by rules of their own.
func (w *scanner) consensus() error {
	for _, out := range w.Withdrawals {
		amount, err := out.amount()
		if err != nil {
			return fmt.Errorf("withdrawal %d: %w", out.Index, err)
		}
		if !amount.IsZero() {
			id := func() string { return withdrawalID + strconv.FormatUint(uint64(out.Index), 10) }
			w.add(id, 0, out.Address, amount)
		}
	}
	if w.Miner == (address{}) || w.pays(w.Miner) == "" {
		return nil
	}
	tips, err := w.tips()
	if err != nil {
		return fmt.Errorf("tips: %w", err)
	}
	if !tips.IsZero() {
		w.add(func() string { return feesID + w.Hash.String() }, 0, w.Miner, tips)
		w.out.Transfers[len(w.out.Transfers)-1].Inferred = true
	}
	return nil
}

// amount returns the amount in wei.
func (w withdrawal) amount() (bursar.Amount, error) { return bursar.Units(uint64(w.Amount)).Mul(gwei) }

// tips returns what all transactions paid above the base fee.
func (w *scanner) tips() (total bursar.Amount, err error) {
	for i := range w.receipts {
		tip, err := w.receipts[i].GasPrice.SubOrZero(w.BaseFee.Amount).Mul(uint64(w.receipts[i].GasUsed))
		if err != nil {
			return total, err
		}
		if total, err = total.Add(tip); err != nil {
			return total, err
		}
	}
	return total, nil
}
