package tron

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bursar/bursar/chain/rpc"
)

var errSilent = errors.New("the node returns no internal transactions")

// fetchRange requests count blocks from a height on, and returns those before the first unavailable one. If s has no
// capacity left, other endpoints that are at height top are asked too. One of these that keeps no internal transactions
// cannot help if s keeps them: the value that contracts sent would be missing, and no hash would reveal it.
func fetchRange(ctx context.Context, s *rpc.Session, from uint64, count int, top uint64) ([]*delivered, error) {
	var keeps atomic.Bool // s keeps internal transactions
	silent := make([]bool, count)
	list, err := rpc.Fetch(ctx, s, count, top, func(ctx context.Context, through *rpc.Session, i int) (*delivered, error) {
		d, err := fetch(ctx, through, from+uint64(i))
		if err != nil {
			return nil, err
		}
		if silent[i] = through != s && d.silent(); through == s && d.internal() {
			keeps.Store(true)
		}
		if silent[i] && keeps.Load() {
			return nil, fmt.Errorf("block %d of %s: %w", d.height(), through.Name(), errSilent)
		}
		return d, nil
	})
	if i := slices.Index(silent[:len(list)], true); i >= 0 && keeps.Load() {
		list = list[:i] // drop the rest: it was read before s had shown any
	}
	return list, err
}

// fetch requests a block and the results of its transactions, and checks them against each other.
func fetch(ctx context.Context, s *rpc.Session, height uint64) (*delivered, error) {
	d := &delivered{}
	ask := map[string]any{"num": height}
	if err := post(ctx, s, full, "getblockbynum", ask, &d.block); err != nil {
		return nil, unsound(s, fmt.Errorf("block %d: %w", height, err))
	}
	if d.ID == (hash{}) {
		return nil, fmt.Errorf("%w: %d", errNoneThere, height) // the answer is {}
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
		return nil, fmt.Errorf("%w: the results of %d", errLacks, height) // another node than the block's has answered
	}
	executions, err := d.join(list)
	if err != nil {
		return nil, s.Fail(fmt.Errorf("results of block %d: %w", height, err))
	}
	d.executions = executions
	return d, nil
}

// unsound puts an endpoint into a cool-down that returns an error for a block that it has announced.
func unsound(s *rpc.Session, err error) error {
	var answered *rpc.Error
	if errors.Is(err, rpc.ErrNull) || errors.Is(err, errAnswer) || errors.As(err, &answered) {
		return s.Fail(err)
	}
	return err
}
