package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// A statement that is being written while old postings are archived is whole, or refused; never shortened.
func TestAStatementBesideAnArchiveRunIsWholeOrRefused(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	day := func(n int) time.Time { return firstDay.Add(time.Duration(n) * 24 * time.Hour) }
	var entries []ledger.Entry
	for n := range 20 {
		dep := bursar.Deposit{ID: bursar.ID{1, byte(n)}, AccountID: id, Currency: "BTC", Amount: bursar.Units(1e8),
			Fee: bursar.Units(uint64(n + 1))}
		entries = append(entries, ledger.DepositCredited(dep, day(n)))
	}
	d.postAt(entries...)
	want := d.ok("ledger", "export", "--account", id.String(), "--until", day(100).Format(time.RFC3339))

	ctx := context.Background()
	archived := false
	db, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(d.dir, "bursar.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	views := 0
	beside := db.As(time.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
		if at == store.Beginning {
			if views++; views == 3 { // 1: the account, 2: where archives end, 3: the first lines
				archived = true
				d.ok("archive", "--books", filepath.Join(d.dir, "one.gz"), "--before", "2026-01-10T12:00:00Z")
			}
		}
		return nil
	}})
	x := &export{db: beside, registry: registry, owner: id, until: day(100), rows: newRowWriter(&out, false)}
	err = x.statement(ctx)
	if err == nil {
		err = x.rows.end()
	}
	if !archived {
		t.Fatal("nothing was archived meanwhile")
	}
	if err == nil && out.String() != want {
		t.Errorf("got\n%s\nwant\n%s\nor an error", out.String(), want)
	}
}

// A statement whose lines do not come to the account's balance is refused, also where what is missing is outside of the
// period.
func TestAStatementThatIsNotTheBalanceIsRefused(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	day := func(n int) time.Time { return firstDay.Add(time.Duration(n) * 24 * time.Hour) }
	for n := range 3 {
		d.postAt(ledger.DepositCredited(bursar.Deposit{ID: bursar.ID{1, byte(n)}, AccountID: id, Currency: "BTC",
			Amount: bursar.Units(1e8), Fee: bursar.Units(1)}, day(n)))
	}
	periods := [][]string{{}, {"--until", "2026-01-01T12:00:00Z"}, {"--since", "2026-01-02T12:00:00Z"}}
	for _, period := range periods {
		d.ok(append([]string{"ledger", "export", "--account", id.String()}, period...)...)
	}
	raw, err := sql.Open("sqlite", filepath.Join(d.dir, "bursar.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(), `DELETE FROM postings WHERE entry = 2`); err != nil {
		t.Fatal(err)
	}
	for _, period := range periods {
		got := d.run("", append([]string{"ledger", "export", "--account", id.String()}, period...)...)
		if got.code == 0 || !strings.Contains(got.err, "come to") {
			t.Errorf("%v: got exit %d and %q, want an error that names the sums", period, got.code, got.err)
		}
	}
}
