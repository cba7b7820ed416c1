package replicas

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// node is a chain as one process reaches it: each answer may take so long that anything happens in between.
type node struct {
	addressed
	process *Process
}

func (n node) point(what string) error {
	if asked := n.process.harness.Asked; asked != nil {
		asked("  %s asks %s: %s", n.process.Name, n.Capabilities().ID, what)
	}
	return n.process.harness.Scheduler.point(n.process, what)
}

func (n node) Head(ctx context.Context) (head chain.Head, err error) {
	if head, err = n.Chain.Head(ctx); err == nil {
		err = n.point("head")
	}
	return head, err
}

func (n node) At(ctx context.Context, height uint64) (ref chain.BlockRef, err error) {
	if ref, err = n.Chain.At(ctx, height); err == nil {
		err = n.point("at")
	}
	return ref, err
}

func (n node) Find(ctx context.Context, txID string) (ref chain.BlockRef, err error) {
	if ref, err = n.Chain.Find(ctx, txID); err == nil {
		err = n.point("find")
	}
	return ref, err
}

func (n node) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) (blocks []chain.Block, err error) {
	if blocks, err = n.Chain.After(ctx, last, limit, watch); err == nil {
		err = n.point("after")
	}
	return blocks, err
}

func (n node) Quote(ctx context.Context, p chain.Payment) (fee bursar.Amount, err error) {
	if fee, err = n.Chain.Quote(ctx, p); err == nil {
		err = n.point("quote")
	}
	return fee, err
}

func (n node) Build(ctx context.Context, o chain.TxRequest) (unsigned chain.UnsignedTx, err error) {
	if unsigned, err = n.Chain.Build(ctx, o); err == nil {
		err = n.point("draft")
	}
	return unsigned, err
}

// Broadcast has a point before the node receives the transaction, and one after it did and before the process gets
// the answer.
func (n node) Broadcast(ctx context.Context, tx chain.SignedTx) (err error) {
	if err = n.point("before broadcast"); err != nil {
		return err
	}
	if err = n.Chain.Broadcast(ctx, tx); err == nil {
		n.process.harness.Log("  %s broadcast %s", n.process.Name, tx.TxID)
		err = n.point("broadcast")
	}
	return err
}

func (n node) Expired(ctx context.Context, d chain.UnsignedTx, txID string) (over bool, err error) {
	if over, err = n.Chain.Expired(ctx, d, txID); err == nil {
		err = n.point("expired")
	}
	return over, err
}

func (n node) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) (held []bursar.Amount, err error) {
	if held, err = n.Chain.Holdings(ctx, bases, contract, at); err == nil {
		err = n.point("holdings")
	}
	return held, err
}
