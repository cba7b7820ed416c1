package archive_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// BenchmarkArchiveOfTheBooks archives 50,000 transfers of two postings, 50 in a link, and says what they take before
// and after on PostgreSQL.
func BenchmarkArchiveOfTheBooks(b *testing.B) {
	const links, each = 1000, 50
	for range b.N {
		b.StopTimer()
		now := start
		url := storetest.Postgres(b)
		db := storetest.OpenAt(b, url, func() time.Time { return now })
		db.SealWith([]byte("a key outside the database"))
		raw, err := sql.Open("pgx", url)
		if err != nil {
			b.Fatal(err)
		}
		size := func(what string) {
			for _, table := range []string{"entries", "postings", "seals", "links"} {
				var bytes float64
				if err := raw.QueryRow(`SELECT pg_total_relation_size('` + table + `')`).Scan(&bytes); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(bytes/links/each, "B/"+table+"-"+what)
			}
		}
		var last store.Link
		for n := range links {
			now = now.Add(time.Minute)
			var list []ledger.Entry
			for i := range each {
				d := bursar.Deposit{ID: bursar.ID{7, byte(n >> 8), byte(n), byte(i)}, AccountID: bursar.ID{byte(i), byte(n)},
					Currency: "BTC", Amount: bursar.Units(12345678), Fee: bursar.Units(123)}
				list = append(list, ledger.DepositCredited(d, now))
			}
			if err := db.Do(b.Context(),
				func(tx *store.Tx) error { return tx.Ledger().Post(b.Context(), list...) }); err != nil {
				b.Fatal(err)
			}
		}
		now = now.Add(30 * 24 * time.Hour)
		err = db.Do(b.Context(), func(tx *store.Tx) (err error) {
			if last, err = tx.Links().Head(b.Context()); err != nil {
				return err
			}
			return tx.Audits().Set(b.Context(), store.Audit{Link: last.Number, Hash: last.Hash})
		})
		if err != nil {
			b.Fatal(err)
		}
		size("before")
		b.StartTimer()
		file := filepath.Join(b.TempDir(), "books.gz")
		if _, err := archive.WriteBooks(b.Context(), db, file, now.Add(-8*24*time.Hour)); err != nil {
			b.Fatal(err)
		}
		if n, err := archive.RemoveBooks(b.Context(), db, file); err != nil || n != links*each {
			b.Fatalf("%d entries are archived, %v, want %v", n, err, links*each)
		}
		b.StopTimer()
		if _, err := raw.Exec(`VACUUM FULL postings`); err != nil {
			b.Fatal(err)
		}
		size("after")
		raw.Close()
	}
	b.ReportMetric(float64(links*each*b.N)/b.Elapsed().Seconds(), "entries/s")
}
