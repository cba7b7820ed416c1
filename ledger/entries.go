package ledger

import (
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// The kinds of entries, one for each business event.
const (
	KindDeposit         Kind = "deposit"
	KindDepositReversed Kind = "deposit_reversed"
	KindArrival         Kind = "arrival" // value that is no customer's deposit
	KindArrivalReversed Kind = "arrival_reversed"
	KindAssigned        Kind = "unattributed_assigned"
	KindKept            Kind = "unattributed_kept"
	KindReturnHeld      Kind = "return_held"
	KindReturnSettled   Kind = "return_settled"
	KindRefundUnsettled Kind = "return_reopened"
	KindReturnUnsettled Kind = "return_unsettled" // a settlement that a chain took back

	KindReturnPaidAfterAll Kind = "return_paid_after_all" // one that had failed, on another branch
	KindReturnPaidTwice    Kind = "return_paid_twice"
	KindReturnNotPaidTwice Kind = "return_not_paid_twice"

	KindWithdrawalHeld    Kind = "withdrawal_held"
	KindWithdrawalSettled Kind = "withdrawal_settled"
	KindWithdrawalRefund  Kind = "withdrawal_refunded"
	KindUnsettled         Kind = "withdrawal_reopened" // a settlement or refund that a chain took back
	KindPayoutShort       Kind = "payout_short"        // a token delivered less than was paid
	KindPayoutShortUndone Kind = "payout_short_undone" // because that payment's block left its chain
	KindSweepShort        Kind = "sweep_short"         // a token delivered less than was swept
	KindSweepShortUndone  Kind = "sweep_short_undone"  // because that sweep's block left its chain
	KindInternalTransfer  Kind = "internal_transfer"
	KindNetworkFee        Kind = "network_fee"
	KindFeeReversed       Kind = "network_fee_reversed"
	KindTreasuryFunded    Kind = "treasury_funded" // the operator sets some of its own aside, to be paid out
	KindExternalSpend     Kind = "external_spend"  // a transaction that no withdrawal explains, by an operator's word
	KindExternalReversed  Kind = "external_spend_reversed"
)

// entry drops postings of nothing, so that a constructor may name a fee that happens to be zero.
func entry(kind Kind, ref string, at time.Time, postings ...Posting) Entry {
	e := Entry{Kind: kind, Ref: Ref(ref), At: at}
	for _, p := range postings {
		if !p.Amount.IsZero() {
			e.Postings = append(e.Postings, p)
		}
	}
	return e
}

// post debits one account and credits the other: what the credited account gave, the debited one took.
func post(debit, credit Account, asset bursar.CurrencyCode, amount bursar.Amount) Posting {
	return Posting{Debit: debit, Credit: credit, Asset: asset, Amount: amount}
}

// depositRef names the n-th credit of one deposit: a deposit that was reversed and came back is credited again.
func depositRef(d bursar.Deposit) string { return fmt.Sprintf("%s/%d", d.ID, d.Reversals) }

// DepositCredited books a final deposit: custody grows, the customer is owed the amount, the fee is taken from it.
func DepositCredited(d bursar.Deposit, at time.Time) Entry {
	return entry(KindDeposit, depositRef(d), at,
		post(Custody, Available(d.AccountID), d.Currency, d.Amount),
		post(Available(d.AccountID), DepositFees, d.Currency, d.Fee))
}

// DepositReversed takes back exactly what DepositCredited booked, even below zero.
func DepositReversed(d bursar.Deposit, at time.Time) Entry {
	return entry(KindDepositReversed, depositRef(d), at,
		post(Available(d.AccountID), Custody, d.Currency, d.Amount),
		post(DepositFees, Available(d.AccountID), d.Currency, d.Fee))
}

// Arrived books final value that is not credited to a customer: the operator's capital, a deposit below the minimum, or
// value that fits no wallet.
func Arrived(d bursar.Deposit, owner Account, at time.Time) Entry {
	return entry(KindArrival, depositRef(d), at, post(Custody, owner, d.Currency, d.Amount))
}

// ArrivalReversed takes back exactly what Arrived booked.
func ArrivalReversed(d bursar.Deposit, owner Account, at time.Time) Entry {
	return entry(KindArrivalReversed, depositRef(d), at, post(owner, Custody, d.Currency, d.Amount))
}

// Owner returns the account that an uncredited arrival belongs to. Value that is paid back already is nobody's any
// more: when its chain takes it back, that is a loss, and when it comes again, the loss is made good.
func Owner(d bursar.Deposit) Account {
	switch {
	case d.Purpose == bursar.ForCapital:
		return Capital
	case d.Purpose == bursar.ForUnattributed:
		return Unattributed
	case d.Purpose == bursar.ForReturned:
		return Losses
	}
	return BelowMinimum
}

// WithdrawalHeld sets the amount and the fee aside while the order is under way.
func WithdrawalHeld(w bursar.Withdrawal, at time.Time) Entry {
	return entry(KindWithdrawalHeld, w.ID.String(), at,
		post(Available(w.AccountID), Held(w.AccountID), w.Currency, w.Amount),
		post(Available(w.AccountID), Held(w.AccountID), w.Currency, w.Fee))
}

// roundRef names what is booked of one thing once in every round: each time that a chain takes it back begins another.
func roundRef(name string, round int) string {
	if round == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, round)
}

// WithdrawalSettled books a final payment: the amount has left custody, the fee is the operator's. round is how often
// the withdrawal was reopened before.
func WithdrawalSettled(w bursar.Withdrawal, round int, at time.Time) Entry {
	return entry(KindWithdrawalSettled, roundRef(w.ID.String(), round), at,
		post(Held(w.AccountID), Custody, w.Currency, w.Amount),
		post(Held(w.AccountID), WithdrawalFees, w.Currency, w.Fee))
}

// WithdrawalRefunded gives back all that was held for an order that will never pay. round is as in WithdrawalSettled.
func WithdrawalRefunded(w bursar.Withdrawal, round int, at time.Time) Entry {
	return entry(KindWithdrawalRefund, roundRef(w.ID.String(), round), at,
		post(Held(w.AccountID), Available(w.AccountID), w.Currency, w.Amount),
		post(Held(w.AccountID), Available(w.AccountID), w.Currency, w.Fee))
}

// WithdrawalUnsettled takes back what was booked when a confirmed or a failed withdrawal ended, because the final block
// that proved it has been reorged out. What was refunded is held again, even if that takes the customer below zero: it
// may be paid after all. round is the one that begins.
func WithdrawalUnsettled(w bursar.Withdrawal, round int, at time.Time) Entry {
	fromAmount, fromFee := Available(w.AccountID), Available(w.AccountID)
	if w.Status == bursar.WithdrawalConfirmed {
		fromAmount, fromFee = Custody, WithdrawalFees
	}
	return entry(KindUnsettled, roundRef(w.ID.String(), round), at,
		post(fromAmount, Held(w.AccountID), w.Currency, w.Amount),
		post(fromFee, Held(w.AccountID), w.Currency, w.Fee))
}

// PayoutShort gives a customer back what of a settled payment its token did not deliver, and books what went elsewhere
// of one that delivered nothing: both are the operator's loss. round is how often the withdrawal was reopened before.
func PayoutShort(w bursar.Withdrawal, back, elsewhere bursar.Amount, round int, at time.Time) Entry {
	return entry(KindPayoutShort, roundRef(w.ID.String(), round), at,
		post(Losses, Available(w.AccountID), w.Currency, back),
		post(Losses, Custody, w.Currency, elsewhere))
}

// PayoutShortUndone takes PayoutShort back, even if that takes the customer below zero. round is the one that begins.
func PayoutShortUndone(w bursar.Withdrawal, back, elsewhere bursar.Amount, round int, at time.Time) Entry {
	return entry(KindPayoutShortUndone, roundRef(w.ID.String(), round), at,
		post(Available(w.AccountID), Losses, w.Currency, back),
		post(Custody, Losses, w.Currency, elsewhere))
}

// SweepShort books what a token kept of its way between two addresses of ours: it is the operator's loss. ref names the
// sweep, and round is how often it was reopened after such a loss.
func SweepShort(ref string, round int, asset bursar.CurrencyCode, lost bursar.Amount, at time.Time) Entry {
	return entry(KindSweepShort, roundRef(ref, round), at, post(Losses, Custody, asset, lost))
}

// SweepShortUndone takes SweepShort back, because the sweep's block has been reorged out. round is the one that begins.
func SweepShortUndone(ref string, round int, asset bursar.CurrencyCode, lost bursar.Amount, at time.Time) Entry {
	return entry(KindSweepShortUndone, roundRef(ref, round), at, post(Custody, Losses, asset, lost))
}

// InternalTransfer settles an order whose address is another wallet of this service: no chain is involved. depositFee
// is what the operator takes of it from the receiver.
func InternalTransfer(w bursar.Withdrawal, receiver bursar.ID, depositFee bursar.Amount, at time.Time) Entry {
	e := entry(KindInternalTransfer, w.ID.String(), at,
		post(Held(w.AccountID), Available(receiver), w.Currency, w.Amount),
		post(Available(receiver), DepositFees, w.Currency, depositFee),
		post(Held(w.AccountID), WithdrawalFees, w.Currency, w.Fee))
	return e
}

// NetworkFee books what a chain took for a transaction of ours; asset is the native asset. ref is the transaction's
// name on its chain, so that each is booked once in a round.
func NetworkFee(ref string, round int, asset bursar.CurrencyCode, fee bursar.Amount, at time.Time) Entry {
	return entry(KindNetworkFee, roundRef(ref, round), at, post(NetworkFees, Custody, asset, fee))
}

// NetworkFeeReversed takes back what NetworkFee booked, because the transaction's final block has been reorged out.
// round is the one that begins.
func NetworkFeeReversed(ref string, round int, asset bursar.CurrencyCode, fee bursar.Amount, at time.Time) Entry {
	return entry(KindFeeReversed, roundRef(ref, round), at, post(Custody, NetworkFees, asset, fee))
}

// FeeRef names a transaction of ours in the entries of its fee.
func FeeRef(id bursar.ChainID, txID string) string { return string(id) + ":" + txID }

// Lot is an amount of one asset.
type Lot struct {
	Asset  bursar.CurrencyCode
	Amount bursar.Amount
}

// ExternalSpent books what left custody by a transaction that no withdrawal explains: account, which is Capital or
// Losses, bears it. ref is as in NetworkFee.
func ExternalSpent(ref string, round int, account Account, lots []Lot, at time.Time) Entry {
	e := entry(KindExternalSpend, roundRef(ref, round), at)
	for _, l := range lots {
		e.Postings = append(e.Postings, post(account, Custody, l.Asset, l.Amount))
	}
	return e
}

// ExternalSpentReversed takes back what ExternalSpent booked, because the transaction's final block has been reorged
// out.
func ExternalSpentReversed(ref string, round int, account Account, lots []Lot, at time.Time) Entry {
	e := entry(KindExternalReversed, roundRef(ref, round), at)
	for _, l := range lots {
		e.Postings = append(e.Postings, post(Custody, account, l.Asset, l.Amount))
	}
	return e
}

// TreasuryFunded sets some of the operator's own aside for a withdrawal of the treasury, which holds and pays it like
// any other.
func TreasuryFunded(w bursar.Withdrawal, amount bursar.Amount, at time.Time) Entry {
	return entry(KindTreasuryFunded, w.ID.String(), at, post(Drawings, Available(w.AccountID), w.Currency, amount))
}
