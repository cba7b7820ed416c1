package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// After an external spend a resume prints what it found, and settles it only with the operator's consent and once it is
// final.
func TestResumeAfterAnExternalSpend(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	stolen := store.ExternalSpend{Chain: "bitcoin", TxID: strings.Repeat("ab", 32), Base: "bcrt1qours", Height: 90,
		Status: store.ExternalHalted, Reason: "fits nothing",
		Reservations: []byte(`["` + strings.Repeat("cd", 32) + `:1"]`),
		Payments:     []byte(`[{"address":{"Base":"bcrt1qthief"},"amount":"60000000"}]`)}
	at := func(final uint64) {
		d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Chains().SetHead(ctx, "bitcoin", 100, final) })
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
			return err
		}
		utxo := store.UTXO{Outpoint: strings.Repeat("cd", 32) + ":1", Base: "bcrt1qours", Amount: bursar.Units(70_000_000),
			Height: 5}
		if err := tx.UTXOs().Put(ctx, "bitcoin", utxo); err != nil {
			return err
		}
		if err := tx.ExternalSpends().Put(ctx, stolen); err != nil {
			return err
		}
		if err := tx.Alarms().Raise(ctx, store.Alarm{Chain: "bitcoin", Kind: "external_spend",
			Ref: stolen.TxID}); err != nil {
			return err
		}
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain("bitcoin"), Kind: store.HaltByExternalSpend,
			Ref: stolen.TxID, Reason: "of a test"})
	})
	at(80)
	o := d.run("", "chain", "resume", "bitcoin")
	for _, says := range []string{stolen.TxID, "not final (final: 80)", "0.60000000 BTC to bcrt1qthief",
		"it used " + strings.Repeat("cd", 32) + ":1"} {
		if !strings.Contains(o.out, says) {
			t.Errorf("it does not say %q:\n%s", says, o.out)
		}
	}
	if o.code != exitFailed || !strings.Contains(o.err, "nothing was changed") {
		t.Errorf("%d %s, want %v and %q in it", o.code, o.err, exitFailed, "nothing was changed")
	}
	if o = d.run("", "chain", "resume", "bitcoin", "--yes"); o.code != exitFailed ||
		!strings.Contains(o.err, "not final yet") {
		t.Errorf("%d %s, want %v and %q in it", o.code, o.err, exitFailed, "not final yet")
	}
	if left := parse[[]listedHalt](d, "halt", "status", "--json"); len(left) != 1 {
		t.Errorf("halted by %+v, want 1 of them", left)
	}
	at(95)
	for _, reason := range []string{"a fork", "a flood"} { // which of two ends must be said before anything is settled
		d.ok("chain", "halt", "bitcoin", "--reason", reason)
	}
	if o = d.run("", "chain", "resume", "bitcoin", "--yes"); o.code != exitUsage || strings.Contains(o.out, "settled") {
		t.Errorf("got %d %s%s, want %d and nothing settled", o.code, o.out, o.err, exitUsage)
	}
	for _, h := range parse[[]listedHalt](d, "halt", "status", "--json") {
		if h.Ref != stolen.TxID {
			o = d.run("", "chain", "resume", "bitcoin", "--halt", h.Ref)
			if o.code != exitFailed || !strings.Contains(o.out, "ended: ") || strings.Contains(o.out, "settled") {
				t.Errorf("got %d %s%s, want %d and the named halt ended", o.code, o.out, o.err, exitFailed)
			}
		}
	}
	if left := parse[[]listedHalt](d, "halt", "status", "--json"); len(left) != 1 || left[0].Ref != stolen.TxID {
		t.Errorf("halted by %+v, want the external spend alone", left)
	}
	if got := d.ok("chain", "resume", "bitcoin", "--yes", "--by",
		"ann"); !strings.Contains(got, "settled: 1 external spends, as loss") || !strings.Contains(got,
		"payments on bitcoin are resumed") {
		t.Errorf("got %s, want %q in it and %q in it", got, "settled: 1 external spends, as loss",
			"payments on bitcoin are resumed")
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		settled, err := tx.ExternalSpends().ByTx(ctx, "bitcoin", stolen.TxID)
		if settled.Status != store.ExternalSettled || settled.Booked != store.UsedUpAsLoss || settled.Actor != "ann" ||
			settled.OutgoingID.IsZero() {
			t.Errorf("settled as %+v, want %v and %v and %q and not zero", settled, store.ExternalSettled, store.UsedUpAsLoss,
				"ann")
		}
		if open, _ := tx.Alarms().List(ctx, 10); len(open) != 0 {
			t.Errorf("open alarms are %+v, want none", open)
		}
		return err
	})
}

// An external spend that is recorded after the others were settled keeps the chain halted.
func TestResumeLeavesAnExternalSpendThatNobodySettled(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	scope := store.HaltChain("bitcoin")
	d.change(func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
			return err
		}
		x := store.ExternalSpend{Chain: "bitcoin", TxID: strings.Repeat("ab", 32), Base: "bcrt1qours", Height: 90,
			Status: store.ExternalHalted, Reservations: []byte(`[]`), Payments: []byte(`[]`)}
		if err := tx.ExternalSpends().Put(ctx, x); err != nil {
			return err
		}
		if err := tx.Halts().Put(ctx, store.Halt{Scope: scope, Kind: store.HaltByExternalSpend, Ref: x.TxID,
			Reason: "of a test"}); err != nil {
			return err
		}
		if err := endKinds(ctx, tx, scope, end{}, resumable); err == nil || !strings.Contains(err.Error(), x.TxID) {
			t.Errorf("the halt ends: %v, want an error and %v in it", err, x.TxID)
		}
		halts, err := tx.Halts().Of(ctx, scope)
		if len(halts) != 1 {
			t.Errorf("halted by %+v, want 1 of them", halts)
		}
		return err
	})
}
