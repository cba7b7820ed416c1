package bitcoin

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
)

var errNotInPool = errors.New("the transaction is not in the node's mempool")

// entry is a transaction in a node's mempool (Bitcoin Core, rpc/mempool.cpp, entryToJSON). Since 31.0 mempools are kept
// in clusters, and a later version may omit the sums over ancestors or descendants: an absent member is nil, never
// zero.
type entry struct {
	Size         *uint64   `json:"vsize"`
	AncestorSize *uint64   `json:"ancestorsize"`
	Descendants  *uint64   `json:"descendantcount"` // itself included
	Children     *[]string `json:"spentby"`
	Fees         struct {
		Base     *satoshi `json:"base"`
		Ancestor *satoshi `json:"ancestor"`
	} `json:"fees"`
}

// poolEntry requests a transaction in the node's mempool, or returns errNotInPool.
func poolEntry(ctx context.Context, node caller, id chainhash.Hash) (entry, error) {
	var e entry
	err := node.Call(ctx, "getmempoolentry", []any{id.String()}, &e)
	if isCode(err, codeNoSuch) {
		return e, errNotInPool
	}
	return e, err
}

// addBumps computes how much less than a rate the unconfirmed parents of UTXOs pay. Miners include a transaction with
// its parents or not at all, so a child must pay the difference. A parent that is in no mempool has been mined in the
// meantime, or must be sent again first; either way it adds nothing.
func (c *Chain) addBumps(ctx context.Context, candidates []candidate, at rate) error {
	for i := range candidates {
		size, paid, err := withAncestors(ctx, c.nodes, candidates[i].from.tx)
		if errors.Is(err, errNotInPool) {
			continue
		}
		if err != nil {
			return fmt.Errorf("parent of %s: %w", candidates[i].utxo.Outpoint, err)
		}
		if due := at.fee(size); due > paid {
			candidates[i].bump = due - paid
		}
	}
	return nil
}

// withAncestors returns the virtual size and the fees of a transaction in the mempool together with its ancestors
// there. If the node does not report the sums, the ancestors are requested one by one.
func withAncestors(ctx context.Context, node caller, id chainhash.Hash) (size, paid uint64, err error) {
	e, err := poolEntry(ctx, node, id)
	switch {
	case err != nil:
		return 0, 0, err
	case e.AncestorSize != nil && e.Fees.Ancestor != nil:
		return *e.AncestorSize, uint64(*e.Fees.Ancestor), nil
	}
	ancestors := map[string]entry{}
	err = node.Call(ctx, "getmempoolancestors", []any{id.String(), true}, &ancestors)
	if isCode(err, codeNoSuch) {
		return 0, 0, errNotInPool
	}
	if err != nil {
		return 0, 0, err
	}
	ancestors[id.String()] = e
	for _, a := range ancestors {
		if a.Size == nil || a.Fees.Base == nil {
			return 0, 0, errors.New("the node reports neither the size nor the fee of a transaction in its mempool")
		}
		size += *a.Size
		paid += uint64(*a.Fees.Base)
	}
	return size, paid, nil
}

// alone checks that no transaction in the node's mempool spends an output of the transaction. A node that does not
// report this proves nothing.
func (c *Chain) alone(ctx context.Context, old unsigned) error {
	e, err := poolEntry(ctx, c.nodes, old.tx.TxHash())
	switch {
	case errors.Is(err, errNotInPool):
		return nil
	case err != nil:
		return err
	case e.Descendants == nil && e.Children == nil:
		return errors.New("the node does not report whether another transaction spends its change")
	case e.Descendants != nil && *e.Descendants > 1, e.Children != nil && len(*e.Children) > 0:
		return errors.New("another transaction spends its change: bump the fee of that one, which pays for both")
	}
	return nil
}
