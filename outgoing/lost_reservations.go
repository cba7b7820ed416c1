package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// endIfLost ends a signed outgoing transaction that can never be included, as the final blocks prove: every version of
// it needs a UTXO that can never be spent by it, or a nonce that another transaction has used. A UTXO that was only
// reorged out proves nothing, because it may come back with the transaction that created it. It reports whether the
// outgoing transaction is over.
func (s *Sender) endIfLost(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (bool, error) {
	lost := ""
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		lost, err = s.lostReservation(ctx, tx, p, versions, state.Final)
		return err
	})
	if err != nil || lost == "" {
		return false, s.alarmIfPaid(ctx, lease, p, err)
	}
	after, err := s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		// The lease's lock keeps blocks from being reorged out here: check again, and check for versions added since.
		versions, err := tx.Outgoing().Versions(ctx, p.ID)
		if err != nil || now.Height > 0 {
			return err
		}
		if lost, err = s.lostReservation(ctx, tx, now, versions, state.Final); err != nil || lost == "" {
			return err
		}
		return s.endSigned(ctx, tx, now)
	})
	over := err == nil && after.Status == bursar.OutgoingAbandoned
	if over {
		s.Log.Warn("outgoing transaction can never be included: its payments are requested again", "outgoing", p.ID,
			"chain", p.Chain, "lost", lost)
	}
	return over, err
}

// lostReservation returns a UTXO or a nonce whose loss proves that no version of an outgoing transaction can be
// included, or "" if one of them still may be.
func (s *Sender) lostReservation(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, versions []store.Version, final uint64,
) (string, error) {
	lost, err := recovery.Lost(ctx, tx, p, versions, final)
	if err != nil || lost == "" {
		return "", err
	}
	return lost, s.unlessPaid(ctx, tx, p, final)
}

// unlessPaid returns a *paidError if an external spend may have paid a withdrawal that an outgoing transaction pays
// which can never be included: another version of it, whatever an operator said of that.
func (s *Sender) unlessPaid(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, final uint64) error {
	k := s.assessor()
	x, withdrawal, err := k.MayHavePaid(ctx, tx, p.ID, final)
	if err != nil {
		return store.IgnoreNotFound(err)
	}
	answers, err := k.Answers(ctx, tx, x, withdrawal)
	if err != nil {
		return err
	}
	return &paidError{by: x, reason: fmt.Sprintf("it can never be included, and transaction %s, which no withdrawal "+
		"explains, makes the same payment as for withdrawal %s, so that is not paid again: %s", x.TxID, withdrawal, answers)}
}

// paidError says that a transaction that can never be included is not made again, because an external spend may have
// paid a withdrawal that it pays.
type paidError struct {
	by     store.ExternalSpend
	reason string
}

func (e *paidError) Error() string { return e.reason }

// alarmIfPaid raises an alarm if the error is a *paidError, and returns why nothing goes on.
func (s *Sender) alarmIfPaid(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, err error) error {
	paid, is := errors.AsType[*paidError](err)
	if !is {
		return err
	}
	_, failed := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: recovery.AlarmUnclear, Ref: paid.by.TxID,
			Message: fmt.Sprintf("outgoing transaction %s waits: %v", p.ID, paid)})
	})
	return errors.Join(failed, &WaitError{Reason: paid.Error()})
}
