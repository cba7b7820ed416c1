package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// postingsFetched counts pages: the difference of two within one transaction says what it asked for (RowsRead).
const postingsFetched = `SELECT pg_stat_get_xact_blocks_fetched('postings'::regclass) +
	pg_stat_get_xact_blocks_fetched('postings_pkey'::regclass)`

// What lines of an account are read costs the lines, wherever they are: also behind its last one, where PostgreSQL
// knows from its statistics that few rows are behind the number of an entry, and takes each condition that it has an
// index for. It counts the pages that a transaction asks for (PostgreSQL 15, pg_stat_get_xact_blocks_fetched, 28.2.20).
func TestLinesAreReadByTheIndexOfTheirAccount(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	db := storetest.Open(t, url)
	const entries, limit = 30_000, 40
	accounts := []ledger.Account{ledger.Available(bursar.ID{1}), ledger.Held(bursar.ID{1})}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	inTx(t, db, func(tx *store.Tx) error {
		for _, statement := range []string{
			fmt.Sprintf(`INSERT INTO entries(number, kind, ref, at) SELECT n, 'deposit', n || '/0', %d + n * 60000000::bigint
				FROM generate_series(1, %d) AS s(n)`, begin.UnixMicro(), entries),
			fmt.Sprintf(`INSERT INTO postings(entry, place, debit, credit, asset, amount) SELECT n, 0, 'custody',
				CASE WHEN n %% 10 = 0 THEN '%s' ELSE 'customer:' || n END, 'BTC', '1' FROM generate_series(1, %d) AS s(n)`,
				accounts[0], entries),
			fmt.Sprintf(`INSERT INTO months_summed(name, entry, since) VALUES ('months', %d, 0)`, entries),
		} {
			if err := tx.Run(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	})
	owner := raw(t, "pgx", storetest.AsOwner(url))
	if _, err := owner.Exec(`ANALYZE entries, postings`); err != nil {
		t.Fatal(err)
	}
	middle := begin.Add(entries / 2 * time.Minute)
	q := store.LineQuery{Accounts: accounts, Since: middle, Until: middle.Add(time.Hour)}
	end := func(number int64) store.Page { return store.Page{Before: number, Limit: 10} }
	for name, of := range map[string]func(ctx context.Context, tx *store.Tx) error{
		"the balances of a month": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.MonthSums().At(ctx, accounts, begin)
			return err
		},
		"lines behind the last": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Statements().After(ctx, store.LineQuery{Accounts: accounts}, entries<<8, 10)
			return err
		},
		"a page of a period": func(ctx context.Context, tx *store.Tx) error {
			_, _, err := tx.Statements().SelectAfter(ctx, q, end(0))
			return err
		},
		"the oldest lines": func(ctx context.Context, tx *store.Tx) error {
			_, _, err := tx.Statements().Select(ctx, store.LineQuery{Accounts: accounts}, end(100<<8))
			return err
		},
	} {
		var before, after int
		err := db.View(t.Context(), func(tx *store.Tx) error {
			if err := tx.Ask(t.Context(), &before, postingsFetched); err != nil {
				return err
			}
			if err := of(t.Context(), tx); err != nil {
				return err
			}
			return tx.Ask(t.Context(), &after, postingsFetched)
		})
		if pages := after - before; err != nil || pages > limit {
			t.Errorf("%s: PostgreSQL looks at %d pages of the postings and their primary key, error %v; want at most %d", name,
				pages, err, limit)
		}
	}
}
