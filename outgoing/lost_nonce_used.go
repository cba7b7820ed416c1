package outgoing

import (
	"context"
	"errors"
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
// not used it, and now one says that it has. That is not noted in the database: if the second one is wrong, the nonce
// is found again. As long as only a newer block has used it, that may be the lost transaction, and the follower will
// record it.
func (s *Sender) endIfUsed(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error,
) (bursar.OutgoingTx, error) {
	final, used, err := s.usedBefore(ctx, p)
	if err != nil {
		return p, errors.Join(err, cause)
	}
	if !used {
		return p, &WaitError{Reason: "its nonce is used in a block that is not recorded yet: " + cause.Error()}
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		_, err := s.endUsed(ctx, tx, now, final)
		return err
	})
	if err == nil && after.Status == bursar.OutgoingAbandoned {
		s.memory.contradicted[p.Base] = s.DB.Now().Add(contradictionRest)
	}
	return after, err
}

// usedBefore reports whether the recorded final block has used the nonce that a transaction was to use up, and returns
// that block. The transaction itself is in no block.
func (s *Sender) usedBefore(ctx context.Context, p bursar.OutgoingTx) (final store.Block, used bool, err error) {
	resource, _ := recovery.Fills(p)
	nonce, is := nonceOf(p.Base, resource)
	reader, can := s.nonceReader()
	if !is || !can || p.Height > 0 {
		return final, false, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, p.Chain)
		if err == nil {
			final, err = tx.Blocks().At(ctx, p.Chain, state.Final)
		}
		return err
	})
	if err != nil {
		return final, false, fmt.Errorf("find out whether nonce %d of %s is used: %w", nonce, p.Base, err)
	}
	next, err := reader.NonceAt(ctx, p.Base, chain.BlockRef{Height: final.Height, Hash: final.Hash})
	if err != nil {
		return final, false, fmt.Errorf("find out whether nonce %d of %s is used: %w", nonce, p.Base, err)
	}
	return final, next > nonce, nil
}

// endUsed ends a transaction that was to use up a nonce which a block has used, if that is still the recorded one, and
// reports whether it has.
func (s *Sender) endUsed(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, final store.Block,
) (ended bool, err error) {
	at, err := tx.Blocks().At(ctx, p.Chain, final.Height)
	if err != nil || at != final || p.Height > 0 {
		return false, err
	}
	if err := tx.UTXOs().ForgetChange(ctx, p.ID); err != nil {
		return false, err
	}
	if err := tx.Reservations().Free(ctx, p.ID); err != nil {
		return false, err
	}
	p.Error = fmt.Sprintf("its nonce was not lost: block %d has used it", final.Height)
	tx.After(func() {
		s.Log.Warn("a nonce is not lost: nodes contradict each other about it", "chain", p.Chain, "address", p.Base,
			"outgoing", p.ID)
	})
	return true, s.end(ctx, tx, p)
}

// abandonUsed ends a signed transaction that uses up a nonce, by an operator's word, if a node says that the final
// block has used that. Without an operator the word of a node does not suffice: what is signed may be included.
func (s *Sender) abandonUsed(ctx context.Context, p bursar.OutgoingTx) error {
	final, used, err := s.usedBefore(ctx, p)
	if err != nil {
		return err
	}
	if !used {
		return fmt.Errorf("%w: outgoing transaction %s uses up a nonce that the final block has not used; the service "+
			"sends it and bumps its fee until it is included", ErrCannotBeVoid, p.ID)
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Chains().Lock(ctx, p.Chain); err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		if now.Status == bursar.OutgoingFinal || now.Status == bursar.OutgoingAbandoned {
			return fmt.Errorf("%w: %s", ErrNotOpen, now.Status)
		}
		ended, err := s.endUsed(ctx, tx, now, final)
		if err == nil && !ended {
			err = fmt.Errorf("%w: outgoing transaction %s is in a block by now, or the final block was replaced; ask again",
				ErrCannotBeVoid, p.ID)
		}
		return err
	})
}
