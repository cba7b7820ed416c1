package deposit

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// settleCharges marks the charges that deposits pay as paid, and returns the kind of each deposit's event: paid, or
// deposit for one that pays no charge, that came late, was too small or came after the charge was paid.
func (c Announcer) settleCharges(
	ctx context.Context, tx *store.Tx, deposits []bursar.Deposit,
) ([]bursar.EventKind, error) {
	charges, err := lockCharges(ctx, tx, deposits)
	if err != nil {
		return nil, err
	}
	kinds := make([]bursar.EventKind, len(deposits))
	var paid []bursar.Charge
	for i, d := range deposits {
		kinds[i] = bursar.EventDeposit
		charge, is := charges[d.WalletID]
		if d.Purpose != bursar.ForCharge || !is || !charge.PaidWith(d.Amount, d.SeenAt) {
			continue
		}
		charge.PaidBy = d.ID
		charges[charge.ID], paid, kinds[i] = charge, append(paid, charge), bursar.EventPaid
	}
	return kinds, tx.Charges().MarkPaid(ctx, paid)
}

func lockCharges(
	ctx context.Context, tx *store.Tx, deposits []bursar.Deposit,
) (map[bursar.ID]bursar.Charge, error) {
	var ids []bursar.ID
	seen := map[bursar.ID]bool{}
	for _, d := range deposits {
		if d.Purpose == bursar.ForCharge && !seen[d.WalletID] {
			seen[d.WalletID], ids = true, append(ids, d.WalletID)
		}
	}
	charges, err := tx.Charges().LockAll(ctx, ids)
	if err == nil && len(charges) < len(ids) {
		err = fmt.Errorf("%d of %d charges are not recorded", len(ids)-len(charges), len(ids))
	}
	return charges, err
}

// unsettleCharge marks the charge that a reversed deposit paid as unpaid, and returns the deposit that pays it instead,
// if one does: the oldest that is credited, large enough, in time, and not in a block that is rolled back with this
// one.
func (c Announcer) unsettleCharge(
	ctx context.Context, tx *store.Tx, d bursar.Deposit,
) (next bursar.Deposit, found bool, err error) {
	if d.Purpose != bursar.ForCharge {
		return next, false, nil
	}
	charge, err := tx.Charges().Lock(ctx, d.WalletID)
	if err != nil || charge.PaidBy != d.ID {
		return next, false, err
	}
	charge.PaidBy = bursar.ID{}
	credited, err := tx.Charges().CreditedDeposits(ctx, charge.Number)
	if err != nil {
		return next, false, err
	}
	for _, other := range credited {
		if other.ID != d.ID && other.Height < d.Height && charge.PaidWith(other.Amount, other.SeenAt) {
			return other, true, tx.Charges().SetPaidBy(ctx, charge.ID, other.ID)
		}
	}
	return next, false, tx.Charges().SetPaidBy(ctx, charge.ID, bursar.ID{})
}
