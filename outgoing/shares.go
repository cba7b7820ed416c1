package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// share is the part of a step for one kind of outgoing transactions.
type share struct {
	name bursar.OutgoingShare
	sent int // how many built or sent ones one step looks at
	due  int // how many unbuilt ones of each currency one step looks at
	// vain is how many of each currency one step may fail to build. Those that lack what the others lack too are passed
	// over, and come after the others at the next step.
	vain int
}

// shares lists the shares in the order in which a step handles them. The work of one never takes from another's part.
var shares = []share{
	{bursar.ShareWithdrawal, 64, 64, 8},
	{bursar.ShareRefund, 16, 8, 4},
	{bursar.ShareTopUp, 32, 32, 4},
	{bursar.ShareSweep, 64, 16, 16},
}

// capacity is the number of further transactions of a share that may wait for a block from the hot wallet. Each share
// has places that no other takes, so that top-ups and refunds do not wait for the end of a rush of withdrawals, nor
// withdrawals for theirs.
func (s *Sender) capacity(name bursar.OutgoingShare, occupied map[bursar.OutgoingShare]int) int {
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

// advanceAll takes the outgoing transactions of every share one step further. An error of one outgoing transaction is
// stored with it and holds up no other; an error of one share holds up no other share.
func (s *Sender) advanceAll(ctx context.Context, lease store.Lease, state store.ChainState) error {
	var failed error
	for i := range shares {
		part := shares[(i+s.memory.firstShare)%len(shares)] // where few may be in progress, each share comes first in turn
		if err := s.advanceShare(ctx, lease, state, part); err != nil {
			if stops(ctx, err) {
				return err
			}
			failed = errors.Join(failed, fmt.Errorf("%ss: %w", part.name, err))
		}
	}
	s.memory.firstShare = (s.memory.firstShare + 1) % len(shares)
	return failed
}

// stops reports whether an error ends the whole step.
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

// advanceSent continues with the built or sent transactions where the last step ended, so that each is reached, however
// many there are.
func (s *Sender) advanceSent(ctx context.Context, lease store.Lease, state store.ChainState, part share) error {
	var open []bursar.OutgoingTx
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		id, last := s.Chain.Capabilities().ID, s.memory.shareCursor[part.name]
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
		s.memory.shareCursor[part.name] = p.Number
		if err := s.advanceOne(ctx, lease, state, p); err != nil {
			return err
		}
	}
	return nil
}

// advanceNew builds the new transactions of a currency, as long as there is room and not too many of them fail.
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
	if part.name == bursar.ShareSweep && len(due) > 0 && s.journalIsBusy() {
		return s.waitForJournal(ctx, lease, due)
	}
	var vain []bursar.ID
	built := 0
	for _, p := range due {
		if len(vain) == part.vain {
			break
		}
		if p.Base == s.Hot.Base && s.capacity(part.name, occupied) < 1 && !isVoiding(p) {
			if err := s.advanceVoiding(ctx, lease, state, part, currency, vain); err != nil {
				return err
			}
			break
		}
		after, err := s.advanceNoted(ctx, lease, state, p)
		if err != nil {
			return err
		}
		if after.Status != bursar.OutgoingNew {
			built++
		}
		switch {
		case after.Status == bursar.OutgoingNew:
			vain = append(vain, p.ID)
		case p.Base == s.Hot.Base && after.Status != bursar.OutgoingAbandoned:
			occupied[part.name]++
		}
	}
	if len(vain) < part.vain && len(due) < part.due {
		return nil // the next step looks at all of them again
	}
	s.memory.more = s.memory.more || built == part.due // the next step follows at once
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Outgoing().MoveToBack(ctx, id, part.name, currency, vain)
	})
}

// journalIsBusy reports whether the journal outside the database has so many transactions that are not final that
// sweeps wait: they may come faster than they become final, and while it is full nothing is paid.
func (s *Sender) journalIsBusy() bool { return s.Marks != nil && s.Marks.Busy() }

// waitForJournal stores with sweeps why they wait.
func (s *Sender) waitForJournal(ctx context.Context, lease store.Lease, sweeps []bursar.OutgoingTx) error {
	for _, p := range sweeps {
		err := s.storeError(ctx, lease, p, &WaitError{Reason: "the journal beside the marks is half full with transactions " +
			"that are not final: sweeps wait, so that payments have capacity in it"})
		if err != nil {
			return err
		}
	}
	return nil
}

// advanceVoiding builds the voiding transactions of a share that has no room. They need none, because each has the
// nonce or the UTXOs of the one that it voids; and what takes the room may wait for them.
func (s *Sender) advanceVoiding(ctx context.Context, lease store.Lease, state store.ChainState, part share,
	currency bursar.CurrencyCode, tried []bursar.ID) error {
	var due []bursar.OutgoingTx
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		due, err = tx.Outgoing().NewOnce(ctx, s.Chain.Capabilities().ID, part.name, currency, onceAbandon, part.due)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range due {
		if slices.Contains(tried, p.ID) {
			continue
		}
		if err := s.advanceOne(ctx, lease, state, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sender) advanceOne(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	_, err := s.advanceNoted(ctx, lease, state, p)
	return err
}

// advanceNoted is advance and stores an error with the outgoing transaction. It returns an error only if the other
// transactions cannot go on either.
func (s *Sender) advanceNoted(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	after, err := s.advance(ctx, lease, state, p)
	if err != nil && stops(ctx, err) {
		return after, err
	}
	if err == nil && after.Error != p.Error {
		return after, nil // the step itself has stored the error, such as why the transaction ended
	}
	return after, s.storeError(ctx, lease, p, err)
}
