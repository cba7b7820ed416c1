package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// share is one kind's part of a step.
type share struct {
	name bursar.OutgoingShare
	sent int // how many that are built or sent one step looks at
	due  int // how many of each currency that are not drafted yet one step looks at
	// vain is how many of each currency one step drafts in vain. Who lacks what the others lack too is looked past, and
	// comes behind them at the next step.
	vain int
}

// shares are in the order in which a step comes to them. What one of them has to do never takes from another's part.
var shares = []share{
	{bursar.ShareWithdrawal, 64, 64, 8},
	{bursar.ShareRefund, 16, 8, 4},
	{bursar.ShareTopUp, 32, 32, 4},
	{bursar.ShareSweep, 64, 16, 16},
}

// room is how many further transactions of a share may wait in no block from the hot address. Each share has places
// that no other takes, so that neither top-ups nor refunds wait for the end of a rush of withdrawals, or the other way
// round.
func (s *Sender) room(name bursar.OutgoingShare, occupied map[bursar.OutgoingShare]int) int {
	all := max(1, s.Chain.Capabilities().MaxPending)
	total := 0
	for _, n := range occupied {
		total += n
	}
	least := map[bursar.OutgoingShare]int{bursar.ShareRefund: max(1, all/8), bursar.ShareTopUp: max(1, all/4),
		bursar.ShareSweep: max(1, all/8)}
	most, own := least[name]
	if !own {
		if most = all; s.Chain.Capabilities().Model == chain.AccountModel {
			most -= least[bursar.ShareTopUp]
		}
		most = max(1, most-least[bursar.ShareRefund])
	}
	return min(most-occupied[name], all-total)
}

// advanceAll takes the outgoing transactions of every share one step further. An outgoing transaction's trouble holds
// up no other, and a share's none of the other shares; it is noted with the outgoing transaction.
func (s *Sender) advanceAll(ctx context.Context, lease store.Lease, state store.ChainState) error {
	var failed error
	for i := range shares {
		part := shares[(i+s.turn)%len(shares)] // where few may be under way, each comes first in its turn
		if err := s.advanceShare(ctx, lease, state, part); err != nil {
			if stops(ctx, err) {
				return err
			}
			failed = errors.Join(failed, fmt.Errorf("%ss: %w", part.name, err))
		}
	}
	s.turn = (s.turn + 1) % len(shares)
	return failed
}

// stops reports whether nothing else can be done in a step after an error.
func stops(ctx context.Context, err error) bool {
	return errors.Is(err, store.ErrLeaseLost) || errors.Is(err, chain.ErrExternalNonce) || ctx.Err() != nil
}

func (s *Sender) advanceShare(ctx context.Context, lease store.Lease, state store.ChainState, part share) error {
	if err := s.advanceSent(ctx, lease, state, part); err != nil {
		return err
	}
	var failed error
	for _, currency := range s.Registry.On(s.Chain.Capabilities().ID) {
		if err := s.advanceNew(ctx, lease, state, part, currency.Code); err != nil {
			if stops(ctx, err) {
				return err
			}
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// advanceSent takes up what is built or sent where the last step ended, so that all of it is come to, however much it
// is.
func (s *Sender) advanceSent(ctx context.Context, lease store.Lease, state store.ChainState, part share) error {
	var open []bursar.OutgoingTx
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		id, last := s.Chain.Capabilities().ID, s.last[part.name]
		if open, err = tx.Outgoing().UnderWay(ctx, id, part.name, last, part.sent); err != nil || len(open) == part.sent ||
			last == 0 {
			return err
		}
		first, err := tx.Outgoing().UnderWay(ctx, id, part.name, 0, part.sent-len(open))
		for _, p := range first {
			if p.Number <= last {
				open = append(open, p)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range open {
		s.last[part.name] = p.Number
		if err := s.advanceOne(ctx, lease, state, p); err != nil {
			return err
		}
	}
	return nil
}

// advanceNew drafts what is new of a currency: as much as has room, and as long as not too much of it was in vain.
func (s *Sender) advanceNew(
	ctx context.Context, lease store.Lease, state store.ChainState, part share, currency bursar.CurrencyCode,
) error {
	id := s.Chain.Capabilities().ID
	var due []bursar.OutgoingTx
	var occupied map[bursar.OutgoingShare]int
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if due, err = tx.Outgoing().New(ctx, id, part.name, currency, part.due); err != nil || len(due) == 0 {
			return err
		}
		occupied, err = tx.Outgoing().OccupiedBy(ctx, id, s.Hot.Base)
		return err
	})
	if err != nil {
		return err
	}
	var vain []bursar.ID
	for _, p := range due {
		if len(vain) == part.vain || p.Base == s.Hot.Base && s.room(part.name, occupied) < 1 && !isVoiding(p) {
			break
		}
		after, err := s.advanceNoted(ctx, lease, state, p)
		if err != nil {
			return err
		}
		switch {
		case after.Status == bursar.OutgoingNew:
			vain = append(vain, p.ID)
		case p.Base == s.Hot.Base && after.Status != bursar.OutgoingAbandoned:
			occupied[part.name]++
		}
	}
	if len(vain) < part.vain && len(due) < part.due {
		return nil // all of them are looked at again at the next step
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Outgoing().PassOver(ctx, id, part.name, currency, vain)
	})
}

func (s *Sender) advanceOne(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	_, err := s.advanceNoted(ctx, lease, state, p)
	return err
}

// advanceNoted is advance, and notes a trouble with the outgoing transaction. It returns an error where others could
// not go on either.
func (s *Sender) advanceNoted(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	after, err := s.advance(ctx, lease, state, p)
	if err != nil && stops(ctx, err) {
		return after, err
	}
	if err == nil && after.Error != p.Error {
		return after, nil // the step has noted by itself what there is to know, such as why the transaction ended
	}
	return after, s.note(ctx, lease, p, err)
}
