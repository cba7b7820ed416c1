package outgoing_test

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// intruded is a harness whose books are sealed and audited, with an intruder's own connection to its database.
func intruded(t *testing.T, test func(t *testing.T, r *harness, attack func(query string, args ...any))) {
	for name, config := range map[string]struct{ numbered bool }{"coins": {}, "nonce": {true}} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				db.SealWith([]byte("a key that is in no database"))
				kind := utxoModel
				if config.numbered {
					kind = numbered
				}
				r := newHarness(t, db, kind)
				r.sender.Books = &audit.Auditor{DB: db, Registry: r.registry, Log: slog.New(slog.DiscardHandler)}
				test(t, r, intruder(t, db))
			})
		})
	}
}

func intruder(t *testing.T, db *store.DB) func(query string, args ...any) {
	t.Helper()
	driver, source := "pgx", storetest.URL(db)
	if file, is := strings.CutPrefix(source, "sqlite:"); is {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
	}
	raw, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return func(query string, args ...any) {
		t.Helper()
		if db.Postgres() {
			query = strings.ReplaceAll(query, "RANDOMBLOB(16)", "'\\x01020304050607080910111213141516'::bytea")
		}
		if _, err := raw.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// nothingLeaves takes steps and checks that the attack is noticed and nobody is paid.
func (r *harness) nothingLeaves(names ...string) {
	r.t.Helper()
	r.trouble = true // reading the queue may already return an error
	for range 8 {
		r.step()
		r.chain.Mine(1)
	}
	r.trouble = false
	r.must(r.sender.Books.CatchUp(ctx))
	for _, name := range names {
		if got := r.chain.Balance(r.chain.Named(name), ""); !got.IsZero() {
			r.t.Errorf("%s was paid to %s", got, name)
		}
	}
}

func (r *harness) halted() (halted bool) {
	r.view(func(tx *store.Tx) error {
		halts, err := tx.Halts().List(ctx)
		for _, h := range halts {
			halted = halted || h.Kind == store.HaltByBooks
		}
		return err
	})
	return halted
}

// An intruder who raises a balance in the database and withdraws it by the API is not paid.
func TestARaisedBalanceIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		attack(`UPDATE balances SET credits = '900000000' WHERE account = $1`, string(ledger.Available(r.accounts[2])))
		attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000') ON CONFLICT (account, asset) DO NOTHING`,
			string(ledger.Available(r.accounts[2])))
		_, err := r.withdraw(2, 300_000_000, r.chain.Named("thief"))
		r.must(err)
		r.nothingLeaves("thief")
		if !r.halted() || !r.alarmed("books_contradict") {
			t.Error("the attack was not noticed")
		}
	})
}

// A raised balance together with an entry that explains it is not paid either.
func TestAForgedDepositIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		thief := string(ledger.Available(r.accounts[2]))
		attack(`INSERT INTO entries(number, kind, ref, at) VALUES (100000, 'deposit', 'forged', 1)`)
		attack(`INSERT INTO postings(entry, place, debit, credit, asset, amount) VALUES (100000, 0, 'custody', $1, 'COIN', '900000000')`, thief)
		attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000')`, thief)
		attack(`INSERT INTO posted(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000')`, thief)
		_, err := r.withdraw(2, 300_000_000, r.chain.Named("thief"))
		r.must(err)
		r.nothingLeaves("thief")
		if !r.halted() {
			t.Error("the attack was not noticed")
		}
	})
}

// A database trigger that changes the destination of every withdrawal, when it is written or when it is assigned, gets
// nobody paid.
func TestASwappedDestinationIsNotPaid(t *testing.T) {
	for _, event := range []string{"INSERT", "UPDATE"} {
		t.Run(event, func(t *testing.T) {
			intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
				r.fund()
				thief := r.chain.Named("thief")
				if r.db.Postgres() {
					attack(`CREATE FUNCTION swap() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.base := '` + thief +
						`'; RETURN NEW; END $f$`)
					attack(`CREATE TRIGGER swapped BEFORE ` + event + ` ON withdrawals FOR EACH ROW EXECUTE FUNCTION swap()`)
				} else {
					attack(`CREATE TRIGGER swapped AFTER ` + event + ` ON withdrawals WHEN NEW.base <> '` + thief +
						`' BEGIN UPDATE withdrawals SET base = '` + thief + `' WHERE number = NEW.number; END`)
				}
				_, err := r.withdraw(0, 300_000_000, r.chain.Named("customer"))
				r.must(err)
				r.nothingLeaves("thief", "customer")
				if !r.halted() {
					t.Error("the attack was not noticed")
				}
			})
		})
	}
}

// audited takes a step of the audit that checks the known faults again; the audit before a payment does not.
func (r *harness) audited() {
	r.t.Helper()
	_, err := r.sender.Books.(*audit.Auditor).Step(ctx)
	r.must(err)
}

// A withdrawal whose amount is raised while it waits is not paid; once the amount is corrected it is paid, and the halt
// ends automatically.
func TestAWithdrawalWithARaisedAmountIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		w, err := r.withdraw(0, 300_000_000, r.chain.Named("customer"))
		r.must(err)
		attack(`UPDATE withdrawals SET amount = '400000000' WHERE id = $1`, w.ID)
		r.nothingLeaves("customer")
		if !r.halted() {
			t.Error("the attack was not noticed")
		}
		attack(`UPDATE withdrawals SET amount = '300000000' WHERE id = $1`, w.ID)
		r.audited()
		r.settle()
		if got := r.chain.Balance(r.chain.Named("customer"), ""); got != w.Amount || r.halted() {
			t.Errorf("put right, %s was paid, halted %v", got, r.halted())
		}
		r.must(r.audit())
	})
}

// An outgoing transaction must match its withdrawals, and a withdrawal is paid once: its row and its status in the
// database are not trusted.
func TestAWithdrawalIsPaidOnceWhateverItsStatus(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.forged = true // changed by the attack
		r.fund()
		w, err := r.withdraw(0, 100_000_000, r.chain.Named("customer"))
		r.must(err)
		r.settle()
		attack(`UPDATE withdrawals SET status = 'queued', outgoing_id = NULL, completed_at = 0, tx_id = '' WHERE id = $1`,
			w.ID)
		r.trouble = true
		for range 8 {
			r.step()
			r.chain.Mine(1)
		}
		if got := r.chain.Balance(r.chain.Named("customer"), ""); got != bursar.Units(100_000_000) {
			t.Errorf("%s was paid for one withdrawal", got)
		}
	})
}

// An outgoing transaction whose request was changed before it is signed pays nobody.
func TestAChangedTransactionRequestIsNotSigned(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		customer, thief := r.chain.Named("customer"), r.chain.Named("thief")
		if r.db.Postgres() {
			attack(`CREATE FUNCTION swap() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.order_json := replace(NEW.order_json, '` + customer + `', '` + thief + `'); RETURN NEW; END $f$`)
			attack(`CREATE TRIGGER swapped BEFORE INSERT ON outgoing_txs FOR EACH ROW EXECUTE FUNCTION swap()`)
		} else {
			attack(`CREATE TRIGGER swapped AFTER INSERT ON outgoing_txs BEGIN UPDATE outgoing_txs SET order_json = replace(order_json, '` + customer + `', '` + thief + `') WHERE number = NEW.number; END`)
		}
		_, err := r.withdraw(0, 100_000_000, customer)
		r.must(err)
		r.nothingLeaves("thief", "customer")
	})
}

// A withdrawal that is sent and not settled is put back into the queue by an edit of the database: it is paid once.
func TestASentWithdrawalIsPaidOnceWhateverItsStatus(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.guarded(filepath.Join(t.TempDir(), "seed.marks"))
		r.fund()
		w, err := r.withdraw(0, 100_000_000, r.chain.Named("customer"))
		r.must(err)
		for range 20 {
			if r.now(w).Status == bursar.WithdrawalBroadcast {
				break
			}
			r.step()
		}
		if r.now(w).Status != bursar.WithdrawalBroadcast {
			t.Fatal("it was not sent")
		}
		attack(`UPDATE withdrawals SET status = 'queued', outgoing_id = NULL, tx_id = '' WHERE id = $1`, w.ID)
		r.trouble = true
		for range 12 {
			r.step()
			r.chain.Mine(1)
		}
		if got := r.chain.Balance(r.chain.Named("customer"), ""); got != bursar.Units(100_000_000) {
			t.Errorf("%s was paid for one withdrawal", got)
		}
	})
}
