package tron

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	// together is how many balances are read between two reads of the head, in a fraction of the three seconds of a
	// block.
	together = 20
	// readers is how many balances are requested concurrently.
	readers = 4
	// readings is how often the balances are read before a chain that moves each time is an error.
	readings = 4
	// rewindable is how many blocks back from its present state a node's balances are computed.
	rewindable = 200
)

var errTooOld = errors.New("the block is too far back: the node has present balances only")

// Holdings reads balances from the newest solidified state, or from the newest state for a block that is not solidified
// yet, and reverses the effects of the blocks after the given one: java-tron answers no request about an older state.
// It reverses payments, token transfers and contract calls, but no other kinds of transactions; we make none.
func (c *Chain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	q := balanceQuestion{of: make([]address, len(bases))}
	for i, base := range bases {
		var err error
		if q.of[i], err = parseAddress(base); err != nil {
			return nil, fmt.Errorf("holdings of %.50q: %w", base, err)
		}
	}
	if contract != "" {
		token, err := parseAddress(contract)
		if err != nil {
			return nil, fmt.Errorf("holdings of contract %.50q: %w", contract, err)
		}
		q.token = &token
	}
	if len(bases) == 0 {
		return nil, nil
	}
	var balances []bursar.Amount
	err := c.constantly(ctx, func(s *rpc.Session) (err error) {
		balances, err = q.answer(ctx, s, at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("holdings at block %d: %w", at.Height, err)
	}
	return balances, nil
}

// balanceQuestion asks for the TRX, or the tokens of a contract, at addresses.
type balanceQuestion struct {
	of    []address
	token *address
}

func (q balanceQuestion) answer(ctx context.Context, s *rpc.Session, at chain.BlockRef) ([]bursar.Amount, error) {
	canonical, err := headerAt(ctx, s, full, at.Height)
	if err != nil {
		return nil, err
	}
	if canonical.ref() != at {
		return nil, fmt.Errorf("%w: block %d", chain.ErrOffChain, at.Height)
	}
	since := newHistory(at, q)
	var all []bursar.Amount
	for part := range slices.Chunk(q.of, together) {
		balances, now, err := balanceQuestion{part, q.token}.present(ctx, s, at.Height)
		if err != nil {
			return nil, err
		}
		if err := since.extend(ctx, s, now); err != nil {
			return nil, err
		}
		for i, a := range part {
			if balances[i], err = since.rewind(balances[i], a, now); err != nil {
				return nil, fmt.Errorf("balance of %s: %w", a, err)
			}
		}
		all = append(all, balances...)
	}
	return all, nil
}

// present reads balances between two reads of the same head, which is not below a height.
func (q balanceQuestion) present(
	ctx context.Context, s *rpc.Session, floor uint64,
) ([]bursar.Amount, chain.BlockRef, error) {
	v := solid
	before, err := newest(ctx, s, v)
	if err == nil && before.height() < floor {
		v = full
		before, err = newest(ctx, s, v)
	}
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	if before.height() < floor {
		return nil, chain.BlockRef{}, fmt.Errorf("%w: its newest block is %d", errLacks, before.height())
	}
	for range readings {
		balances, err := q.read(ctx, s, v)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		after, err := newest(ctx, s, v)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		if after.ID == before.ID {
			return balances, after.ref(), nil
		}
		before = after
	}
	return nil, chain.BlockRef{}, errMoved
}

func (q balanceQuestion) read(ctx context.Context, s *rpc.Session, v view) ([]bursar.Amount, error) {
	balances := make([]bursar.Amount, len(q.of))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, a := range q.of {
		group.Go(func() error {
			err := rpc.Guarded(func() (err error) {
				balances[i], err = q.one(groupCtx, s, v, a)
				return err
			})
			if err != nil {
				return fmt.Errorf("balance of %s: %w", a, err)
			}
			return nil
		})
	}
	return balances, group.Wait()
}

func (q balanceQuestion) one(ctx context.Context, s *rpc.Session, v view, a address) (bursar.Amount, error) {
	if q.token != nil {
		return tokenBalance(ctx, s, v, *q.token, a)
	}
	found, err := accountOf(ctx, s, v, a)
	if err != nil {
		return bursar.Amount{}, err
	}
	return found.Balance.amount()
}
