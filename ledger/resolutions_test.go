package ledger_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// naive is a count of the operator's side in whole numbers, by account.
type naive map[ledger.Account]int64

func (n naive) move(from, to ledger.Account, a bursar.Amount) {
	units, _ := a.Uint64()
	n[from] -= int64(units)
	n[to] += int64(units)
}

// check compares the books of those accounts with the count.
func (n naive) check(t *rapid.T, books ledger.Books) {
	for _, account := range []ledger.Account{ledger.Unattributed, ledger.Refunding, ledger.Losses} {
		amount, negative := books[ledger.Key{Account: account, Asset: "BTC"}].Net(ledger.Liability)
		units, _ := amount.Uint64()
		if got := int64(units); got != n[account] && (!negative || -got != n[account]) {
			t.Fatalf("%s is %s, negative %v, the count says %d", account, amount, negative, n[account])
		}
	}
}

// decide makes the operator resolve an unattributed deposit, or leave it.
func (w *harness) decide(t *rapid.T, d bursar.Deposit) {
	w.operator.move(ledger.Custody, ledger.Unattributed, d.Amount)
	switch rapid.IntRange(0, 3).Draw(t, "decision") {
	case 0:
		d.Purpose, d.AccountID = bursar.ForWallet, rapid.SampledFrom(w.accounts).Draw(t, "assigned to")
		d.Fee, _ = d.Amount.PPM(rapid.Uint32Range(0, 1_000_000).Draw(t, "fee"))
		w.must(t, ledger.UnattributedAssigned(d, at))
		w.operator.move(ledger.Unattributed, "customers", d.Amount)
		w.confirmed = append(w.confirmed, d) // from now on it is reversed and credited again like any other
	case 1:
		w.must(t, ledger.UnattributedKept(d, at))
		w.operator.move(ledger.Unattributed, ledger.Capital, d.Amount)
	case 2:
		w.giveBack(t, d)
	}
}

// giveBack runs a refund to its end, with what the chain may do to its deposit before and after it.
func (w *harness) giveBack(t *rapid.T, d bursar.Deposit) {
	n := bursar.Resolution{ID: w.id(), Currency: d.Currency,
		Fee: bursar.Units(rapid.Uint64Range(0, 99).Draw(t, "kept for the fee"))}
	if d.Amount.Less(n.Fee) {
		n.Fee = bursar.Amount{}
	}
	n.Amount = d.Amount.SubOrZero(n.Fee)
	held := d.Amount
	w.must(t, ledger.RefundHeld(n, at))
	w.operator.move(ledger.Unattributed, ledger.Refunding, held)
	d.Purpose, d.Status = bursar.ForRefunded, bursar.DepositConfirmed
	d = w.tremble(t, d)
	switch end := rapid.IntRange(0, 2).Draw(t, "end"); {
	case end == 0 && !w.chain.Less(n.Amount):
		w.must(t, ledger.RefundSettled(n, 0, at))
		w.sub(t, n.Amount)
		w.operator.move(ledger.Refunding, ledger.Custody, held)
		w.tremble(t, d)
	case end == 1:
		w.must(t, ledger.RefundFailed(n, d, 0, at))
		w.operator.move(ledger.Refunding, ledger.Losses, held)
		if d.Status == bursar.DepositConfirmed {
			w.operator.move(ledger.Losses, ledger.Unattributed, d.Amount)
		}
	}
}

// tremble may reorg a refunded deposit out, and may bring it back, with the same amount or another one.
func (w *harness) tremble(t *rapid.T, d bursar.Deposit) bursar.Deposit {
	if !rapid.Bool().Draw(t, "is reorged out") || w.chain.Less(d.Amount) {
		return d
	}
	w.must(t, ledger.TransferReversed(d, ledger.Owner(d), at))
	w.sub(t, d.Amount)
	w.operator.move(ledger.Losses, ledger.Custody, d.Amount)
	d.Status = bursar.DepositReversed
	d.Reversals++
	if !rapid.Bool().Draw(t, "is back") {
		return d
	}
	if rapid.IntRange(0, 3).Draw(t, "changed") == 0 {
		d.Amount = amount(t, "another amount")
	}
	w.must(t, ledger.TransferReceived(d, ledger.Owner(d), at))
	w.add(t, d.Amount)
	w.operator.move(ledger.Custody, ledger.Losses, d.Amount)
	d.Status = bursar.DepositConfirmed
	return d
}

// An unsettled refund leaves the value that the chain holds unattributed, and no loss, whatever the chain did to its
// deposit in between.
func TestAnUnsettledRefundLeavesNoLoss(t *testing.T) {
	n := bursar.Resolution{ID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(90), Fee: bursar.Units(10)}
	d := bursar.Deposit{ID: bursar.ID{1}, Currency: "BTC", Amount: bursar.Units(100), Purpose: bursar.ForUnattributed,
		Status: bursar.DepositConfirmed}
	returned, gone, less := d, d, d
	returned.Purpose = bursar.ForRefunded
	gone.Status = bursar.DepositReversed
	less.Reversals, less.Amount = 1, bursar.Units(70)
	back := less
	back.Purpose = bursar.ForRefunded
	for name, c := range map[string]struct {
		between []ledger.Entry
		now     bursar.Deposit
		want    uint64
	}{
		"it stayed":  {nil, d, 100},
		"it is gone": {[]ledger.Entry{ledger.TransferReversed(returned, ledger.Losses, at)}, gone, 0},
		"it came back with less": {[]ledger.Entry{ledger.TransferReversed(returned, ledger.Losses, at),
			ledger.TransferReceived(back, ledger.Owner(back), at)}, less, 70},
	} {
		books := ledger.Books{}
		entries := append([]ledger.Entry{ledger.TransferReceived(d, ledger.Owner(d), at), ledger.RefundHeld(n, at)},
			c.between...)
		for _, e := range append(entries, ledger.RefundFailed(n, c.now, 0, at)) {
			if err := books.Post(e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for account, want := range map[ledger.Account]uint64{ledger.Unattributed: c.want, ledger.Custody: c.want,
			ledger.Refunding: 0, ledger.Losses: 0} {
			if got, _ := books[ledger.Key{Account: account, Asset: "BTC"}].Net(account.Type()); got != bursar.Units(want) {
				t.Errorf("%s: %s is %s, want %d", name, account, got, want)
			}
		}
	}
}
