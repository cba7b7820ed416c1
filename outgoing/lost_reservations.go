package outgoing

import (
	"context"
	"errors"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// endIfLost ends a signed outgoing transaction that can never be included, as the final blocks prove: every version of
// it needs a UTXO that can never be spent by it, or a nonce that an external spend has used. A UTXO that was only
// reorged out proves nothing, because it may come back with the transaction that created it. It reports whether the
// outgoing transaction is over.
func (s *Sender) endIfLost(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (bool, error) {
	lost := ""
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		lost, err = lostReservation(ctx, tx, p, versions, state.Final)
		return err
	})
	if err != nil || lost == "" {
		return false, err
	}
	after, err := s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		// The lease's lock keeps blocks from being reorged out here: check again, and check for versions added since.
		versions, err := tx.Outgoing().Versions(ctx, p.ID)
		if err != nil || now.Height > 0 {
			return err
		}
		if lost, err = lostReservation(ctx, tx, now, versions, state.Final); err != nil || lost == "" {
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

// lostReservation returns a UTXO whose loss proves that no version of an outgoing transaction can be included, or "" if
// one of them still may be.
func lostReservation(
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
	return lost[0], nil
}

// lostToOthers returns what a version of an outgoing transaction needs, and what others have used by a final height,
// although it was never the outgoing transaction's own: one that was signed again after its database was restored may
// need what belongs to another version of it, which was adopted from a block before. A node refuses such a transaction,
// so only those are looked up that could not go on. One that pays what the database knows is left out: the other
// version has paid that, whatever an operator said of it, and it is not to be paid again. What one of ours that was
// signed here used is lost in any case: replicas with marks of their own may have signed both with one nonce.
func lostToOthers(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, v store.Version, final uint64,
) ([]string, error) {
	unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: v.Unsigned})
	if err != nil || len(unsigned.Reservations) == 0 {
		return nil, err
	}
	if used, err := tx.Reservations().UsedByOurs(ctx, p, unsigned.Reservations, final); err != nil || len(used) > 0 {
		return used, err
	}
	if paid, err := tx.Withdrawals().PaidBy(ctx, p.ID); err != nil || len(paid) > 0 {
		return nil, err
	}
	if _, err := tx.Resolutions().RefundPaidBy(ctx, p.ID); !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return tx.Reservations().UsedByOthers(ctx, p, unsigned.Reservations, final)
}
