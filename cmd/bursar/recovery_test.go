package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

func TestRecoveriesAreListedAndReleased(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	if got := d.ok("recovery", "status"); got != "no chain is recovering, and nothing is unclear\n" {
		t.Errorf("got %s, want %q", got, "no chain is recovering, and nothing is unclear\n")
	}
	d.fails(exitFailed, "chain bitcoin is not recovering", "recovery", "release", "bitcoin")
	d.change(func(ctx context.Context, tx *store.Tx) error { return forgetPayment(ctx, tx) })
	got := parse[listedRecoveries](d, "recovery", "status", "--json")
	if len(got.Chains) != 1 || got.Chains[0].Chain != "bitcoin" ||
		got.Chains[0].WaitsFor != "your explanation of 1 payments" || len(got.Items) != 1 ||
		got.Items[0].TxID != "ab01" || len(got.Items[0].Paid) != 1 ||
		!strings.HasPrefix(got.Items[0].Paid[0], "0.00100000 BTC to ") {
		t.Fatalf("listed %+v", got)
	}
	if got := d.ok("recovery", "status"); !strings.Contains(got, "your explanation of 1 payments") ||
		!strings.Contains(got, "0.00100000 BTC") {
		t.Errorf("got %s, want %q in it and %q in it", got, "your explanation of 1 payments", "0.00100000 BTC")
	}
	d.fails(exitFailed, "explain them with `bursar recovery adopt` first", "recovery", "release", "bitcoin")
	d.fails(exitUsage, "no explanation is given", "recovery", "adopt", "1")
	d.fails(exitFailed, "there is no item 7", "recovery", "adopt", "7", "--as", "loss")
	if got := d.ok("recovery", "adopt", "1", "--as", "operator", "--note", "moved", "--actor",
		"ann"); !strings.Contains(got, "item 1 is explained") {
		t.Errorf("got %s, want %q in it", got, "item 1 is explained")
	}
	d.rehearses("recovery", "release", "bitcoin")
	if got := d.ok("recovery", "release", "bitcoin"); !strings.Contains(got, "is released") {
		t.Errorf("got %s, want %q in it", got, "is released")
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		x, err := tx.ExternalSpends().Get(ctx, 1)
		if x.Status != store.ExternalAdopted || x.Booked != store.UsedForOperator || x.Note != "moved" || x.Actor != "ann" {
			t.Errorf("the item is %+v, want %v and %v and %q and %q", x, store.ExternalAdopted, store.UsedForOperator, "moved",
				"ann")
		}
		r, _ := tx.Recoveries().Get(ctx, "bitcoin")
		if !r.Released {
			t.Errorf("the recovery is %+v", r)
		}
		return err
	})
}

// forgetPayment puts bitcoin into recovery with one payment that cannot be explained.
func forgetPayment(ctx context.Context, tx *store.Tx) error {
	if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
		return err
	}
	if err := tx.Recoveries().Begin(ctx, "bitcoin", "of a test"); err != nil {
		return err
	}
	payments := []chain.Payment{{Address: bursar.Address{Base: "bcrt1qsomebody"}, Amount: bursar.Units(100_000)}}
	order, err := json.Marshal(chain.TxRequest{ID: bursar.ID{7}, Kind: chain.KindWithdrawal, Payments: payments})
	if err != nil {
		return err
	}
	paid, err := json.Marshal(payments)
	if err != nil {
		return err
	}
	outgoingTx := bursar.OutgoingTx{ID: bursar.ID{7}, Chain: "bitcoin", Kind: "withdrawal", Currency: "BTC", Base: "hot",
		Request: order, Unsigned: []byte(`{}`), TxID: "ab01", Height: 7}
	if err := tx.Outgoing().InsertAdopted(ctx, outgoingTx, []string{"cd:0"}); err != nil {
		return err
	}
	return tx.ExternalSpends().Put(ctx, store.ExternalSpend{Chain: "bitcoin", TxID: "ab01", Base: "hot", Height: 7,
		MadeAt: tx.Now(), Reservations: []byte(`["cd:0"]`),
		Payments: paid, OutgoingID: outgoingTx.ID, Status: store.ExternalUnclear, Reason: "of a test"})
}

func TestMarksAreCreatedAgain(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	if got := d.ok("recovery", "begin", "--ahead", "300"); !strings.Contains(got, "300 key indexes") {
		t.Errorf("got %s, want %q in it", got, "300 key indexes")
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		next, err := tx.KeyIndexes().Next(ctx, "bitcoin")
		if next != 300 {
			t.Errorf("the next key index is %d, want 300", next)
		}
		is, _ := tx.Recoveries().IsOpen(ctx, "bitcoin")
		if !is {
			t.Error("bitcoin is not recovering")
		}
		return err
	})
	if got := d.ok("recovery", "join"); !strings.Contains(got, "marks are kept here") {
		t.Errorf("got %s, want %q in it", got, "marks are kept here")
	}
}

func TestManyNoncesAreUsedUpOnlyWhereTheyAreLost(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	const nobody = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	useUp := func(chain, address, nonces string) []string {
		return []string{"recovery", "use-up", chain, address, "--nonces", nonces, "--reason", "a test"}
	}
	d.fails(exitUsage, "--nonces must be at least 1", useUp("bitcoin", nobody, "0")...)
	d.fails(exitFailed, `chain "dogecoin" is not configured`, useUp("dogecoin", nobody, "140")...)
	d.fails(exitFailed, `address "nonsense"`, useUp("bitcoin", "nonsense", "140")...)
	d.fails(exitFailed, "no nonce can be lost on chain bitcoin", useUp("bitcoin", nobody, "140")...)
}
