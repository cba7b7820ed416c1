package ledger

import (
	"time"

	"github.com/bursar/bursar"
)

// UnattributedAssigned books an unattributed deposit for the customer whom the operator named. The books are then as if
// DepositCredited had booked it: DepositReversed undoes exactly that.
func UnattributedAssigned(d bursar.Deposit, at time.Time) Entry {
	return entry(KindAssigned, d.ID.String(), at,
		post(Unattributed, Available(d.AccountID), d.Currency, d.Amount),
		post(Available(d.AccountID), DepositFees, d.Currency, d.Fee))
}

// UnattributedKept books an unattributed deposit as operator funds.
func UnattributedKept(d bursar.Deposit, at time.Time) Entry {
	return entry(KindKept, d.ID.String(), at, post(Unattributed, Capital, d.Currency, d.Amount))
}

// RefundHeld sets the whole value aside while it is refunded to its sender.
func RefundHeld(n bursar.Resolution, at time.Time) Entry {
	return entry(KindRefundHeld, n.ID.String(), at,
		post(Unattributed, Refunding, n.Currency, n.Amount),
		post(Unattributed, Refunding, n.Currency, n.Fee))
}

// RefundSettled books a refund to a sender whose payment is final: the amount has left custody; the fee goes to the
// operator, who bears the network fee. reversals is the number of times that the refund was unsettled before.
func RefundSettled(n bursar.Resolution, reversals int, at time.Time) Entry {
	return entry(KindRefundSettled, reversalRef(n.ID.String(), reversals), at,
		post(Refunding, Custody, n.Currency, n.Amount),
		post(Refunding, WithdrawalFees, n.Currency, n.Fee))
}

// RefundUnsettled reverses RefundSettled, or RefundPaidAfterAll, because the payment's block was reorged out: the value
// is set aside again until the payment is final again. reversals counts from 1.
func RefundUnsettled(n bursar.Resolution, reversals int, at time.Time) Entry {
	return entry(KindRefundUnsettled, reversalRef(n.ID.String(), reversals), at,
		post(Custody, Refunding, n.Currency, n.Amount),
		post(WithdrawalFees, Refunding, n.Currency, n.Fee))
}

// RefundPaidAfterAll books a refund to a sender that had failed on its chain, and paid on another branch while its
// value was still unattributed. reversals is the number of times that the refund was unsettled before.
func RefundPaidAfterAll(n bursar.Resolution, reversals int, at time.Time) Entry {
	return entry(KindRefundPaidAfterAll, reversalRef(n.ID.String(), reversals), at,
		post(Unattributed, Custody, n.Currency, n.Amount),
		post(Unattributed, WithdrawalFees, n.Currency, n.Fee))
}

// RefundPaidTwice books a failed refund as a loss, because it paid on another branch of its chain after its value had
// been resolved again or had been reorged out. reversals is the number of times that this was reversed before.
func RefundPaidTwice(n bursar.Resolution, reversals int, at time.Time) Entry {
	return entry(KindRefundPaidTwice, reversalRef(n.ID.String(), reversals), at,
		post(Losses, Custody, n.Currency, n.Amount))
}

// RefundNotPaidTwice reverses RefundPaidTwice, because the payment's block was reorged out. reversals counts from 1.
func RefundNotPaidTwice(n bursar.Resolution, reversals int, at time.Time) Entry {
	return entry(KindRefundNotPaidTwice, reversalRef(n.ID.String(), reversals), at,
		post(Custody, Losses, n.Currency, n.Amount))
}

// RefundFailed reverses a refund to a sender that can never pay; d is its deposit as it is now. Value that the chain
// holds is unattributed again. Where the deposit was reorged out since, that was booked as a loss, and the loss is
// undone here. Where the deposit then came back with another amount, which contracts can cause, that amount is
// unattributed. reversals is the number of times that the refund was unsettled before.
func RefundFailed(n bursar.Resolution, d bursar.Deposit, reversals int, at time.Time) Entry {
	to, again := Unattributed, bursar.Amount{}
	if fee, err := d.Amount.Sub(n.Amount); d.Status != bursar.DepositConfirmed {
		to = Losses
	} else if err != nil || fee != n.Fee {
		to, again = Losses, d.Amount
	}
	return entry(KindRefundFailed, reversalRef(n.ID.String(), reversals), at,
		post(Refunding, to, n.Currency, n.Amount),
		post(Refunding, to, n.Currency, n.Fee),
		post(Losses, Unattributed, n.Currency, again))
}
