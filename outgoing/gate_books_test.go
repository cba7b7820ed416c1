package outgoing_test

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/bursartest"
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
				kind := bursartest.UTXOModel
				if config.numbered {
					kind = bursartest.Numbered
				}
				r := newHarness(t, db, kind)
				r.Sender.Books = &audit.Auditor{DB: db, Registry: r.Registry, Log: slog.New(slog.DiscardHandler)}
				test(t, r, intruder(t, db))
			})
		})
	}
}

func intruder(t *testing.T, db *store.DB) func(query string, args ...any) {
	t.Helper()
	driver, source := "pgx", storetest.AsOwner(storetest.URL(db))
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
	r.T.Helper()
	r.Trouble = true // reading the queue may already return an error
	for range 8 {
		r.Step()
		r.Chain.Mine(1)
	}
	r.Trouble = false
	r.Must(r.Sender.Books.CatchUp(ctx))
	for _, name := range names {
		if got := r.Chain.Balance(r.Chain.Named(name), ""); !got.IsZero() {
			r.T.Errorf("%s was paid to %s", got, name)
		}
	}
}

// An intruder who raises a balance in the database and withdraws it by the API is not paid.
func TestARaisedBalanceIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		attack(`UPDATE balances SET credits = '900000000' WHERE account = $1`, string(ledger.Available(r.Accounts[2])))
		attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000') ON CONFLICT (account, asset) DO NOTHING`,
			string(ledger.Available(r.Accounts[2])))
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		r.nothingLeaves("thief")
		if !r.Halted() || !r.alarmed("books_contradict") {
			t.Error("the attack was not noticed")
		}
	})
}

// A raised balance together with an entry that explains it is not paid either.
func TestAForgedDepositIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		thief := string(ledger.Available(r.Accounts[2]))
		attack(`INSERT INTO entries(number, kind, ref, at) VALUES (100000, 'deposit', 'forged', 1)`)
		attack(`INSERT INTO postings(entry, place, debit, credit, asset, amount) VALUES (100000, 0, 'custody', $1, 'COIN', '900000000')`, thief)
		attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000')`, thief)
		attack(`INSERT INTO posted(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000')`, thief)
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		r.nothingLeaves("thief")
		if !r.Halted() {
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
				r.Fund()
				thief := r.Chain.Named("thief")
				if r.DB.Postgres() {
					attack(`CREATE FUNCTION swap() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.base := '` + thief +
						`'; RETURN NEW; END $f$`)
					attack(`CREATE TRIGGER swapped BEFORE ` + event + ` ON withdrawals FOR EACH ROW EXECUTE FUNCTION swap()`)
				} else {
					attack(`CREATE TRIGGER swapped AFTER ` + event + ` ON withdrawals WHEN NEW.base <> '` + thief +
						`' BEGIN UPDATE withdrawals SET base = '` + thief + `' WHERE number = NEW.number; END`)
				}
				_, err := r.Withdraw(0, 300_000_000, r.Chain.Named("customer"))
				r.Must(err)
				r.nothingLeaves("thief", "customer")
				if !r.Halted() {
					t.Error("the attack was not noticed")
				}
			})
		})
	}
}

// audited takes a step of the audit that checks the known faults again; the audit before a payment does not.
func (r *harness) audited() {
	r.T.Helper()
	_, err := r.Sender.Books.(*audit.Auditor).Step(ctx)
	r.Must(err)
}

// A withdrawal whose amount is raised while it waits is not paid; once the amount is corrected it is paid, and the halt
// ends automatically.
func TestAWithdrawalWithARaisedAmountIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		w, err := r.Withdraw(0, 300_000_000, r.Chain.Named("customer"))
		r.Must(err)
		attack(`UPDATE withdrawals SET amount = '400000000' WHERE id = $1`, w.ID)
		r.nothingLeaves("customer")
		if !r.Halted() {
			t.Error("the attack was not noticed")
		}
		attack(`UPDATE withdrawals SET amount = '300000000' WHERE id = $1`, w.ID)
		r.audited()
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("customer"), ""); got != w.Amount || r.Halted() {
			t.Errorf("put right, %s was paid, halted %v", got, r.Halted())
		}
		r.Must(r.Audit())
	})
}

// An outgoing transaction must match its withdrawals, and a withdrawal is paid once: its row and its status in the
// database are not trusted.
func TestAWithdrawalIsPaidOnceWhateverItsStatus(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Forged = true // changed by the attack
		r.Fund()
		w, err := r.Withdraw(0, 100_000_000, r.Chain.Named("customer"))
		r.Must(err)
		r.Settle()
		attack(`UPDATE withdrawals SET status = 'queued', outgoing_id = NULL, completed_at = 0, tx_id = '' WHERE id = $1`,
			w.ID)
		r.Trouble = true
		for range 8 {
			r.Step()
			r.Chain.Mine(1)
		}
		if got := r.Chain.Balance(r.Chain.Named("customer"), ""); got != bursar.Units(100_000_000) {
			t.Errorf("%s was paid for one withdrawal, want %s", got, bursar.Units(100_000_000))
		}
	})
}

// An outgoing transaction whose request was changed before it is signed pays nobody.
func TestAChangedTransactionRequestIsNotSigned(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		customer, thief := r.Chain.Named("customer"), r.Chain.Named("thief")
		if r.DB.Postgres() {
			attack(`CREATE FUNCTION swap() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.order_json := replace(NEW.order_json, '` + customer + `', '` + thief + `'); RETURN NEW; END $f$`)
			attack(`CREATE TRIGGER swapped BEFORE INSERT ON outgoing_txs FOR EACH ROW EXECUTE FUNCTION swap()`)
		} else {
			attack(`CREATE TRIGGER swapped AFTER INSERT ON outgoing_txs BEGIN UPDATE outgoing_txs SET order_json = replace(order_json, '` + customer + `', '` + thief + `') WHERE number = NEW.number; END`)
		}
		_, err := r.Withdraw(0, 100_000_000, customer)
		r.Must(err)
		r.nothingLeaves("thief", "customer")
	})
}

// A withdrawal that is sent and not settled is put back into the queue by an edit of the database: it is paid once.
func TestASentWithdrawalIsPaidOnceWhateverItsStatus(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Guarded(filepath.Join(t.TempDir(), "seed.marks"))
		r.Fund()
		w, err := r.Withdraw(0, 100_000_000, r.Chain.Named("customer"))
		r.Must(err)
		for range 20 {
			if r.Now(w).Status == bursar.WithdrawalBroadcast {
				break
			}
			r.Step()
		}
		if r.Now(w).Status != bursar.WithdrawalBroadcast {
			t.Fatal("it was not sent")
		}
		attack(`UPDATE withdrawals SET status = 'queued', outgoing_id = NULL, tx_id = '' WHERE id = $1`, w.ID)
		r.Trouble = true
		for range 12 {
			r.Step()
			r.Chain.Mine(1)
		}
		if got := r.Chain.Balance(r.Chain.Named("customer"), ""); got != bursar.Units(100_000_000) {
			t.Errorf("%s was paid for one withdrawal, want %s", got, bursar.Units(100_000_000))
		}
	})
}
