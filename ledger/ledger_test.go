package ledger_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Any sequence of business events keeps the books balanced, custody equal to the chain, and no customer below zero.
func TestAnySequenceOfEventsBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &harness{books: ledger.Books{}, posted: map[string]bool{}, rounds: map[bursar.ID]int{}, operator: naive{},
			accounts: []bursar.ID{{0: 1}, {0: 2}, {0: 3}}}
		t.Repeat(map[string]func(*rapid.T){
			"deposit": w.deposit, "reverse": w.reverse, "arrive": w.arrive, "hold": w.hold, "finish": w.finish,
			"reopen": w.reopen, "": w.check,
		})
	})
}

func TestARefusedEntryChangesNothing(t *testing.T) {
	id := bursar.ID{1}
	books := ledger.Books{}
	if err := books.Post(ledger.DepositCredited(bursar.Deposit{ID: id, AccountID: id, Currency: "ETH",
		Amount: bursar.Units(10)}, at)); err != nil {
		t.Fatal(err)
	}
	before := books[ledger.Key{Account: ledger.Available(id), Asset: "ETH"}]
	err := books.Post(ledger.WithdrawalHeld(bursar.Withdrawal{ID: id, AccountID: id, Currency: "ETH",
		Amount: bursar.Units(8), Fee: bursar.Units(3)}, at))
	if !errors.Is(err, ledger.ErrInsufficient) {
		t.Fatalf("holding 11 of 10 gave %v, want %v", err, ledger.ErrInsufficient)
	}
	if after := books[ledger.Key{Account: ledger.Available(id), Asset: "ETH"}]; after != before {
		t.Fatalf("the balance went from %v to %v", before, after)
	}
	if held := books[ledger.Key{Account: ledger.Held(id), Asset: "ETH"}]; held != (ledger.Balance{}) {
		t.Fatalf("a refused hold left %v, want %+v", held, ledger.Balance{})
	}
}

func TestACustomerBelowZeroMayReceive(t *testing.T) {
	id := bursar.ID{1}
	books := ledger.Books{}
	d := bursar.Deposit{ID: id, AccountID: id, Currency: "BTC", Amount: bursar.Units(10)}
	w := bursar.Withdrawal{ID: id, AccountID: id, Currency: "BTC", Amount: bursar.Units(10)}
	for _, e := range []ledger.Entry{ledger.DepositCredited(d, at), ledger.WithdrawalHeld(w, at),
		ledger.DepositReversed(d, at)} {
		if err := books.Post(e); err != nil {
			t.Fatal(err)
		}
	}
	d.Reversals, d.Amount = 1, bursar.Units(4)
	if err := books.Post(ledger.DepositCredited(d, at)); err != nil {
		t.Fatalf("a deposit to an account below zero: %v", err)
	}
	amount, negative := books[ledger.Key{Account: ledger.Available(id), Asset: "BTC"}].Net(ledger.Liability)
	if !negative || amount != bursar.Units(6) {
		t.Fatalf("the balance is %s, negative %v, want -6", amount, negative)
	}
}

// What a token deducted from a sweep leaves custody as the operator's loss, and the loss is undone when the block is
// reorged out.
func TestAShortSweepIsALossUntilItIsUndone(t *testing.T) {
	at := time.Unix(1, 0)
	short := ledger.SweepShort("sweep", 1, "USDT", bursar.Units(7), at)
	want := ledger.Posting{Debit: ledger.Losses, Credit: ledger.Custody, Asset: "USDT", Amount: bursar.Units(7)}
	if short.Kind != ledger.KindSweepShort || short.Ref != "sweep/1" ||
		!slices.Equal(short.Postings, []ledger.Posting{want}) {
		t.Errorf("short is %+v, want %v and %q and %+v", short, ledger.KindSweepShort, "sweep/1", []ledger.Posting{want})
	}
	undone := ledger.SweepShortUndone("sweep", 2, "USDT", bursar.Units(7), at)
	want.Debit, want.Credit = want.Credit, want.Debit
	if undone.Kind != ledger.KindSweepShortUndone || undone.Ref != "sweep/2" ||
		!slices.Equal(undone.Postings, []ledger.Posting{want}) {
		t.Errorf("undone is %+v, want %v and %q and %+v", undone, ledger.KindSweepShortUndone, "sweep/2",
			[]ledger.Posting{want})
	}
	if short.MayOverdraw() || undone.MayOverdraw() {
		t.Error("a sweep touches no customer")
	}
}
