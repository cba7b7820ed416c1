package outgoing

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// contradictionRest is how long no nonce of an address is used up after nodes have contradicted each other about it.
const contradictionRest = 10 * time.Minute

// endIfUsed ends a transaction that was to use up a nonce which was not lost: a node had said that the final block has
// not used it, and now one says that it has. That is not noted in the database: if the second one is wrong, the nonce is
// found again. As long as only a newer block has used it, that may be the lost transaction, and the follower will record
// it.
func (s *Sender) endIfUsed(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error,
) (bursar.OutgoingTx, error) {
	resource, _ := recovery.Fills(p)
	nonce, is := nonceOf(p.Base, resource)
	reader, can := s.nonceReader()
	waiting := &WaitError{Reason: "its nonce is used in a block that is not recorded yet: " + cause.Error()}
	if !is || !can {
		return p, waiting
	}
	var final store.Block
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, p.Chain)
		if err == nil {
			final, err = tx.Blocks().At(ctx, p.Chain, state.Final)
		}
		return err
	})
	if err != nil {
		return p, fmt.Errorf("find out whether nonce %d of %s is used: %w", nonce, p.Base, err)
	}
	used, err := reader.NonceAt(ctx, p.Base, chain.BlockRef{Height: final.Height, Hash: final.Hash})
	if err != nil || used <= nonce {
		return p, waiting
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if at, err := tx.Blocks().At(ctx, p.Chain, final.Height); err != nil || at != final {
			return err
		}
		if err := tx.Reservations().Free(ctx, now.ID); err != nil {
			return err
		}
		now.Error = fmt.Sprintf("nonce %d of %s was not lost: block %d has used it", nonce, p.Base, final.Height)
		return s.end(ctx, tx, now)
	})
	if err == nil && after.Status == bursar.OutgoingAbandoned {
		s.memory.contradicted[p.Base] = s.DB.Now().Add(contradictionRest)
		s.Log.Warn("a nonce is not lost: nodes contradict each other about it", "chain", p.Chain, "address", p.Base,
			"nonce", nonce, "outgoing", p.ID)
	}
	return after, err
}
