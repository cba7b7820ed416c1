package unattributed

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// A deposit is recorded with its first purpose by package deposit. Every later change of it is here, in a database
// transaction that has locked the chain:
//
//	customer's    → unattributed   TakeFromCustomer   rejected in screening, before it is credited; not undone
//	unattributed  → customer's     GiveToCustomer     assigned; not undone
//	unattributed  → operator funds keepForOperator    kept; not undone
//	unattributed  → refunded       markRefunded       to be refunded to its sender, or paid to it after all
//	refunded      → unattributed   unmarkRefunded     undoes markRefunded: nobody was paid
//
// Each fails if the deposit has another purpose by now, posts nothing and closes no alarm: the entry and the alarm
// belong to the reason of the change. The three that are not undone end with the deposit: a block that no longer has
// the deposit reverses what was booked of it under the purpose that it has then, and a deposit that comes back keeps
// its purpose.

// TakeFromCustomer makes a pending deposit of a customer unattributed.
func TakeFromCustomer(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	from := d.Purpose
	d.Purpose, d.AccountID, d.WalletID, d.Webhook, d.Metadata = bursar.ForUnattributed, bursar.ID{}, bursar.ID{}, "", ""
	return tx.Deposits().SetOwner(ctx, d, 0, from)
}

// GiveToCustomer makes an unattributed deposit a customer's: d has the Purpose, AccountID, WalletID, Fee and
// ConfirmedAt that it is to have, and wallet is the number of its wallet, 0 for none.
func GiveToCustomer(ctx context.Context, tx *store.Tx, d bursar.Deposit, wallet int64) error {
	return tx.Deposits().SetOwner(ctx, d, wallet, bursar.ForUnattributed)
}

// keepForOperator makes an unattributed deposit operator funds.
func keepForOperator(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	d.Purpose = bursar.ForOperatorFunds
	return tx.Deposits().SetOwner(ctx, d, 0, bursar.ForUnattributed)
}

// markRefunded sets an unattributed deposit aside for the refund to its sender; unmarkRefunded undoes it.
func markRefunded(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	d.Purpose = bursar.ForRefunded
	return tx.Deposits().SetOwner(ctx, d, 0, bursar.ForUnattributed)
}

// unmarkRefunded makes a deposit unattributed again whose refund to its sender paid nobody; it undoes markRefunded.
func unmarkRefunded(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	d.Purpose = bursar.ForUnattributed
	return tx.Deposits().SetOwner(ctx, d, 0, bursar.ForRefunded)
}
