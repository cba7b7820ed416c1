package ledger

import (
	"strings"

	"github.com/bursar/bursar"
)

// Figure names what a posting adds to the figures of a day.
type Figure string

// The figures of a day. What a reorganisation took back is counted apart, on the day when that was booked.
const (
	FigureDeposits         Figure = "deposits"          // credited to customers, before the operator's fee
	FigureDepositsReversed Figure = "deposits_reversed" // and reversed
	FigurePayouts          Figure = "payouts"           // paid to customers on a chain
	FigurePayoutsReversed  Figure = "payouts_reversed"  // and undone
	FigureFees             Figure = "fees"              // earned by the operator
	FigureFeesReversed     Figure = "fees_reversed"     // and given back
	FigureGas              Figure = "gas"               // network fees of the service's own transactions
	FigureGasReversed      Figure = "gas_reversed"      // and undone
)

// Figures of how long things took, in whole seconds: the sum, and the longest. A deposit takes from when it was seen
// until it is credited, a payout from when it was requested until it is final.
const (
	FigureCreditWait    Figure = "credit_wait"
	FigureCreditLongest Figure = "credit_longest"
	FigurePayoutWait    Figure = "payout_wait"
	FigurePayoutLongest Figure = "payout_longest"
)

// Object returns the ID in the name of a deposit or a withdrawal; false: the entry is about something else.
func (r Ref) Object() (bursar.ID, bool) {
	name, _, _ := strings.Cut(string(r), "/") // behind it, how often it was reversed
	id, err := bursar.ParseID(name)
	return id, err == nil
}

// Join returns what two parts of a figure come to: their sum, or the longer.
func (f Figure) Join(a, b bursar.Amount) (bursar.Amount, error) {
	switch f {
	case FigureCreditLongest, FigurePayoutLongest:
		if a.Less(b) {
			return b, nil
		}
		return a, nil
	}
	return a.Add(b)
}

// Figures lists the figures of a day that are sums of money.
func Figures() []Figure {
	return []Figure{FigureDeposits, FigureDepositsReversed, FigurePayouts, FigurePayoutsReversed, FigureFees,
		FigureFeesReversed, FigureGas, FigureGasReversed}
}

// FigureOf returns what a posting of an entry counts as; false: it is in no figure.
func FigureOf(kind Kind, p Posting) (Figure, bool) {
	switch {
	case p.Credit.Type() == Income:
		return FigureFees, true
	case p.Debit.Type() == Income:
		return FigureFeesReversed, true
	case p.Debit == NetworkFees:
		return FigureGas, true
	case p.Credit == NetworkFees:
		return FigureGasReversed, true
	case kind == KindDeposit && p.Debit == Custody:
		return FigureDeposits, true
	case kind == KindDepositReversed && p.Credit == Custody:
		return FigureDepositsReversed, true
	case kind == KindWithdrawalSettled && p.Credit == Custody:
		return FigurePayouts, true
	case kind == KindUnsettled && p.Debit == Custody:
		return FigurePayoutsReversed, true
	}
	return "", false
}
