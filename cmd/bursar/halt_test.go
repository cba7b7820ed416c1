package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

func TestHaltsStartAndEnd(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	for _, test := range []struct {
		begin, end []string
		scope      string
		says       string
	}{
		{[]string{"halt", "--all"}, []string{"resume", "--all"}, "all",
			"all payments are halted by ann: a drill; end it with `bursar resume --all`\n"},
		{[]string{"chain", "halt", "bitcoin"}, []string{"chain", "resume", "bitcoin"}, "chain:bitcoin",
			"payments on bitcoin are halted by ann: a drill; end it with `bursar chain resume bitcoin`\n"},
		{[]string{"currency", "halt", "BTC"}, []string{"currency", "resume", "BTC"}, "currency:BTC",
			"BTC payments are halted by ann: a drill; end it with `bursar currency resume BTC`\n"},
	} {
		d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Chains().Ensure(ctx, "bitcoin") })
		if got := d.ok(append(test.begin, "--reason", "a drill", "--by", "ann")...); got != test.says {
			t.Errorf("%v says %q, want %v", test.begin, got, test.says)
		}
		listed := parse[[]listedHalt](d, "halt", "status", "--json")
		if len(listed) != 1 || listed[0].Scope != test.scope || listed[0].Kind != "operator" ||
			listed[0].Reason != "a drill" || listed[0].Actor == nil || *listed[0].Actor != "ann" {
			t.Errorf("%v lists %+v", test.begin, listed)
		}
		if o := d.run("", "doctor"); o.code != exitFailed || !strings.Contains(o.out, "a drill") ||
			!strings.Contains(o.out, "bursar "+strings.Join(test.end, " ")) {
			t.Errorf("%v: doctor says\n%s, want %v and %q in it and %v in it", test.begin, o.out, exitFailed, "a drill",
				"bursar "+strings.Join(test.end, " "))
		}
		if got := d.ok(append(test.end, "--by", "bob", "--reason", "over")...); !strings.Contains(got, "ended: ") {
			t.Errorf("%v says %q, want %q in it", test.end, got, "ended: ")
		}
		if left := parse[[]listedHalt](d, "halt", "status", "--json"); len(left) != 0 {
			t.Errorf("%v leaves %+v, want none", test.end, left)
		}
		log := parse[[]listedHaltEvent](d, "halt", "log", "--limit", "2", "--json")
		if len(log) != 2 || log[0].What != "resumed" || *log[0].Actor != "bob" || log[0].Reason != "over" ||
			log[1].What != "halted" || *log[1].Actor != "ann" {
			t.Errorf("%v: the log says %+v", test.end, log)
		}
	}
	d.fails(exitUsage, "missing flags: --reason", "halt", "--all")
	d.fails(exitUsage, "--all", "halt", "--reason", "x")
	d.fails(exitUsage, "there is no currency NONE", "currency", "halt", "NONE", "--reason", "x")
	d.fails(exitUsage, `chain "litecoin" is not configured`, "chain", "halt", "litecoin", "--reason", "x")
}

// Two persons halt the same: each reason is ended by its ref, and nobody ends the other one by accident.
func TestTwoPersonsHaltTheSame(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	for _, who := range []string{"ann", "bob"} {
		d.ok("halt", "--all", "--reason", "a leak", "--by", who)
	}
	listed := parse[[]listedHalt](d, "halt", "status", "--json")
	if len(listed) != 2 || *listed[1].Actor != "bob" {
		t.Fatalf("halted are %+v, want both persons' halts", listed)
	}
	d.fails(exitUsage, "--halt "+listed[0].Ref+" (by ann: a leak)", "resume", "--all")
	d.fails(exitUsage, "has the ref", "resume", "--all", "--halt", "none")
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	d.fails(exitUsage, "none is lifted", "account", "unfreeze", id.String(), "--reason-kind", "reversal", "--halt", "none")
	if o := d.run("", "resume", "--all", "--halt", listed[0].Ref); o.code != exitFailed ||
		!strings.Contains(o.out, "still halted: all payments are halted by bob") {
		t.Errorf("one of two ended: got %d, %q, want that Bob's is left", o.code, o.out)
	}
	d.ok("resume", "--all")
	if left := parse[[]listedHalt](d, "halt", "status", "--json"); len(left) != 0 {
		t.Errorf("left are %+v, want none", left)
	}
}

// What the service halted by itself ends by itself: an operator's resume says so and leaves it.
func TestAResumeLeavesWhatEndsByItself(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.ok("halt", "--all", "--reason", "a drill")
	d.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAll, Kind: store.HaltByBooks, Reason: "an entry was edited"})
	})
	o := d.run("", "resume", "--all")
	if o.code != exitFailed || !strings.Contains(o.out, "ended: all payments") ||
		!strings.Contains(o.out, "still halted: all payments are halted (books): an entry was edited") {
		t.Errorf("%d\n%s%s", o.code, o.out, o.err)
	}
}

func TestAFreezeHasSeveralReasons(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	d.ok("account", "freeze", id.String(), "--reason", "a report", "--by", "ann")
	d.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(id), Kind: store.HaltByReversal,
			Reason: "a deposit is gone"})
	})
	d.fails(exitUsage, "frozen for several reasons: a report (operator); a deposit is gone (reversal)", "account",
		"unfreeze", id.String())
	d.fails(exitFailed, "still frozen because a deposit is gone (reversal)", "account", "unfreeze", id.String(),
		"--reason-kind", "operator")
	if got := parse[[]listedAccount](d, "account", "list", "--json"); got[0].Frozen == nil ||
		*got[0].Frozen != "a deposit is gone" {
		t.Errorf("listed %+v", got)
	}
	if got := d.ok("account", "unfreeze", id.String()); !strings.Contains(got, "may withdraw again") {
		t.Errorf("got %s, want %q in it", got, "may withdraw again")
	}
	d.fails(exitFailed, "there is no account", "account", "freeze", "0193a6a0-0000-7000-8000-000000000000",
		"--reason", "x")
}

// An operator who has investigated what a token did not deliver resumes its currency: the halts end, and their alarms
// with them.
func TestAShortPayoutsHaltEndsByCommand(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	d.change(func(ctx context.Context, tx *store.Tx) error {
		for _, of := range []struct {
			code bursar.CurrencyCode
			ref  string
		}{{"BTC", "one"}, {"BTC", "two"}, {"LTC", "three"}} {
			halt := store.Halt{Scope: store.HaltCurrency(of.code), Kind: store.HaltByShortPayout, Ref: of.ref}
			halt.Reason = "transaction " + of.ref + " delivered less"
			if err := tx.Halts().Put(ctx, halt); err != nil {
				return err
			}
			alarm := store.Alarm{Chain: "bitcoin", Kind: outgoing.AlarmShort, Ref: of.ref, Message: halt.Reason}
			if err := tx.Alarms().Raise(ctx, alarm); err != nil {
				return err
			}
		}
		return nil
	})
	listed := parse[[]listedHalt](d, "halt", "status", "--json")
	if len(listed) != 3 || listed[0].EndBy != "`bursar currency resume BTC`" {
		t.Errorf("halted are %+v, want 3 of them and %q", listed, "`bursar currency resume BTC`")
	}
	got := d.ok("currency", "resume", "BTC", "--by", "ann", "--reason", "its fee is off again")
	for _, want := range []string{"ended: BTC payments are halted (short_payout): transaction one delivered less",
		"transaction two delivered less", "BTC payments are resumed"} {
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		alarms, err := tx.Alarms().List(ctx, 10)
		halts, haltsErr := tx.Halts().List(ctx)
		if len(alarms) != 1 || alarms[0].Ref != "three" || len(halts) != 1 || halts[0].Ref != "three" {
			t.Errorf("left are %+v, %+v, want 1 of them and %q", halts, alarms, "three")
		}
		return errors.Join(err, haltsErr)
	})
}
