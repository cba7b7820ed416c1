package tron

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// fetchRange asks for count blocks from a height on, and returns those up to the first that cannot be had. Where s has no
// room left, other endpoints that are at height top are asked too.
func fetchRange(ctx context.Context, s *rpc.Session, from uint64, count int, top uint64) ([]*delivered, error) {
	return rpc.Fetch(ctx, s, count, top, func(ctx context.Context, s *rpc.Session, i int) (*delivered, error) {
		return fetch(ctx, s, from+uint64(i))
	})
}

// fetch asks for a block and what its transactions did, and checks them against each other.
func fetch(ctx context.Context, s *rpc.Session, height uint64) (*delivered, error) {
	d := &delivered{}
	ask := map[string]any{"num": height}
	if err := post(ctx, s, full, "getblockbynum", ask, &d.block); err != nil {
		return nil, unsound(s, fmt.Errorf("block %d: %w", height, err))
	}
	if d.ID == (hash{}) {
		return nil, fmt.Errorf("%w: %d", errNoneThere, height) // it answers {}
	}
	if err := d.check(height); err != nil {
		return nil, s.Fail(fmt.Errorf("block %d: %w", height, err))
	}
	if len(d.Txs) == 0 {
		return d, nil
	}
	var list []execution
	if err := s.Post(ctx, "/wallet/gettransactioninfobyblocknum", ask, &list); err != nil {
		return nil, unsound(s, fmt.Errorf("results of block %d: %w", height, err))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: the results of %d", errLacks, height) // as another node than the block's tells it
	}
	executions, err := d.join(list)
	if err != nil {
		return nil, s.Fail(fmt.Errorf("results of block %d: %w", height, err))
	}
	d.executions = executions
	return d, nil
}

// unsound puts an endpoint into a cool-down that answers an error about a block which it has said to have.
func unsound(s *rpc.Session, err error) error {
	var answered *rpc.Error
	if errors.Is(err, rpc.ErrNull) || errors.Is(err, errAnswer) || errors.As(err, &answered) {
		return s.Fail(err)
	}
	return err
}
