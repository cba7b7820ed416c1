package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	if len(versions) == 0 {
		return "", nil
	}
	lost, err := tx.Reservations().Lost(ctx, p.ID, final)
	if err == nil && len(lost) == 0 && p.Error != "" {
		lost, err = lostToOthers(ctx, tx, p, versions[0], final)
	}
	if err != nil || len(lost) == 0 {
		return "", err
	}
	for _, v := range versions {
		unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: v.Unsigned})
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(unsigned.Reservations, func(resource string) bool {
			return slices.Contains(lost, resource)
		}) {
			return "", nil
		}
	}
	return lost[0], s.unlessPaid(ctx, tx, p)
}

// lostToOthers returns what a version of an outgoing transaction needs, and what others have used by a final height,
// although it was never the outgoing transaction's own: one that was signed again after its database was restored may
// need what another version of it, or an external spend, has used in a block before. A node refuses such a
// transaction, so only those are looked up that could not go on.
func lostToOthers(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, v store.Version, final uint64,
) ([]string, error) {
	unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: v.Unsigned})
	if err != nil || len(unsigned.Reservations) == 0 {
		return nil, err
	}
	return tx.Reservations().UsedByOthers(ctx, p, unsigned.Reservations, final)
}

// unlessPaid returns a *paidError if an external spend may have paid what an outgoing transaction pays that can never
// be included: another version of it, whatever an operator said of that.
func (s *Sender) unlessPaid(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	orders, err := tx.Outgoing().OrdersPaid(ctx, p.ID)
	if err != nil || len(orders) == 0 {
		return err
	}
	pays, err := s.paymentsOf(orders)
	if err != nil {
		return err
	}
	x, err := s.assessor().MayHavePaid(ctx, tx, p.ID, pays)
	if err != nil {
		return store.IgnoreNotFound(err)
	}
	return &paidError{by: x}
}

// paidError says that a transaction that can never be included is not made again, because an external spend may have
// paid what it pays.
type paidError struct{ by store.ExternalSpend }

func (e *paidError) Error() string {
	return fmt.Sprintf("it can never be included, and transaction %s, which no withdrawal explains, makes the same "+
		"payment: `bursar recovery adopt %d --withdrawal ID` says whose it was, and nothing is paid again before that",
		e.by.TxID, e.by.Number)
}

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
