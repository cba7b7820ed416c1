package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// ErrNotLost is returned if other nonces of an address are lost than an operator says.
var ErrNotLost = errors.New("the lost nonces are others")

// UseUp is an operator's word that many nonces of an address are lost, more than are used up without it.
type UseUp struct {
	Base   string
	Nonces int // how many they are
	Reason string
	Actor  string
}

// UseUpNonces requests a transaction for each lost nonce of an address, however many there are. It returns the lowest
// and the highest of them. The error is ErrNotLost, and nothing has changed, if not exactly as many are lost as the
// operator says.
func (s *Sender) UseUpNonces(ctx context.Context, u UseUp) (lowest, highest uint64, err error) {
	reader, can := s.nonceReader()
	if !can {
		return 0, 0, fmt.Errorf("%w: no nonce can be lost on chain %s", ErrNotLost, s.Chain.Capabilities().ID)
	}
	from, final, err := s.payerAndFinal(ctx, u.Base)
	if err != nil {
		return 0, 0, err
	}
	used, err := reader.NonceAt(ctx, u.Base, chain.BlockRef{Height: final.Height, Hash: final.Hash})
	if err != nil {
		return 0, 0, fmt.Errorf("find out which nonces of %s are used: %w", u.Base, err)
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().Lock(ctx, s.Chain.Capabilities().ID)
		if err != nil {
			return err
		}
		lost, _, err := s.lostNow(ctx, tx, state, u.Base, used, final)
		if err != nil {
			return err
		}
		if len(lost) != u.Nonces || len(lost) == 0 {
			return fmt.Errorf("%w: %d nonces of %s are lost, not %d; while the chain is halted or recovering, none count",
				ErrNotLost, len(lost), u.Base, u.Nonces)
		}
		lowest, highest = lost[0], lost[len(lost)-1]
		by := make([]bursar.OutgoingTx, len(lost))
		for i, nonce := range lost {
			if by[i], err = s.requestFilling(ctx, tx, from, nonce); err != nil {
				return err
			}
		}
		return s.sayFilling(ctx, tx, by...)
	})
	if err == nil {
		s.Log.Warn("lost nonces are being used up by an operator's word", "chain", s.Chain.Capabilities().ID, "address",
			u.Base, "lowest", lowest, "highest", highest, "nonces", u.Nonces, "reason", u.Reason, "actor", u.Actor)
	}
	return lowest, highest, err
}

// payerAndFinal returns the source of an address: a hot wallet's, or that of what is under way from a deposit address;
// and the recorded block that is final.
func (s *Sender) payerAndFinal(ctx context.Context, base string) (from chain.Source, final store.Block, err error) {
	id := s.Chain.Capabilities().ID
	from, known := s.hotAt(base)
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, id)
		if err != nil {
			return err
		}
		if final, err = tx.Blocks().At(ctx, id, state.Final); err != nil {
			return fmt.Errorf("the final block of %s is not recorded: %w", id, err)
		}
		if known {
			return nil
		}
		open, err := tx.Outgoing().OpenFrom(ctx, id, base, bursar.ID{})
		if err != nil {
			return err
		}
		if len(open) == 0 {
			return fmt.Errorf("%w: nothing is under way from %s", ErrNotLost, base)
		}
		request, err := DecodeRequest(open[0])
		from = request.From
		return err
	})
	return from, final, err
}
