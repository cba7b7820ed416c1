package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// named is what is looked up by what names it, while requests or payments wait.
var named = []read{
	reading("answers kept", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.IdempotencyKeys().Find(ctx, []store.KeyName{{Account: someone, Name: "a"}})
	}),
	reading("wallets at addresses", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Wallets().At(ctx, []store.WalletAddress{{Family: "bitcoin", Address: bursar.Address{Base: "a"}}})
	}),
	reading("balances", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Ledger().BalancesOf(ctx, []ledger.Key{{Account: ledger.Custody, Asset: "BTC"}})
	}),
	reading("sums of postings", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Ledger().PostedOf(ctx, []ledger.Key{{Account: ledger.Custody, Asset: "BTC"}})
	}),
	reading("what is owed", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().NotOwed(ctx, []bursar.ID{someone}, false)
	}),
	reading("links", func(ctx context.Context, tx *store.Tx) (any, error) { return tx.Links().After(ctx, 0, 10) }),
	reading("entries without a link", func(ctx context.Context, tx *store.Tx) (any, error) {
		_, last, err := tx.Links().Missing(ctx, 0, 10)
		return last, err
	}),
	reading("whether withdrawals wait", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().AnyQueued(ctx, bursar.Ethereum, []bursar.CurrencyCode{"ETH", "USDT"}, true)
	}),
	reading("withdrawals that wait", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Withdrawals().Queued(ctx, bursar.Bitcoin, []bursar.CurrencyCode{"BTC"}, true, 10)
	}),
	reading("UTXOs", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.UTXOs().Spendable(ctx, bursar.Bitcoin, 1, 1, bursar.ID{1}, 10)
	}),
	reading("lost reservations", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Reservations().Lost(ctx, someone, 10)
	}),
	reading("reservations that others used", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.Reservations().UsedByOthers(ctx, bursar.OutgoingTx{ID: someone, Chain: bursar.Ethereum}, []string{"a"}, 10)
	}),
	reading("whether a chain has external spends", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.ExternalSpends().Any(ctx, bursar.Bitcoin)
	}),
	reading("postings of an entry", func(ctx context.Context, tx *store.Tx) (any, error) {
		postings, _, err := tx.Ledger().Booked(ctx, ledger.Entry{Kind: ledger.KindExternalSpend, Ref: "a"})
		return postings, err
	}),
	reading("number of UTXOs", func(ctx context.Context, tx *store.Tx) (any, error) {
		return tx.UTXOs().Count(ctx, bursar.Bitcoin, 1, 10)
	}),
}

// wholeTables are the words of plans that read a whole table or index. What waits must be found in an index that has
// nothing else.
var wholeTables = []string{"Seq Scan", "Merge ", "Hash ", "withdrawals_requested"}

// PostgreSQL keeps the plan that it made of a statement while there was nothing. What is looked up by what names it is
// found by an index even so, however much is written until the tables are next analysed.
func TestWhatIsNamedIsFoundByItsIndexFromTheBeginning(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	var made []string
	db := storetest.Open(t, url)
	post := ledger.TreasuryFunded(bursar.Withdrawal{ID: bursar.ID{1}, AccountID: someone, Currency: "BTC"},
		bursar.Units(5), db.Now())
	if err := db.Do(t.Context(), func(tx *store.Tx) error { return tx.Ledger().Post(t.Context(), post) }); err != nil {
		t.Fatal(err) // there is a link to be read
	}
	heard := db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
		if at == store.Running {
			made = append(made, query)
		}
		return nil
	}})
	server := raw(t, "pgx", url)
	server.SetMaxOpenConns(1)
	for _, r := range named {
		made = nil
		if err := heard.View(t.Context(), func(tx *store.Tx) error { return r.of(t.Context(), tx) }); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if len(made) == 0 {
			t.Errorf("%s: no statement was made", r.name)
		}
		for i, query := range made {
			name := fmt.Sprintf("asked_%s_%d", strings.ReplaceAll(r.name, " ", "_"), i)
			for _, line := range planOf(t, server, name, query) {
				if slices.ContainsFunc(wholeTables, func(word string) bool { return strings.Contains(line, word) }) {
					t.Errorf("%s: PostgreSQL reads a whole table (%s) for\n%s, want none of %q", r.name, strings.TrimSpace(line),
						query, wholeTables)
				}
			}
		}
	}
}

// planOf returns the plan that PostgreSQL makes of a statement for any values.
func planOf(t *testing.T, server *sql.DB, name, query string) []string {
	t.Helper()
	nulls := make([]string, strings.Count(query, "$"))
	for n := len(nulls); n > 0 && !strings.Contains(query, fmt.Sprintf("$%d", n)); n-- {
		nulls = nulls[:n-1]
	}
	for i := range nulls {
		nulls[i] = "NULL"
	}
	values := ""
	if len(nulls) > 0 {
		values = "(" + strings.Join(nulls, ", ") + ")"
	}
	for _, statement := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE " + name + " AS " + query} {
		if _, err := server.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return list(t, server, "EXPLAIN EXECUTE "+name+values)
}

// What an account has pending is added up exactly, whatever its size, for each currency.
func TestWhatIsPendingIsAddedUpExactly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		large, err := bursar.ParseUnits("170141183460469231731687303715884105727")
		if err != nil {
			t.Fatal(err)
		}
		both, err := large.Add(bursar.Units(12))
		if err != nil {
			t.Fatal(err)
		}
		err = db.Do(ctx, func(tx *store.Tx) error {
			if err := tx.Accounts().Insert(ctx, bursar.Account{ID: someone, Name: "shop", CreatedAt: tx.Now()}); err != nil {
				return err
			}
			for i, amount := range []bursar.Amount{large, bursar.Units(12), bursar.Units(9)} {
				d := bursar.Deposit{ID: bursar.ID{byte(i + 1)}, Purpose: bursar.ForAccount, AccountID: someone,
					Currency: "ETH", Chain: bursar.Ethereum, TxID: "t", Output: uint32(i), Amount: amount, Height: 7, SeenAt: tx.Now()}
				if i == 2 {
					d.Currency = "USDT"
				}
				if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.View(ctx, func(tx *store.Tx) error {
			sums, err := tx.Ledger().OfAccounts(ctx, []bursar.ID{someone, something})
			if got := sums[someone].Pending; got["ETH"] != both || got["USDT"] != bursar.Units(9) || len(got) != 2 {
				t.Errorf("pending is %v, want %s ETH and 9 USDT", got, both)
			}
			if got := sums[something].Pending; len(got) != 0 {
				t.Errorf("another account has %v pending, want none", got)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
