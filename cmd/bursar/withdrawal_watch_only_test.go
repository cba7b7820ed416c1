package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// The attack: anyone who approves withdrawals is given the passphrase of the seed for it, and has all the money. With
// the watch-only file beside the seed no command that decides opens it; a file of another seed, or of an earlier
// epoch, decides nothing.
func TestWithdrawalsAreDecidedWithoutTheSeed(t *testing.T) {
	t.Parallel()
	d, other := newSeededHarness(t, away), newSeededHarness(t)
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
	file := filepath.Join(d.dir, "seed.age.watch")
	export := func(of *harness) {
		t.Helper()
		if err := os.WriteFile(file, []byte(of.ok("seed", "export-watch-only", "--keys", "10")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	approve := []string{"withdrawal", "approve", orders[0].ID.String()}
	export(other)
	if o := d.run("", approve...); o.code == 0 || !strings.Contains(o.err, "seed") {
		t.Errorf("with the file of another seed: %+v, want it to be refused", o)
	}
	export(d)
	d.env = nil // no passphrase
	begun := filepath.Join(d.dir, "seed.age.epochs")
	if err := os.WriteFile(begun, []byte(`[{"number":1,"fingerprint":"ab"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := d.run("", approve...); o.code == 0 || !strings.Contains(o.err, "of epoch 0") {
		t.Errorf("with the file of an earlier epoch: %+v, want it to be refused", o)
	}
	if err := os.Remove(begun); err != nil {
		t.Fatal(err)
	}
	d.ok(approve...)
	d.ok("withdrawal", "reject", orders[1].ID.String(), "--reason", "not today")
	d.ok("withdrawal", "cancel", orders[2].ID.String())
	listed := parse[[]listedWithdrawal](d, "withdrawal", "list", "--json")
	if len(listed) != 3 || listed[2].Status != "queued" || listed[1].Status != "rejected" ||
		listed[0].Status != "cancelled" {
		t.Errorf("listed %+v, want one queued, one rejected and one cancelled", listed)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if o := d.run("", "withdrawal", "cancel", orders[0].ID.String()); o.code == 0 ||
		!strings.Contains(strings.ToLower(o.err), "passphrase") {
		t.Errorf("without the file and without the passphrase: %+v, want the passphrase to be asked for", o)
	}
}
