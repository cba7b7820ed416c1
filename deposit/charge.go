package deposit

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// settleCharge marks the charge that a deposit pays as paid, and returns the kind of the event to send: paid, or
// deposit for a deposit that came late, was too small or came after the charge was paid.
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

// unsettleCharge marks the charge that a reversed deposit paid as unpaid, and returns the deposit that pays it instead,
// if one does: the oldest that is credited, large enough, in time, and not in a block that is rolled back with this
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
