package ledger

import (
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// The kinds of entries, one for each business event.
const (
	KindDeposit          Kind = "deposit"
	KindDepositReversed  Kind = "deposit_reversed"
	KindTransfer         Kind = "arrival" // a transfer that is no customer's deposit
	KindTransferReversed Kind = "arrival_reversed"
	KindAssigned         Kind = "unattributed_assigned"
	KindKept             Kind = "unattributed_kept"
	KindRefundHeld       Kind = "return_held"
	KindRefundSettled    Kind = "return_settled"
	KindRefundFailed     Kind = "return_reopened"
	KindRefundUnsettled  Kind = "return_unsettled" // a settlement that was reorged out

	KindRefundPaidAfterAll Kind = "return_paid_after_all" // a failed refund that paid on another branch
	KindRefundPaidTwice    Kind = "return_paid_twice"
	KindRefundNotPaidTwice Kind = "return_not_paid_twice"

	KindWithdrawalHeld    Kind = "withdrawal_held"
	KindWithdrawalSettled Kind = "withdrawal_settled"
	KindWithdrawalRefund  Kind = "withdrawal_refunded"
	KindUnsettled         Kind = "withdrawal_reopened" // a settlement or refund that was reorged out
	KindPayoutShort       Kind = "payout_short"        // a token delivered less than was paid
	KindPayoutShortUndone Kind = "payout_short_undone" // because that payment's block was reorged out
	KindSweepShort        Kind = "sweep_short"         // a token delivered less than was swept
	KindSweepShortUndone  Kind = "sweep_short_undone"  // because that sweep's block was reorged out
	KindInternalTransfer  Kind = "internal_transfer"   // of money that was held
	KindDirectTransfer    Kind = "direct_transfer"     // the same of money that was not
	KindNetworkFee        Kind = "network_fee"
	KindFeeReversed       Kind = "network_fee_reversed"
	KindTreasuryFunded    Kind = "treasury_funded" // operator funds set aside, to be paid out
	KindExternalSpend     Kind = "external_spend"  // a transaction that no withdrawal explains, as an operator recorded it
	KindExternalReversed  Kind = "external_spend_reversed"
	KindColdSpent         Kind = "cold_spend" // the fee of a transaction from a cold wallet, and what did not stay with us
	KindColdReversed      Kind = "cold_spend_reversed"
)

// entry leaves out postings of zero, so that a constructor may name a fee that happens to be zero.
func entry(kind Kind, ref string, at time.Time, postings ...Posting) Entry {
	e := Entry{Kind: kind, Ref: Ref(ref), At: at}
	for _, p := range postings {
		if !p.Amount.IsZero() {
			e.Postings = append(e.Postings, p)
		}
	}
	return e
}

// post debits one account and credits the other: the amount moves from the credited account to the debited one.
func post(debit, credit Account, asset bursar.CurrencyCode, amount bursar.Amount) Posting {
	return Posting{Debit: debit, Credit: credit, Asset: asset, Amount: amount}
}

// depositRef names the n-th credit of one deposit: a deposit that was reversed and confirmed again is credited again.
func depositRef(d bursar.Deposit) string { return fmt.Sprintf("%s/%d", d.ID, d.Reversals) }

// DepositCredited books a final deposit: custody grows by the amount, the customer is owed it, the fee is deducted.
func DepositCredited(d bursar.Deposit, at time.Time) Entry {
	return entry(KindDeposit, depositRef(d), at,
		post(Custody, Available(d.AccountID), d.Currency, d.Amount),
		post(Available(d.AccountID), DepositFees, d.Currency, d.Fee))
}

// DepositReversed reverses exactly what DepositCredited booked, even where that takes the customer below zero.
func DepositReversed(d bursar.Deposit, at time.Time) Entry {
	return entry(KindDepositReversed, depositRef(d), at,
		post(Available(d.AccountID), Custody, d.Currency, d.Amount),
		post(DepositFees, Available(d.AccountID), d.Currency, d.Fee))
}

// TransferReceived books a final transfer that is not credited to a customer: operator funds, a deposit below the
// minimum, an unattributed deposit, or a move between the hot and a cold wallet.
func TransferReceived(d bursar.Deposit, owner Account, at time.Time) Entry {
	return entry(KindTransfer, depositRef(d), at, post(keeper(d), owner, d.Currency, d.Amount))
}

// TransferReversed reverses exactly what TransferReceived booked.
func TransferReversed(d bursar.Deposit, owner Account, at time.Time) Entry {
	return entry(KindTransferReversed, depositRef(d), at, post(owner, keeper(d), d.Currency, d.Amount))
}

// keeper returns the custody account that a transfer arrives in.
func keeper(d bursar.Deposit) Account {
	if d.Purpose == bursar.ForCold || d.Purpose == bursar.ForColdFunds {
		return CustodyCold
	}
	return Custody
}

// Owner returns the account to which an uncredited transfer belongs. Value that was refunded already belongs to nobody
// any more: when its chain reorgs it out, that is a loss, and when it comes back, the loss is undone.
func Owner(d bursar.Deposit) Account {
	switch {
	case d.Purpose == bursar.ForOperatorFunds:
		return Capital
	case d.Purpose == bursar.ForUnattributed:
		return Unattributed
	case d.Purpose == bursar.ForRefunded:
		return Losses
	case d.Purpose == bursar.ForColdFunds:
		return Capital
	case d.Purpose == bursar.ForCold:
		return Custody // it moved from there
	case d.Purpose == bursar.ForRefill:
		return CustodyCold // it moved from there
	}
	return BelowMinimum
}

// WithdrawalHeld sets the amount and the fee aside while the withdrawal is under way.
func WithdrawalHeld(w bursar.Withdrawal, at time.Time) Entry {
	return entry(KindWithdrawalHeld, w.ID.String(), at,
		post(Available(w.AccountID), Held(w.AccountID), w.Currency, w.Amount),
		post(Available(w.AccountID), Held(w.AccountID), w.Currency, w.Fee))
}

// reversalRef names what is booked for one object once before its first reversal and once after each.
func reversalRef(name string, reversals int) string {
	if reversals == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, reversals)
}

// WithdrawalSettled books a final payment: the amount has left custody, the fee goes to the operator. reversals is the
// number of times that the withdrawal was unsettled before.
func WithdrawalSettled(w bursar.Withdrawal, reversals int, at time.Time) Entry {
	return entry(KindWithdrawalSettled, reversalRef(w.ID.String(), reversals), at,
		post(Held(w.AccountID), Custody, w.Currency, w.Amount),
		post(Held(w.AccountID), WithdrawalFees, w.Currency, w.Fee))
}

// WithdrawalRefunded releases all that was held for a withdrawal that can never pay. reversals is as in
// WithdrawalSettled.
func WithdrawalRefunded(w bursar.Withdrawal, reversals int, at time.Time) Entry {
	return entry(KindWithdrawalRefund, reversalRef(w.ID.String(), reversals), at,
		post(Held(w.AccountID), Available(w.AccountID), w.Currency, w.Amount),
		post(Held(w.AccountID), Available(w.AccountID), w.Currency, w.Fee))
}

// WithdrawalUnsettled reverses what was booked when a withdrawal was confirmed or failed, because the final block that
// proved it was reorged out. What was refunded is held again, even if that takes the customer below zero: the
// withdrawal may still be paid. reversals is the number of times that it was unsettled, this time included.
func WithdrawalUnsettled(w bursar.Withdrawal, reversals int, at time.Time) Entry {
	fromAmount, fromFee := Available(w.AccountID), Available(w.AccountID)
	if w.Status == bursar.WithdrawalConfirmed {
		fromAmount, fromFee = Custody, WithdrawalFees
	}
	return entry(KindUnsettled, reversalRef(w.ID.String(), reversals), at,
		post(fromAmount, Held(w.AccountID), w.Currency, w.Amount),
		post(fromFee, Held(w.AccountID), w.Currency, w.Fee))
}

// PayoutShort refunds the part of a settled payment that its token did not deliver, and books what went elsewhere in a
// payment that delivered nothing: the operator bears both as a loss. reversals is the number of times that the
// withdrawal was unsettled before.
func PayoutShort(w bursar.Withdrawal, back, elsewhere bursar.Amount, reversals int, at time.Time) Entry {
	return entry(KindPayoutShort, reversalRef(w.ID.String(), reversals), at,
		post(Losses, Available(w.AccountID), w.Currency, back),
		post(Losses, Custody, w.Currency, elsewhere))
}

// PayoutShortUndone reverses PayoutShort, even if that takes the customer below zero. reversals is the number of times
// that it was reversed, this time included.
func PayoutShortUndone(w bursar.Withdrawal, back, elsewhere bursar.Amount, reversals int, at time.Time) Entry {
	return entry(KindPayoutShortUndone, reversalRef(w.ID.String(), reversals), at,
		post(Available(w.AccountID), Losses, w.Currency, back),
		post(Custody, Losses, w.Currency, elsewhere))
}

// SweepShort books what a token deducted between two addresses of the service: the operator bears it as a loss. ref
// names the sweep; reversals is the number of times that it was unsettled after such a loss.
func SweepShort(ref string, reversals int, asset bursar.CurrencyCode, lost bursar.Amount, at time.Time) Entry {
	return entry(KindSweepShort, reversalRef(ref, reversals), at, post(Losses, Custody, asset, lost))
}

// SweepShortUndone reverses SweepShort, because the sweep's block was reorged out. reversals is the number of
// times that it was reversed, this time included.
func SweepShortUndone(ref string, reversals int, asset bursar.CurrencyCode, lost bursar.Amount, at time.Time) Entry {
	return entry(KindSweepShortUndone, reversalRef(ref, reversals), at, post(Custody, Losses, asset, lost))
}

// InternalTransfer settles a withdrawal to another wallet of this service, whose money is held: no chain is involved.
// depositFee is the operator's fee for the receiver's deposit.
func InternalTransfer(w bursar.Withdrawal, receiver bursar.ID, depositFee bursar.Amount, at time.Time) Entry {
	return internalTransfer(KindInternalTransfer, w, Held(w.AccountID), receiver, depositFee, at)
}

// DirectTransfer is InternalTransfer for a withdrawal to another account that is paid as it is requested: nothing is
// held for it, and this is its only entry. An account's payment to itself is held first, because no posting goes from
// an account to itself.
func DirectTransfer(w bursar.Withdrawal, receiver bursar.ID, depositFee bursar.Amount, at time.Time) Entry {
	return internalTransfer(KindDirectTransfer, w, Available(w.AccountID), receiver, depositFee, at)
}

func internalTransfer(kind Kind, w bursar.Withdrawal, from Account, receiver bursar.ID, depositFee bursar.Amount,
	at time.Time) Entry {
	return entry(kind, w.ID.String(), at,
		post(from, Available(receiver), w.Currency, w.Amount),
		post(Available(receiver), DepositFees, w.Currency, depositFee),
		post(from, WithdrawalFees, w.Currency, w.Fee))
}

// Takes returns the order whose money an entry takes from those to whom it belongs: it sets the money aside, or pays it
// at once. An order has one such entry. The entry's name says so, since its postings may be in an archive.
func Takes(e Entry) (order bursar.ID, takes bool) {
	if e.Kind != KindWithdrawalHeld && e.Kind != KindDirectTransfer && e.Kind != KindRefundHeld {
		return bursar.ID{}, false
	}
	order, err := bursar.ParseID(string(e.Ref))
	return order, err == nil
}

// Ends returns the order that an entry ends: it takes what was held for it, for good or back to whom it belongs.
func Ends(e Entry) (order bursar.ID, ends bool) {
	switch e.Kind {
	case KindWithdrawalSettled, KindWithdrawalRefund, KindInternalTransfer, KindRefundSettled, KindRefundFailed:
		order = idOf(e.Ref)
	}
	return order, !order.IsZero()
}

// NetworkFee books the fee of an outgoing transaction; asset is the native asset. ref is the transaction's ID on its
// chain (FeeRef), so that each fee is booked once, and once more after each reversal.
func NetworkFee(ref string, reversals int, asset bursar.CurrencyCode, fee bursar.Amount, at time.Time) Entry {
	return entry(KindNetworkFee, reversalRef(ref, reversals), at, post(NetworkFees, Custody, asset, fee))
}

// NetworkFeeReversed reverses what NetworkFee booked, because the transaction's final block was reorged out. reversals
// is the number of times that it was reversed, this time included.
func NetworkFeeReversed(ref string, reversals int, asset bursar.CurrencyCode, fee bursar.Amount, at time.Time) Entry {
	return entry(KindFeeReversed, reversalRef(ref, reversals), at, post(Custody, NetworkFees, asset, fee))
}

// FeeRef returns the name of an outgoing transaction in the entries of its fee.
func FeeRef(id bursar.ChainID, txID string) string { return string(id) + ":" + txID }

// Lot is an amount of one asset.
type Lot struct {
	Asset  bursar.CurrencyCode
	Amount bursar.Amount
}

// ExternalSpent books what left custody in a transaction that no withdrawal explains: account, which is Capital or
// Losses, bears it. ref is as in NetworkFee.
func ExternalSpent(ref string, reversals int, account Account, lots []Lot, at time.Time) Entry {
	e := entry(KindExternalSpend, reversalRef(ref, reversals), at)
	for _, l := range lots {
		e.Postings = append(e.Postings, post(account, Custody, l.Asset, l.Amount))
	}
	return e
}

// ExternalSpentReversed reverses what ExternalSpent booked, because the transaction's final block was reorged out.
func ExternalSpentReversed(ref string, reversals int, account Account, lots []Lot, at time.Time) Entry {
	e := entry(KindExternalReversed, reversalRef(ref, reversals), at)
	for _, l := range lots {
		e.Postings = append(e.Postings, post(Custody, account, l.Asset, l.Amount))
	}
	return e
}

// ColdSpent books the fee of a final transaction from a cold wallet, in the native asset, and as losses what it paid to
// others. ref is as in NetworkFee, with the wallet's address. It has no postings where there is nothing to book.
func ColdSpent(ref string, reversals int, fee Lot, lost []Lot, at time.Time) Entry {
	postings := []Posting{post(NetworkFees, CustodyCold, fee.Asset, fee.Amount)}
	for _, l := range lost {
		postings = append(postings, post(Losses, CustodyCold, l.Asset, l.Amount))
	}
	return entry(KindColdSpent, reversalRef(ref, reversals), at, postings...)
}

// ColdSpentReversed reverses what ColdSpent booked, because the transaction's final block was reorged out.
func ColdSpentReversed(ref string, reversals int, fee Lot, lost []Lot, at time.Time) Entry {
	postings := []Posting{post(CustodyCold, NetworkFees, fee.Asset, fee.Amount)}
	for _, l := range lost {
		postings = append(postings, post(CustodyCold, Losses, l.Asset, l.Amount))
	}
	return entry(KindColdReversed, reversalRef(ref, reversals), at, postings...)
}

// TreasuryFunded sets operator funds aside for a withdrawal of the treasury, which is held and paid like any other.
func TreasuryFunded(w bursar.Withdrawal, amount bursar.Amount, at time.Time) Entry {
	return entry(KindTreasuryFunded, w.ID.String(), at, post(Drawings, Available(w.AccountID), w.Currency, amount))
}
