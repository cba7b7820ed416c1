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
func ReturnHeld(n bursar.Decision, at time.Time) Entry {
	return entry(KindReturnHeld, n.ID.String(), at,
		post(Unattributed, Returning, n.Currency, n.Amount),
		post(Unattributed, Returning, n.Currency, n.Fee))
}

// ReturnSettled books a return whose payment is final: the amount has left custody, the fee is the operator's, who bears
// what the network took.
func ReturnSettled(n bursar.Decision, at time.Time) Entry {
	return entry(KindReturnSettled, n.ID.String(), at,
		post(Returning, Custody, n.Currency, n.Amount),
		post(Returning, WithdrawalFees, n.Currency, n.Fee))
}

// ReturnReopened takes a return back that will never pay; d is its deposit as it is now. Value that the chain holds is
// unattributed again. Where the chain took the deposit back meanwhile, that was booked as a loss, and the loss is undone
// here. Where it then came back with another amount, which contracts can bring about, that amount is unattributed.
func ReturnReopened(n bursar.Decision, d bursar.Deposit, at time.Time) Entry {
	to, again := Unattributed, bursar.Amount{}
	if fee, err := d.Amount.Sub(n.Amount); d.Status != bursar.DepositConfirmed {
		to = Losses
	} else if err != nil || fee != n.Fee {
		to, again = Losses, d.Amount
	}
	return entry(KindReturnReopened, n.ID.String(), at,
		post(Returning, to, n.Currency, n.Amount),
		post(Returning, to, n.Currency, n.Fee),
		post(Losses, Unattributed, n.Currency, again))
}
