package ledger

import (
	"time"

	"github.com/bursar/bursar"
)

// UnattributedAssigned gives value that fitted no wallet to the customer whom the operator named, who then stands as if
// DepositCredited had booked it: DepositReversed takes back exactly that.
func UnattributedAssigned(d bursar.Deposit, at time.Time) Entry {
	return entry(KindAssigned, d.ID.String(), at,
		post(Unattributed, Available(d.AccountID), d.Currency, d.Amount),
		post(Available(d.AccountID), DepositFees, d.Currency, d.Fee))
}

// UnattributedKept makes value that fitted no wallet the operator's capital.
func UnattributedKept(d bursar.Deposit, at time.Time) Entry {
	return entry(KindKept, d.ID.String(), at, post(Unattributed, Capital, d.Currency, d.Amount))
}

// ReturnHeld sets the whole value aside while it is paid back.
func ReturnHeld(n bursar.Resolution, at time.Time) Entry {
	return entry(KindReturnHeld, n.ID.String(), at,
		post(Unattributed, Returning, n.Currency, n.Amount),
		post(Unattributed, Returning, n.Currency, n.Fee))
}

// ReturnSettled books a return whose payment is final: the amount has left custody, the fee is the operator's, who
// bears what the network took. round is how often the return was unsettled before.
func ReturnSettled(n bursar.Resolution, round int, at time.Time) Entry {
	return entry(KindReturnSettled, roundRef(n.ID.String(), round), at,
		post(Returning, Custody, n.Currency, n.Amount),
		post(Returning, WithdrawalFees, n.Currency, n.Fee))
}

// ReturnUnsettled takes ReturnSettled, or ReturnPaidAfterAll, back, because the payment's block left its chain: the
// value is set aside again until the payment is final again. round counts from 1.
func ReturnUnsettled(n bursar.Resolution, round int, at time.Time) Entry {
	return entry(KindReturnUnsettled, roundRef(n.ID.String(), round), at,
		post(Custody, Returning, n.Currency, n.Amount),
		post(WithdrawalFees, Returning, n.Currency, n.Fee))
}

// ReturnPaidAfterAll books a return that had failed on its chain, and paid on another branch of it while its value was
// still unattributed. round is how often the return was unsettled before.
func ReturnPaidAfterAll(n bursar.Resolution, round int, at time.Time) Entry {
	return entry(KindReturnPaidAfterAll, roundRef(n.ID.String(), round), at,
		post(Unattributed, Custody, n.Currency, n.Amount),
		post(Unattributed, WithdrawalFees, n.Currency, n.Fee))
}

// ReturnPaidTwice books as a loss that a failed return paid on another branch of its chain, after its value was decided
// about again or had been reorged out. round is how often that was taken back before.
func ReturnPaidTwice(n bursar.Resolution, round int, at time.Time) Entry {
	return entry(KindReturnPaidTwice, roundRef(n.ID.String(), round), at, post(Losses, Custody, n.Currency, n.Amount))
}

// ReturnNotPaidTwice takes ReturnPaidTwice back, because that payment's block left its chain. round counts from 1.
func ReturnNotPaidTwice(n bursar.Resolution, round int, at time.Time) Entry {
	return entry(KindReturnNotPaidTwice, roundRef(n.ID.String(), round), at, post(Custody, Losses, n.Currency, n.Amount))
}

// RefundUnsettled takes a return back that will never pay; d is its deposit as it is now. Value that the chain holds is
// unattributed again. Where the chain took the deposit back meanwhile, that was booked as a loss, and the loss is
// undone here. Where it then came back with another amount, which contracts can bring about, that amount is
// unattributed. round is how often the return was unsettled before.
func RefundUnsettled(n bursar.Resolution, d bursar.Deposit, round int, at time.Time) Entry {
	to, again := Unattributed, bursar.Amount{}
	if fee, err := d.Amount.Sub(n.Amount); d.Status != bursar.DepositConfirmed {
		to = Losses
	} else if err != nil || fee != n.Fee {
		to, again = Losses, d.Amount
	}
	return entry(KindRefundUnsettled, roundRef(n.ID.String(), round), at,
		post(Returning, to, n.Currency, n.Amount),
		post(Returning, to, n.Currency, n.Fee),
		post(Losses, Unattributed, n.Currency, again))
}
