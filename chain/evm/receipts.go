package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// fetchReceipts asks for a block's receipts by its hash and appends the bridge's transaction with its own, if there is one.
func (c *Chain) fetchReceipts(ctx context.Context, s *rpc.Session, d *delivered, bridge transaction, bridged bool) error {
	receipts, err := c.receiptsOf(ctx, s, &d.block)
	if err != nil {
		return err
	}
	var extra *receipt
	if n := len(d.Txs); c.cfg.StateSync && len(receipts) == n+1 {
		extra, receipts = &receipts[n], receipts[:n]
		if !bridged {
			bridge, bridged = transaction{Hash: extra.TxHash}, true // only the receipts tell of it
		}
	}
	if err := d.checkReceipts(receipts); err != nil {
		return s.Fail(err)
	}
	d.receipts = receipts
	if !bridged {
		return nil
	}
	if extra == nil {
		if extra, err = c.bridgeReceipt(ctx, s, bridge); err != nil || extra == nil {
			return err
		}
	}
	if err := extra.check(d.Hash, bridge.Hash, len(d.Txs)); err != nil {
		return s.Fail(fmt.Errorf("receipt of the bridge: %w", err))
	}
	d.bridged = true
	d.Txs, d.receipts = append(d.Txs, bridge), append(d.receipts, *extra)
	return nil
}

func (c *Chain) receiptsOf(ctx context.Context, s *rpc.Session, b *block) ([]receipt, error) {
	if len(b.Txs) == 0 && !c.cfg.StateSync {
		return nil, nil
	}
	if !c.lacks(s).noReceiptsCall {
		var receipts []receipt
		err := s.Call(ctx, "eth_getBlockReceipts", []any{b.Hash.String()}, &receipts)
		if !unknownMethod(err) {
			return receipts, unsound(s, err)
		}
		c.learn(s, func(k *skills) { k.noReceiptsCall = true })
	}
	receipts := make([]receipt, len(b.Txs))
	requests := make([]*rpc.Request, len(b.Txs))
	for i := range b.Txs {
		requests[i] = &rpc.Request{
			Method: "eth_getTransactionReceipt", Params: []any{b.Txs[i].Hash.String()}, Out: &receipts[i],
		}
	}
	if err := s.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for _, r := range requests {
		if r.Err != nil {
			return nil, unsound(s, r.Err)
		}
	}
	return receipts, nil
}

// bridgeReceipt asks for the receipt that a node left out of the block's. Some nodes have none; then what the bridge paid
// is found by reconciliation only.
func (c *Chain) bridgeReceipt(ctx context.Context, s *rpc.Session, bridge transaction) (*receipt, error) {
	var r receipt
	err := s.Call(ctx, "eth_getTransactionReceipt", []any{bridge.Hash.String()}, &r)
	var answered *rpc.Error
	if errors.Is(err, rpc.ErrNull) || errors.As(err, &answered) {
		c.log.WarnContext(ctx, "node has no receipt of the bridge's transaction", "node", s.Name(), "tx", bridge.Hash)
		return nil, nil
	}
	return &r, err
}
