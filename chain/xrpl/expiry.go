package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Historian = (*Chain)(nil)

// Expired reports whether a payment can be in no ledger any more: its last ledger has been validated, and a node has
// searched every ledger that may contain it, without a gap. A node that lacks some of them (`complete_ledgers`; rippled
// keeps as many as its online_delete says) proves nothing, and the next one is asked. The error is chain.ErrPruned if
// all lack some.
func (c *Chain) Expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (_ bool, err error) {
	defer chain.Wrap(&err, "expired %s", txID)
	e, p, err := c.unpack(unsigned.Bytes)
	if err != nil {
		return false, err
	}
	id, err := parseHash(txID)
	if err != nil {
		return false, err
	}
	gone, err := rpc.Anywhere(ctx, c.nodes.Client, func(ctx context.Context, s *rpc.Session) (bool, error) {
		return c.expiredOn(ctx, s, uint64(e.Since), p, id)
	}, func(err error) bool { return errors.Is(err, errHistory) })
	if errors.Is(err, rpc.ErrLacks) {
		err = fmt.Errorf("%w: %w", chain.ErrPruned, err)
	}
	return gone, err
}

// errHistory means that a node lacks a ledger that may contain a payment.
var errHistory = errors.New("the node lacks some of the ledgers that may contain the payment")

func (c *Chain) expiredOn(ctx context.Context, s *rpc.Session, since uint64, p payment, id hash) (bool, error) {
	st, err := c.stand(ctx, s)
	if err != nil || st.tip.Height <= uint64(p.LastLedger) {
		return false, err
	}
	answer, known, err := lookUp(ctx, s, id, params{"min_ledger": since, "max_ledger": p.LastLedger})
	switch {
	case err != nil || known && answer.Validated:
		return false, err
	case !st.held.covers(since, uint64(p.LastLedger)):
		return false, fmt.Errorf("%w: ledgers %d to %d are needed, the node keeps %.80q", errHistory, since,
			p.LastLedger, st.held.String())
	case known: // the node remembers it from when it was sent
		return unused(ctx, s, p)
	case !answer.Searched:
		return false, fmt.Errorf("%w: the node has not searched all ledgers from %d to %d", errHistory, since,
			p.LastLedger)
	}
	return true, nil
}

// unused reports whether no transaction at all has used a payment's sequence, up to its last ledger. Behind a load
// balancer the answer about the account may come from a node that is behind: that proves nothing.
func unused(ctx context.Context, s *rpc.Session, p payment) (bool, error) {
	from, err := validatedAccount(ctx, s, p.Account.String())
	return err == nil && from.exists && from.in >= p.LastLedger && from.Sequence <= p.Sequence, err
}

// Outcome returns what became of a payment, from any endpoint that keeps the history.
func (c *Chain) Outcome(ctx context.Context, unsigned chain.UnsignedTx, txID string) (chain.Outcome, error) {
	in, err := rpc.Anywhere(ctx, c.nodes.Client, func(ctx context.Context, s *rpc.Session) (chain.BlockRef, error) {
		return c.findOn(ctx, s, txID)
	}, func(err error) bool { return errors.Is(err, chain.ErrNoBlock) })
	switch {
	case err == nil:
		return chain.Outcome{Included: true, Block: in}, nil
	case !errors.Is(err, rpc.ErrLacks):
		return chain.Outcome{}, fmt.Errorf("outcome of %s: %w", txID, err)
	}
	gone, err := c.Expired(ctx, unsigned, txID)
	return chain.Outcome{Expired: gone}, err
}
