package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

// away is the configuration of an unreachable node.
const away = "chains: {bitcoin: {rpc: 'http://me:hunter2@127.0.0.1:1'}}"

func TestChainStatusReportsAnUnreachableNode(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	got := parse[[]listedChain](d, "chain", "status", "--json")
	if len(got) != 1 || got[0].Chain != "bitcoin" || got[0].NodeError == nil || got[0].Height != nil ||
		!strings.HasPrefix(got[0].HotAddress, "bcrt1q") {
		t.Errorf("got %+v", got)
	}
	if table := d.ok("chain", "status"); !strings.Contains(table, "node unreachable") ||
		strings.Contains(table, "hunter2") {
		t.Errorf("the table is\n%s, want %q in it and no %q", table, "node unreachable", "hunter2")
	}
}

func TestChainStatusShowsTheNodesHeight(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "chains: {bitcoin: {rpc: '"+pretendNode(t, wellNode())+"', confirmations: 3}}")
	got := parse[[]listedChain](d, "chain", "status", "--json")
	if len(got) != 1 || got[0].NodeError != nil || got[0].NodeHeight == nil || *got[0].NodeHeight != 120 ||
		got[0].NodeFinal == nil || *got[0].NodeFinal != 118 ||
		got[0].Halted != nil || got[0].Height != nil || got[0].Currency == nil || *got[0].Currency != "BTC" {
		t.Errorf("got %+v", got)
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, "bitcoin"); err != nil {
			return err
		}
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain("bitcoin"), Kind: store.HaltByExternalSpend,
			Reason: "of a test"})
	})
	got = parse[[]listedChain](d, "chain", "status", "--json")
	if len(got) != 1 || got[0].Halted == nil || *got[0].Halted != "of a test" {
		t.Errorf("got %+v", got)
	}
	if table := d.ok("chain", "status"); !strings.Contains(table, "halted: of a test") {
		t.Errorf("the table is\n%s, want %q in it", table, "halted: of a test")
	}
	if o := d.run("", "doctor"); o.code != exitFailed || !strings.Contains(o.out, "bursar chain resume") {
		t.Errorf("doctor says\n%s, want %v and %q in it", o.out, exitFailed, "bursar chain resume")
	}
}

// What the running service cannot do is reported by this process, although the node answers it.
func TestChainStatusIsNotOKWhileTheFollowerFails(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "chains: {bitcoin: {rpc: '"+pretendNode(t, wellNode())+"', confirmations: 3}}")
	note := func(reason string) {
		d.change(func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.Chains().Ensure(ctx, "bitcoin"), tx.Chains().SetFailing(ctx, "bitcoin", reason))
		})
	}
	note("a first reason")
	since := parse[[]listedChain](d, "chain", "status", "--json")[0].FailsSince
	note("a second reason")
	got := parse[[]listedChain](d, "chain", "status", "--json")
	if len(got) != 1 || got[0].NodeError != nil || got[0].Failing == nil || *got[0].Failing != "a second reason" ||
		since == nil || !since.Equal(*got[0].FailsSince) {
		t.Errorf("got %+v, first since %v", got, since)
	}
	if table := d.ok("chain", "status"); !strings.Contains(table, "not followed since 2") ||
		!strings.Contains(table, "a second reason") {
		t.Errorf("the table is\n%s, want %q in it and %q in it", table, "not followed since 2", "a second reason")
	}
	note("")
	if table := d.ok("chain", "status"); !strings.Contains(table, "ok") || strings.Contains(table, "not followed") {
		t.Errorf("the table is\n%s, want %q in it and no %q", table, "ok", "not followed")
	}
}

// A chain that was not checked for a minute is not well, whatever was recorded of it last.
func TestChainStatusIsNotOKWhileNobodyFollows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for ago, want := range map[time.Duration]string{30 * time.Second: "ok",
		2 * time.Minute: "not checked since 2026-01-02T03:02:05Z: see that the service runs"} {
		status := service.ChainStatus{ChainState: store.ChainState{Chain: "bitcoin", CheckedAt: now.Add(-ago)}}
		if got := listChain(status, now).state(); got != want {
			t.Errorf("checked %v ago it is %q, want %v", ago, got, want)
		}
	}
	if got := listChain(service.ChainStatus{ChainState: store.ChainState{Chain: "bitcoin", Height: -1}},
		now).state(); got != "ok" {
		t.Errorf("before the first start it is %q, want %q", got, "ok")
	}
}

func TestRescanNeedsAChainThatRan(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	d.fails(exitUsage, `chain "litecoin" is not configured`, "chain", "rescan", "--chain", "litecoin", "--from", "1")
	d.fails(exitFailed, "chain bitcoin has never run with this database", "chain", "rescan", "--chain", "bitcoin",
		"--from", "1")
	d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Chains().Ensure(ctx, "bitcoin") })
	d.fails(exitFailed, "find block 4", "chain", "rescan", "--chain", "bitcoin", "--from", "5", "--to", "6")
}

func TestResumeLiftsAHalt(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.fails(exitFailed, "chain ethereum has never run with this database", "chain", "resume", "ethereum")
	d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Chains().Ensure(ctx, "ethereum") })
	if got := d.ok("chain", "resume", "ethereum"); got != "payments on ethereum are not halted\n" {
		t.Errorf("got %s, want %q", got, "payments on ethereum are not halted\n")
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		for _, a := range []store.Alarm{{Chain: "ethereum", Kind: "external_spend", Ref: "1"},
			{Chain: "polygon", Kind: "external_spend", Ref: "2"}, {Chain: "ethereum", Kind: "low_gas", Ref: "3"}} {
			if err := tx.Alarms().Raise(ctx, a); err != nil {
				return err
			}
		}
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain("ethereum"), Kind: store.HaltByExternalSpend,
			Reason: "of a test"})
	})
	if got := d.ok("chain", "resume",
		"ethereum"); got != "ended: payments on ethereum are halted (external_spend): of a test\npayments on ethereum are "+
		"resumed\n" {
		t.Errorf("got %s", got)
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, "ethereum")
		if state.Halted != "" {
			t.Errorf("still halted: %+v", state)
		}
		if open, _ := tx.Alarms().List(ctx, 10); len(open) != 2 {
			t.Errorf("open alarms are %+v, want 2 of them", open)
		}
		return err
	})
}

func TestWithdrawalsAreListedApprovedAndRejected(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	var orders []bursar.Withdrawal
	d.change(func(ctx context.Context, tx *store.Tx) error {
		orders = wait(id, tx, 3)
		paid := bursar.Deposit{ID: bursar.ID{9}, AccountID: id, Currency: "BTC", Amount: bursar.Units(1e8)}
		if err := tx.Ledger().Post(ctx, ledger.DepositCredited(paid, tx.Now())); err != nil {
			return err
		}
		for _, w := range orders {
			if err := tx.Ledger().Post(ctx, ledger.WithdrawalHeld(w, tx.Now())); err != nil {
				return err
			}
			if err := tx.Withdrawals().Insert(ctx, "bitcoin", w); err != nil {
				return err
			}
		}
		return nil
	})
	d.rehearses("withdrawal", "approve", orders[0].ID.String())
	d.rehearses("withdrawal", "reject", orders[0].ID.String(), "--reason", "not today")
	d.rehearses("withdrawal", "cancel", orders[0].ID.String())
	d.ok("withdrawal", "approve", orders[0].ID.String())
	d.ok("withdrawal", "reject", orders[1].ID.String(), "--reason", "not today")
	d.ok("withdrawal", "cancel", orders[2].ID.String())
	listed := parse[[]listedWithdrawal](d, "withdrawal", "list", "--json")
	if len(listed) != 3 || listed[2].Status != "queued" || listed[1].Status != "rejected" ||
		*listed[1].Error != "not today" || listed[0].Status != "cancelled" {
		t.Errorf("listed %+v", listed)
	}
	if w := listed[2]; w.AccountID != id || w.Amount != "0.00100000" || w.Fee != "0.00001000" || w.Address != "bcrt1q" {
		t.Errorf("the first is %+v, want %v and %q and %q and %q", w, id, "0.00100000", "0.00001000", "bcrt1q")
	}
	some := parse[[]listedWithdrawal](d, "withdrawal", "list", "--status", "rejected", "--limit", "1", "--account",
		id.String(), "--json")
	if len(some) != 1 || some[0].WithdrawalID != orders[1].ID {
		t.Errorf("the rejected are %+v, want 1 of them and %v", some, orders[1].ID)
	}
	d.fails(exitFailed, "the status does not allow this: the withdrawal is queued", "withdrawal", "approve",
		orders[0].ID.String())
	d.fails(exitFailed, "there is no withdrawal", "withdrawal", "cancel", id.String())
	unconfigured := newHarness(t)
	unconfigured.env = append(unconfigured.env, "BURSAR_DATABASE=sqlite:"+d.dir+"/bursar.db",
		"BURSAR_SEED_FILE="+d.dir+"/seed.age")
	unconfigured.fails(exitFailed, "chain bitcoin of this withdrawal is not configured", "withdrawal", "approve",
		orders[0].ID.String())
}

// wait creates withdrawals that wait for approval.
func wait(id bursar.ID, tx *store.Tx, n byte) (orders []bursar.Withdrawal) {
	for i := range n {
		orders = append(orders, bursar.Withdrawal{ID: bursar.ID{0: 7, 15: i}, AccountID: id, Currency: "BTC",
			Amount: bursar.Units(100_000), Fee: bursar.Units(1000),
			Address: bursar.Address{Base: "bcrt1q"}, Status: bursar.WithdrawalPendingApproval, CreatedAt: tx.Now()})
	}
	return orders
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	d := newHarness(t, away)
	o := d.run("", "doctor")
	if o.code != exitFailed || !strings.Contains(o.err, "checks failed") ||
		!strings.Contains(o.out, "create one with `bursar seed new`") {
		t.Errorf("without a seed: %+v", o)
	}
	healthy := newSeededHarness(t)
	for _, f := range parse[[]finding](healthy, "doctor", "--json") {
		if f.Result != resultOK && f.Check != "chains" {
			t.Errorf("found %+v", f)
		}
	}
	healthy.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Kind: "low_gas", Ref: "1", Message: "gas is low\x1b[2J"})
	})
	if out := healthy.ok("doctor"); !regexp.MustCompile(`(?m)^alarm low_gas +warning +since .*: gas is low`).MatchString(out) || strings.Contains(out, "\x1b") {
		t.Errorf("found\n%s", out)
	}
	d.ok("seed", "new")
	o = d.run("", "doctor")
	if o.code != exitFailed || !strings.Contains(o.out, "waits for its node") || strings.Contains(o.out+o.err, "hunter2") {
		t.Errorf("with a node that is away: %+v, want %v and %q in it and no %q", o, exitFailed, "waits for its node",
			"hunter2")
	}
}

func TestReconcileWithoutChains(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	if got := parse[[]reconciled](d, "reconcile", "--json"); got == nil || len(got) != 0 {
		t.Errorf("got %v", got)
	}
	d = newSeededHarness(t, away)
	d.fails(exitFailed, "has never run with this database", "reconcile")
}
