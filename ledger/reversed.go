package ledger

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
)

// Name identifies an entry in the books.
type Name struct {
	Kind Kind
	Ref  Ref
}

// Reverses returns the entries that an entry may take back, of which the books have one; none for an entry of its own.
func Reverses(kind Kind, ref Ref) []Name {
	switch kind {
	case KindDepositReversed:
		return []Name{{KindDeposit, ref}, {KindAssigned, ref}}
	case KindTransferReversed:
		return []Name{{KindTransfer, ref}}
	case KindRefundUnsettled:
		return []Name{{KindRefundSettled, reversalBefore(ref)}}
	case KindUnsettled:
		return []Name{{KindWithdrawalSettled, reversalBefore(ref)}}
	case KindPayoutShortUndone:
		return []Name{{KindPayoutShort, reversalBefore(ref)}}
	case KindSweepShortUndone:
		return []Name{{KindSweepShort, reversalBefore(ref)}}
	case KindFeeReversed:
		return []Name{{KindNetworkFee, reversalBefore(ref)}}
	case KindExternalReversed:
		return []Name{{KindExternalSpend, reversalBefore(ref)}}
	case KindColdReversed:
		return []Name{{KindColdSpent, reversalBefore(ref)}}
	}
	return nil
}

// reversalBefore returns the reference that was used before the reversal that an entry makes, as reversalRef writes it.
func reversalBefore(ref Ref) Ref {
	at := strings.LastIndexByte(string(ref), '/')
	reversals, err := strconv.Atoi(string(ref[at+1:]))
	if at < 0 || err != nil || reversals < 1 {
		return ref
	}
	return Ref(reversalRef(string(ref[:at]), reversals-1))
}

// MovesValue reports whether an entry of a kind moves value in or out of an account, or between accounts. Entries that
// only set money of one account aside, and release it, do not.
func MovesValue(kind Kind) bool {
	switch kind {
	case KindWithdrawalHeld, KindWithdrawalRefund, KindRefundHeld, KindRefundFailed:
		return false
	}
	return true
}

// Subject is what an entry is about, as far as its name says so.
type Subject struct {
	Deposit    bursar.ID // zero: none
	Withdrawal bursar.ID // zero: none
	TxID       string    // of a transaction whose fee the entry books; empty: none
}

// SubjectOf returns what an entry is about.
func SubjectOf(kind Kind, ref Ref) (s Subject) {
	switch kind {
	case KindDeposit, KindDepositReversed, KindAssigned, KindTransfer, KindTransferReversed:
		s.Deposit = idOf(ref)
	case KindWithdrawalHeld, KindWithdrawalSettled, KindWithdrawalRefund, KindUnsettled, KindPayoutShort,
		KindPayoutShortUndone, KindInternalTransfer, KindDirectTransfer, KindTreasuryFunded:
		s.Withdrawal = idOf(ref)
	case KindNetworkFee, KindFeeReversed, KindExternalSpend, KindExternalReversed:
		_, rest, _ := strings.Cut(string(ref), ":") // FeeRef, perhaps with a number of reversals
		s.TxID, _, _ = strings.Cut(rest, "/")
	}
	return s
}

// String names the entry for people.
func (n Name) String() string { return fmt.Sprintf("%s %s", n.Kind, n.Ref) }
