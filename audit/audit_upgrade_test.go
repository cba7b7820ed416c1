package audit_test

import (
	"database/sql"
	"log/slog"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// upgraded runs a test on a database that commit 781f36c created, which had neither halts nor links nor recoveries,
// after this version has opened it. It contains a customer's deposit, a paid charge, a reversed deposit, unattributed
// deposits that were refunded, assigned and left unresolved, and withdrawals that were paid, cancelled, sent and
// queued.
func upgraded(t *testing.T, test func(b *books, was map[ledger.Key]ledger.Balance)) {
	for name, empty := range map[string]func(testing.TB) string{
		"sqlite": storetest.EmptySQLite, "postgres": storetest.EmptyPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" && testing.Short() {
				t.Skip("PostgreSQL is left out by -short")
			}
			t.Parallel()
			text, err := os.ReadFile("testdata/781f36c." + name + ".sql")
			if err != nil {
				t.Fatal(err)
			}
			url := empty(t)
			was := load(t, url, string(text))
			db := storetest.Open(t, url)
			db.SealWith([]byte("a key outside the database"))
			registry, err := bursar.NewRegistry(bursar.Standard())
			if err != nil {
				t.Fatal(err)
			}
			b := &books{T: t, db: db, account: bursar.ID{0: 1, 15: 1}, raw: rawOf(t, url)}
			b.auditor = &audit.Auditor{DB: db, Registry: registry, Log: slog.New(slog.DiscardHandler)}
			test(b, was)
		})
	}
}

func rawOf(t *testing.T, url string) *sql.DB {
	t.Helper()
	driver, source := "pgx", url
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
	}
	raw, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return raw
}

// load fills an empty database and returns its balances.
func load(t *testing.T, url, text string) map[ledger.Key]ledger.Balance {
	t.Helper()
	raw := rawOf(t, url)
	raw.SetMaxOpenConns(1)
	if _, err := raw.Exec(text); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(url, "postgres") { // the dump leaves its connection without a search path
		if _, err := raw.Exec(`SET search_path = public`); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := raw.Query(`SELECT account, asset, debits, credits FROM balances`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	was := map[ledger.Key]ledger.Balance{}
	for rows.Next() {
		var k ledger.Key
		var b ledger.Balance
		if err := rows.Scan(&k.Account, &k.Asset, &b.Debits, &b.Credits); err != nil {
			t.Fatal(err)
		}
		was[k] = b
	}
	if err := rows.Err(); err != nil || len(was) < 8 {
		t.Fatalf("%d balances: %v, want at least 8", len(was), err)
	}
	return was
}

// faultless checks that the audit finds nothing.
func (b *books) faultless() {
	b.Helper()
	if faults := b.found(); len(faults) > 0 {
		b.Fatalf("the books are inconsistent: %v, want none", faults)
	}
	if _, all, err := b.auditor.VerifyAll(ctx); err != nil || len(all) > 0 {
		b.Fatalf("the whole verification finds %v, %v, want none", all, err)
	}
}

// A database of a version before halts and links continues in this one: its books are consistent and stay so, its
// frozen account has a halt, and what it owes is owed.
func TestADatabaseOfAnOlderVersionContinues(t *testing.T) {
	upgraded(t, func(b *books, was map[ledger.Key]ledger.Balance) {
		b.faultless()
		now := map[ledger.Key]ledger.Balance{}
		var waiting []bursar.Withdrawal
		b.do(func(tx *store.Tx) error {
			err := tx.Ledger().EachBalance(ctx, func(k ledger.Key, balance ledger.Balance) error {
				now[k] = balance
				return nil
			})
			if err != nil {
				return err
			}
			list, err := tx.Withdrawals().List(ctx, bursar.ID{}, store.Page{Limit: 100})
			for _, w := range list {
				if w.CompletedAt.IsZero() {
					waiting = append(waiting, w)
				}
			}
			return err
		})
		if !maps.Equal(was, now) {
			b.Errorf("the balances were %v and are %v, want %+v", was, now, now)
		}
		halts := b.halts()
		if len(halts) != 1 || halts[0].Kind != store.HaltByReversal {
			b.Errorf("halted are %v, want 1 of them and %v", halts, store.HaltByReversal)
		}
		if len(waiting) != 2 {
			b.Fatalf("under way are %v, want 2 of them", waiting)
		}
		for _, w := range waiting {
			if why := b.owed(w); why != "" {
				b.Errorf("withdrawal %s of the older version is not owed: %s, want none", w.ID, why)
			}
		}
		b.deposit(7)
		b.faultless()
		b.attack(`UPDATE withdrawals SET amount = '99' WHERE id = $1`, waiting[0].ID)
		b.caught("order", store.HaltAll)
	})
}

// Entries that an older version booked while a newer one migrated count as older than the links.
func TestEntriesBookedDuringAnUpgradeAreOld(t *testing.T) {
	upgraded(t, func(b *books, _ map[ledger.Key]ledger.Balance) {
		b.attack(`DELETE FROM seals WHERE entry = (SELECT MAX(number) FROM entries)`)
		b.attack(`UPDATE posted SET credits = '1' WHERE account = 'custody'`)
		for _, statement := range repeated(b.T) {
			b.attack(statement)
		}
		b.faultless()
	})
}

// repeated returns the statements of the migration that include what was booked in the meantime.
func repeated(t *testing.T) (statements []string) {
	t.Helper()
	text, err := os.ReadFile("../store/migrations/0017_old_replicas.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range strings.Split(string(text), ";\n") {
		if !strings.Contains(statement, "RENAME") && strings.TrimSpace(statement) != "" {
			statements = append(statements, statement)
		}
	}
	if len(statements) != 3 {
		t.Fatalf("the migration has %d statements besides the new name, want 3", len(statements))
	}
	return statements
}
