package evm

import (
	"context"
	"errors"

	"github.com/bursar/bursar/chain/rpc"
)

// Polygon's bridge brings value in one transaction at a block's end, from and to the zero address, without gas.
//
// Since the Madhugiri fork (PIP-74; mainnet block 80,084,800) the transaction has type 0x7f and is in the body, in the
// receipts' root and in the bloom (bor 2.10, consensus/bor/bor.go, insertStateSyncTransactionAndCalculateReceipt).
// Before, it is in no root, and nodes show it in the block, in the receipts, in both or nowhere. The form decides and
// not the height: Amoy and private networks forked at other heights.
//
// Its trace comes from the system address 0xff…fe (bor since January 2026, eth/tracers), or not at all.

// stateSyncType is the type of a canonical state-sync transaction.
const stateSyncType = 0x7f

// isStateSync reports whether a transaction is the bridge's.
func (c *Chain) isStateSync(tx *transaction) bool {
	return c.cfg.StateSync && tx.From == (address{}) && tx.To.address == (address{})
}

// cutStateSync removes a state-sync transaction of the old form, which is in no root of the header, from a block's end.
func (c *Chain) cutStateSync(b *block) (transaction, bool) {
	last := len(b.Txs) - 1
	if last < 0 || !c.isStateSync(&b.Txs[last]) || b.Txs[last].Kind == stateSyncType {
		return transaction{}, false
	}
	tx := b.Txs[last]
	b.Txs = b.Txs[:last]
	return tx, true
}

// joinStateSync joins receipts with the block. If there is one receipt more than the block has transactions, it is the
// bridge's: of the old form, or, after a canonical one, a duplicate (Polygon's erigon before 0xPolygon/erigon#97). The
// duplicate is dropped.
func (c *Chain) joinStateSync(
	ctx context.Context, s *rpc.Session, d *delivered, l *receiptList, old *transaction,
) error {
	n := len(d.Txs)
	canonical := n > 0 && c.isStateSync(&d.Txs[n-1])
	var extra *receipt
	if c.cfg.StateSync && len(l.list) == n+1 {
		extra, l.list = &l.list[n], l.list[:n:n]
	}
	if err := d.checkReceipts(l.list, &l.bloom); err != nil {
		return err
	}
	d.receipts, d.bridged = l.list, canonical
	if canonical || !c.cfg.StateSync {
		return nil
	}
	if old == nil && extra != nil {
		old = &transaction{Hash: extra.TxHash} // only the receipts show it
	}
	if old == nil {
		return nil
	}
	if extra == nil {
		var err error
		if extra, err = c.bridgeReceipt(ctx, s, old); err != nil || extra == nil {
			return err
		}
	}
	if err := extra.check(d.Hash, old.Hash, n); err != nil {
		return err
	}
	d.bridged = true
	d.Txs, d.receipts = append(d.Txs, *old), append(d.receipts, *extra)
	return nil
}

// bridgeReceipt requests the receipt that a node omitted from the block's receipts. Some nodes have none; then only
// reconciliation finds what the bridge paid.
func (c *Chain) bridgeReceipt(ctx context.Context, s *rpc.Session, bridge *transaction) (*receipt, error) {
	l := &receiptList{rules: c.Rules}
	err := c.receiptsByTx(ctx, s, &block{Txs: []transaction{*bridge}}, l)
	var answered *rpc.Error
	if errors.Is(err, errAbsent) || errors.As(err, &answered) {
		c.nodes.Log.WarnContext(ctx, "node has no receipt of the bridge's transaction", "node", s.Name(), "tx", bridge.Hash)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &l.list[0], nil
}
