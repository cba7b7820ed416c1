package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestARestoredSandbox checks that a restored database pays nobody twice, by any adapter: it was copied while a
// withdrawal waited in every currency, they were paid after that, and after the restore they are recognised on their
// chains and confirmed. The addresses of wallets that were created after the backup are given to nobody else, and
// deposits to them are found.
func TestARestoredSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	w := newHarness(t, build(t), "", eachAdapter)
	w.receive()
	w.settle()
	w.run("halt", "--all", "--reason", "the backup contains the waiting withdrawals")
	requests := w.toExternal("6.25", 1)
	w.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	w.endCleanly()
	backup, err := os.ReadFile(filepath.Join(w.dir, "bursar.db"))
	w.must(err)
	w.restart()
	w.run("resume", "--all")
	w.paid(requests)
	forgotten := map[string]bool{}
	lost := map[*currency]wallet{}
	for _, c := range w.currencies {
		lost[c] = w.a.wallet(c)
		forgotten[lost[c].Address] = true
	}
	w.endCleanly()
	w.replace(backup)
	w.restart()
	w.paid(requests)
	for _, o := range requests {
		if got := w.onChain(o.currency, o.address); got.Cmp(o.units(o.amount)) != 0 {
			t.Errorf("%s: %v units were paid, want %s", o.code, got, o.amount)
		}
	}
	if unclear := w.recoveries().Items; len(unclear) > 0 {
		t.Errorf("unclear is %+v, want none", unclear)
	}
	for _, c := range w.currencies {
		if next := w.a.wallet(c); forgotten[next.Address] {
			t.Errorf("%s: %s was given out twice", c.code, next.Address)
		}
		hash := w.pay(c, share{lost[c].Address, "1.25"})
		w.mine(1)
		w.eventually("a payment to a forgotten address of "+c.code+" is found", func() error {
			_, err := w.listed(hash)
			return err
		})
	}
	w.endCleanly()
}

// replace puts a database in the place of that of the sandbox, which has ended.
func (w *harness) replace(backup []byte) {
	w.t.Helper()
	path := filepath.Join(w.dir, "bursar.db")
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
	}
	w.must(os.WriteFile(path, backup, 0o600))
}

type recoveries struct {
	Chains []struct{ Chain, WaitsFor, Cause string }
	Items  []unclear
}

// unclear is a payment that the database has forgotten.
type unclear struct {
	Item             int64
	Chain, TxID, Why string
	Paid, Candidates []string
}

func (w *harness) recoveries() (found recoveries) {
	w.t.Helper()
	w.must(found.read(w.run("recovery", "status", "--json")))
	return found
}

func (r *recoveries) read(text []byte) error {
	if err := json.Unmarshal(text, r); err != nil {
		return fmt.Errorf("read the recoveries: %w", err)
	}
	return nil
}
