package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// postAt books each entry at its own time in a link of its own, as the service did then.
func (d *harness) postAt(entries ...ledger.Entry) {
	d.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(d.dir, "bursar.db")})
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	db.SealWith(d.booksKey())
	for _, e := range entries {
		then := db.As(func() time.Time { return e.At }, store.Hooks{})
		if err := then.Do(ctx, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, e) }); err != nil {
			d.Fatal(err)
		}
	}
}

// A statement is the same, to the byte, before its entries are archived and, from the database and the archives, after.
// Without the archives it begins where they end, and no period says that something is not there when it is in a file.
func TestAStatementIsTheSameAcrossArchives(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	day := func(n int) time.Time { return firstDay.Add(time.Duration(n) * 24 * time.Hour) }
	var entries []ledger.Entry
	for n := range 60 {
		dep := bursar.Deposit{ID: bursar.ID{1, byte(n)}, AccountID: id, Currency: "BTC", Amount: bursar.Units(1e8),
			Fee: bursar.Units(uint64(n + 1))}
		out := bursar.Withdrawal{ID: bursar.ID{2, byte(n)}, AccountID: id, Currency: "BTC", Amount: bursar.Units(5e6),
			Fee: bursar.Units(7)}
		entries = append(entries, ledger.DepositCredited(dep, day(n)), ledger.WithdrawalHeld(out, day(n).Add(time.Hour)),
			ledger.WithdrawalSettled(out, 0, day(n).Add(2*time.Hour)))
	}
	d.postAt(entries...)
	until := day(100).Format(time.RFC3339)
	periods := [][]string{{}, {"--since", "2026-01-20T00:00:00Z"}, {"--since", "2026-02-20T00:00:00Z"}}
	export := func(period []string, more ...string) []string {
		args := append([]string{"ledger", "export", "--account", id.String(), "--until", until}, period...)
		return append(args, more...)
	}
	var before []string
	for _, period := range periods {
		before = append(before, d.ok(export(period)...))
	}
	first, second := filepath.Join(d.dir, "one.gz"), filepath.Join(d.dir, "two.gz")
	for file, to := range map[string]string{first: "2026-01-10T12:00:00Z"} {
		if got := parse[archivedBooks](d, "archive", "--books", file, "--before", to, "--json"); got.Removed != 30 ||
			got.FirstLink != 1 || got.LastLink != 30 || got.Stopped != "" {
			t.Errorf("archived is %+v, want ten days", got)
		}
	}
	kept := parse[archivedBooks](d, "archive", "--books", second, "--before", "2026-02-01T00:00:00Z", "--keep", "--json")
	if kept.Removed != 0 || kept.FirstLink != 31 {
		t.Errorf("kept is %+v, want nothing removed", kept)
	}
	if got := parse[archivedBooks](d, "archive", "--books", second, "--remove", "--json"); got.Removed != 63 {
		t.Errorf("removed is %+v, want three weeks", got)
	}
	if got := parse[archivedBooks](d, "archive", "--books", second, "--check", "--json"); got.Entries != 63 {
		t.Errorf("checked is %+v, want three weeks", got)
	}
	for i, period := range periods {
		if got := d.ok(export(period, "--archive", second, "--archive", first)...); got != before[i] {
			t.Errorf("the period %v is\n%s\nwant\n%s", period, got, before[i])
		}
	}
	if got := d.ok(export(periods[2])...); got != before[2] {
		t.Errorf("a period behind the archives is\n%s\nwithout them, want\n%s", got, before[2])
	}
	for _, period := range periods[:2] {
		d.fails(exitFailed, "entries of before 2026-01-31T02:00:00.000001Z are in archives", export(period)...)
		d.fails(exitFailed, "an archive of the books is missing", export(period, "--archive", first)...)
	}
	d.fails(exitFailed, "are in archives of the books", "ledger", "export", "--all", "--until", until)
	if rows := d.table("--all", "--since", "2026-02-01", "--until", until); len(rows) != 29*6 {
		t.Errorf("the journal behind the archives has %d rows, want %d", len(rows), 29*6)
	}
	d.fails(2, "--archive is for the statement of an account", "ledger", "export", "--all", "--archive", first)
	d.fails(2, "older than 7 days", "archive", "--books", filepath.Join(d.dir, "no.gz"), "--before",
		time.Now().UTC().Format(time.RFC3339))
	d.fails(2, "never overwrites a file", "archive", "--books", first, "--before", "2026-01-10T12:00:00Z")
	if said := d.ok("ledger", "verify"); !strings.Contains(said, fmt.Sprint(len(entries))) {
		t.Errorf("it says %q, want %d links", said, len(entries))
	}
}
