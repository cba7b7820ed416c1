package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

func TestAReversalNamesWhatItTakesBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(5), Reversals: 2}
	w := bursar.Withdrawal{ID: bursar.ID{3}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(5),
		Status: bursar.WithdrawalConfirmed}
	lots := []ledger.Lot{{Asset: "BTC", Amount: bursar.Units(5)}}
	fee := ledger.FeeRef("bitcoin", "ab")
	for _, test := range []struct{ reversal, original ledger.Entry }{
		{ledger.DepositReversed(d, at), ledger.DepositCredited(d, at)},
		{ledger.TransferReversed(d, ledger.Capital, at), ledger.TransferReceived(d, ledger.Capital, at)},
		{ledger.WithdrawalUnsettled(w, 1, at), ledger.WithdrawalSettled(w, 0, at)},
		{ledger.WithdrawalUnsettled(w, 3, at), ledger.WithdrawalSettled(w, 2, at)},
		{ledger.PayoutShortUndone(w, bursar.Units(1), bursar.Amount{}, 1, at),
			ledger.PayoutShort(w, bursar.Units(1), bursar.Amount{}, 0, at)},
		{ledger.SweepShortUndone("s", 1, "BTC", bursar.Units(1), at), ledger.SweepShort("s", 0, "BTC", bursar.Units(1), at)},
		{ledger.NetworkFeeReversed(fee, 2, "BTC", bursar.Units(1), at),
			ledger.NetworkFee(fee, 1, "BTC", bursar.Units(1), at)},
		{ledger.ExternalSpentReversed(fee, 1, ledger.Losses, lots, at),
			ledger.ExternalSpent(fee, 0, ledger.Losses, lots, at)},
		{ledger.ColdSpentReversed(fee, 1, lots[0], nil, at), ledger.ColdSpent(fee, 0, lots[0], nil, at)},
	} {
		want := ledger.Name{Kind: test.original.Kind, Ref: test.original.Ref}
		if got := ledger.Reverses(test.reversal.Kind, test.reversal.Ref); !slices.Contains(got, want) {
			t.Errorf("%s %s reverses %v, want %v", test.reversal.Kind, test.reversal.Ref, got, want)
		}
		if got := ledger.Reverses(test.original.Kind, test.original.Ref); got != nil {
			t.Errorf("%v reverses %v, want nothing", want, got)
		}
	}
}

func TestAnEntrySaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(5), Reversals: 2}
	w := bursar.Withdrawal{ID: bursar.ID{3}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(5)}
	for _, test := range []struct {
		entry ledger.Entry
		want  ledger.Subject
		moves bool
	}{
		{ledger.DepositCredited(d, at), ledger.Subject{Deposit: d.ID}, true},
		{ledger.WithdrawalHeld(w, at), ledger.Subject{Withdrawal: w.ID}, false},
		{ledger.WithdrawalSettled(w, 2, at), ledger.Subject{Withdrawal: w.ID}, true},
		{ledger.NetworkFee(ledger.FeeRef("bitcoin", "ab"), 3, "BTC", bursar.Units(1), at), ledger.Subject{TxID: "ab"}, true},
	} {
		if got := ledger.SubjectOf(test.entry.Kind, test.entry.Ref); got != test.want {
			t.Errorf("%s is about %+v, want %+v", test.entry.Kind, got, test.want)
		}
		if got := ledger.MovesValue(test.entry.Kind); got != test.moves {
			t.Errorf("%s moves value: got %v, want %v", test.entry.Kind, got, test.moves)
		}
	}
}
