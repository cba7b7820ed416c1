package screening

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// OfDeposit returns what is asked about a deposit.
func OfDeposit(d bursar.Deposit) verdict.Request {
	return verdict.Request{
		Subject:  d.ID,
		Kind:     verdict.OfDeposit,
		Account:  d.AccountID,
		Chain:    d.Chain,
		Contract: d.Contract,
		Address:  d.Address,
		Units:    d.Amount,
		TxID:     d.TxID,
		Output:   d.Output,
		Block:    d.BlockHash,
	}
}

func rowOfDeposit(d bursar.Deposit) store.Screening {
	return store.Screening{
		Subject:   d.ID,
		Kind:      store.ScreenDeposit,
		Chain:     d.Chain,
		Block:     d.BlockHash,
		AccountID: d.AccountID,
		WalletID:  d.WalletID,
	}
}

// ordersOf returns the orders of those withdrawals that clients signed.
func ordersOf(
	ctx context.Context, tx *store.Tx, list []bursar.Withdrawal,
) (map[bursar.ID]bursar.SignedOrder, error) {
	ids := make([]bursar.ID, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	return tx.SignedOrders().Of(ctx, ids...)
}

// OfPayout returns what is asked about a withdrawal. order is the ID of the order that its client signed; zero: none
// did.
func OfPayout(registry *bursar.Registry, w bursar.Withdrawal, order bursar.ID) (verdict.Request, error) {
	currency, err := registry.Get(w.Currency)
	if order.IsZero() {
		order = w.ID // as the service writes it
	}
	return verdict.Request{
		Subject:  w.ID,
		Kind:     verdict.OfPayout,
		Order:    order,
		Account:  w.AccountID,
		Chain:    currency.Chain,
		Contract: currency.Contract,
		Address:  w.Address,
		Units:    w.Amount,
	}, err
}
