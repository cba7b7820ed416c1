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
	// together is how many balances are read between two looks at the head: a fraction of the three seconds of a block.
	together = 20
	// readers is how many balances are asked for at once.
	readers = 4
	// readings is how often these are read before a chain that moves all the while is an error.
	readings = 4
	// rewindable is how far back of its present state a node's balances are followed.
	rewindable = 200
)

var errTooOld = errors.New("the block is too far back: the node knows present balances only")

// Holdings reads balances from the newest solidified state, or from the newest state for a block that is not solidified
// yet, and takes back what the blocks after the given one did: java-tron answers no question about an older state. What
// other kinds of transactions than payments, tokens and contract calls did in these blocks is not taken back; we make
// none.
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
	var held []bursar.Amount
	err := c.constantly(ctx, func(s *rpc.Session) (err error) {
		held, err = q.answer(ctx, s, at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("holdings at block %d: %w", at.Height, err)
	}
	return held, nil
}

// balanceQuestion asks for the UTXOs, or for the tokens of a contract, at addresses.
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
		held, now, err := balanceQuestion{part, q.token}.present(ctx, s, at.Height)
		if err != nil {
			return nil, err
		}
		if err := since.extend(ctx, s, now); err != nil {
			return nil, err
		}
		for i, a := range part {
			if held[i], err = since.rewind(held[i], a, now); err != nil {
				return nil, fmt.Errorf("balance of %s: %w", a, err)
			}
		}
		all = append(all, held...)
	}
	return all, nil
}

// present reads balances between two looks at the same head, which is not below a height.
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
		return nil, chain.BlockRef{}, fmt.Errorf("%w: its newest is %d", errLacks, before.height())
	}
	for range readings {
		held, err := q.read(ctx, s, v)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		after, err := newest(ctx, s, v)
		if err != nil {
			return nil, chain.BlockRef{}, err
		}
		if after.ID == before.ID {
			return held, after.ref(), nil
		}
		before = after
	}
	return nil, chain.BlockRef{}, errMoved
}

func (q balanceQuestion) read(ctx context.Context, s *rpc.Session, v view) ([]bursar.Amount, error) {
	held := make([]bursar.Amount, len(q.of))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, a := range q.of {
		group.Go(func() error {
			err := rpc.Guarded(func() (err error) {
				held[i], err = q.one(groupCtx, s, v, a)
				return err
			})
			if err != nil {
				return fmt.Errorf("balance of %s: %w", a, err)
			}
			return nil
		})
	}
	return held, group.Wait()
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
