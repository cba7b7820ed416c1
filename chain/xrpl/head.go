package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Head returns the newest validated ledger, which is final.
func (c *Chain) Head(ctx context.Context) (_ chain.Head, err error) {
	defer chain.Wrap(&err, "head")
	c.nodes.CompareHeights(ctx, func(ctx context.Context, s *rpc.Session) (uint64, error) {
		st, err := c.stand(ctx, s)
		return st.tip.Height, err
	})
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.Head{}, err
	}
	st, err := c.stand(ctx, s)
	if err != nil {
		return chain.Head{}, err
	}
	c.ahead.note(s.Name(), st, c.nodes.Now(), true)
	return chain.Head{Latest: st.tip, Final: st.tip}, nil
}

// pin chooses a node and requests its standing.
func (c *Chain) pin(ctx context.Context) (*rpc.Session, nodePosition, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, nodePosition{}, err
	}
	st, err := c.stand(ctx, s)
	return s, st, err
}

// At returns the validated ledger at a height, or chain.ErrNoBlock above the newest. A node that lacks an older one
// gives an error.
func (c *Chain) At(ctx context.Context, height uint64) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "ledger %d", height)
	s, st, err := c.pin(ctx)
	if err != nil {
		return chain.BlockRef{}, err
	}
	switch {
	case height > st.tip.Height || height == 0:
		return chain.BlockRef{}, chain.ErrNoBlock
	case height == st.tip.Height:
		return st.tip, nil
	case !st.held.covers(height, height):
		return chain.BlockRef{}, c.nodes.Without(s, fmt.Errorf("%w: %d", errGap, height))
	}
	h, err := headerAt(ctx, s, height)
	if errors.Is(err, errLacks) {
		return chain.BlockRef{}, c.nodes.Without(s, err)
	}
	if err != nil {
		return chain.BlockRef{}, err
	}
	return h.ref(), nil
}

// found is the used part of the answer of `tx`.
type found struct {
	status
	Hash      hash  `json:"hash"`
	Index     index `json:"ledger_index"`
	Validated bool  `json:"validated"`
}

// Find returns the validated ledger that contains a transaction, or chain.ErrNoBlock, also for a text that is not a
// transaction hash. A node with part of the ledger's history answers for that part.
func (c *Chain) Find(ctx context.Context, txID string) (_ chain.BlockRef, err error) {
	defer chain.Wrap(&err, "find %.80q", txID)
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return c.findOn(ctx, s, txID)
}

func (c *Chain) findOn(ctx context.Context, s *rpc.Session, txID string) (chain.BlockRef, error) {
	id, err := parseHash(txID)
	if err != nil {
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	answer, known, err := lookUp(ctx, s, id, nil)
	switch {
	case err != nil:
		return chain.BlockRef{}, err
	case !known || !answer.Validated:
		return chain.BlockRef{}, chain.ErrNoBlock
	}
	h, err := headerAt(ctx, s, uint64(answer.Index))
	if errors.Is(err, errLacks) {
		return chain.BlockRef{}, c.nodes.Without(s, err)
	}
	return h.ref(), err
}

// lookUp requests a transaction, within a range of ledgers if one is given, and reports whether the node has it, in a
// validated ledger or not yet. If not, Searched says whether the node searched every ledger of the range.
func lookUp(ctx context.Context, s *rpc.Session, id hash, within params) (answer found, known bool, err error) {
	with := params{"transaction": id.String(), "binary": true}
	for key, value := range within {
		with[key] = value
	}
	err = ask(ctx, s, "tx", with, &answer)
	var refused *nodeError
	switch {
	case errors.As(err, &refused) && refused.token == "txnNotFound":
		answer.Searched = refused.searched
		return answer, false, nil
	case err != nil:
		return found{}, false, err
	case answer.Hash != id:
		return found{}, false, s.Fail(fmt.Errorf("got transaction %s instead of %s", answer.Hash, id))
	}
	return answer, true, nil
}
