package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Historian = (*Chain)(nil)

// Expired reports that a payment can be in no ledger any more: its last one has been validated, and a node has searched
// every ledger in which it could stand, without a gap. A node that lacks some of them (`complete_ledgers`; rippled
// keeps as many as its online_delete says) proves nothing, and the next one is asked. The error is chain.ErrPruned
// where all lack some.
func (c *Chain) Expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (bool, error) {
	gone, err := c.expired(ctx, unsigned, txID)
	if err != nil {
		return false, fmt.Errorf("expired %s: %w", txID, err)
	}
	return gone, nil
}

func (c *Chain) expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (bool, error) {
	e, p, err := c.unpack(unsigned.Bytes)
	if err != nil {
		return false, err
	}
	id, err := parseHash(txID)
	if err != nil {
		return false, err
	}
	gone, err := rpc.Anywhere(ctx, c.nodes, func(ctx context.Context, s *rpc.Session) (bool, error) {
		return c.expiredOn(ctx, s, uint64(e.Since), p, id)
	}, func(err error) bool { return errors.Is(err, errHistory) })
	if errors.Is(err, rpc.ErrLacks) {
		err = fmt.Errorf("%w: %w", chain.ErrPruned, err)
	}
	return gone, err
}

// errHistory says that a node lacks a ledger in which a payment could stand.
var errHistory = errors.New("the node does not keep all ledgers in which the payment could be")

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
		return false, fmt.Errorf("%w: %d to %d are needed, it keeps %.80q", errHistory, since, p.LastLedger, st.held.String())
	case known: // the node remembers it from when it was sent
		return unused(ctx, s, p)
	case !answer.Searched:
		return false, fmt.Errorf("%w: it has not searched all from %d to %d", errHistory, since, p.LastLedger)
	}
	return true, nil
}

// unused reports whether a payment's sequence has been used by no transaction at all, up to its last ledger. Behind a
// load balancer the account may be told by a node that has not come so far: that proves nothing.
func unused(ctx context.Context, s *rpc.Session, p payment) (bool, error) {
	from, err := validatedAccount(ctx, s, p.Account.String())
	return err == nil && from.exists && from.in >= p.LastLedger && from.Sequence <= p.Sequence, err
}

// Outcome says what became of a payment, by whichever endpoint keeps the history.
func (c *Chain) Outcome(ctx context.Context, unsigned chain.UnsignedTx, txID string) (chain.Outcome, error) {
	in, err := rpc.Anywhere(ctx, c.nodes, func(ctx context.Context, s *rpc.Session) (chain.BlockRef, error) {
		return c.findOn(ctx, s, txID)
	}, func(err error) bool { return errors.Is(err, chain.ErrNoBlock) })
	switch {
	case err == nil:
		return chain.Outcome{Included: true, Block: in}, nil
	case !errors.Is(err, rpc.ErrLacks):
		return chain.Outcome{}, fmt.Errorf("outcome of %s: %w", txID, err)
	}
	gone, err := c.Expired(ctx, unsigned, txID)
	return chain.Outcome{Dead: gone}, err
}
