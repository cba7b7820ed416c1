package deposit

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// settleCharge marks the charge that a deposit pays, and returns the event to send: paid, or deposit for money that
// came late, short or again.
func (c Credits) settleCharge(ctx context.Context, tx *store.Tx, d bursar.Deposit) (bursar.EventKind, error) {
	if d.Purpose != bursar.ForCharge {
		return bursar.EventDeposit, nil
	}
	charge, err := tx.Charges().Lock(ctx, d.WalletID)
	if err != nil || !charge.PaidWith(d.Amount, d.SeenAt) {
		return bursar.EventDeposit, err
	}
	return bursar.EventPaid, tx.Charges().SetPaidBy(ctx, charge.ID, d.ID)
}

// unsettleCharge makes the charge unpaid that a deposit paid which was taken back, and returns the deposit that pays it
// instead, if one does: the oldest that is credited, enough, in time, and in no block that is reorged out with this
// one.
func (c Credits) unsettleCharge(
	ctx context.Context, tx *store.Tx, d bursar.Deposit,
) (heir bursar.Deposit, found bool, err error) {
	if d.Purpose != bursar.ForCharge {
		return heir, false, nil
	}
	charge, err := tx.Charges().Lock(ctx, d.WalletID)
	if err != nil || charge.PaidBy != d.ID {
		return heir, false, err
	}
	charge.PaidBy = bursar.ID{}
	credited, err := tx.Charges().CreditedDeposits(ctx, charge.Number)
	if err != nil {
		return heir, false, err
	}
	for _, other := range credited {
		if other.ID != d.ID && other.Height < d.Height && charge.PaidWith(other.Amount, other.SeenAt) {
			return other, true, tx.Charges().SetPaidBy(ctx, charge.ID, other.ID)
		}
	}
	return heir, false, tx.Charges().SetPaidBy(ctx, charge.ID, bursar.ID{})
}
