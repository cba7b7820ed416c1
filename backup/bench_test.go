package backup_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/backup"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// grow books n entries in few transactions.
func grow(b *testing.B, db *store.DB, n int) {
	b.Helper()
	for at := 0; at < n; at += 2000 {
		entries := make([]ledger.Entry, 2000)
		for i := range entries {
			k := at + i
			entries[i] = ledger.DepositCredited(bursar.Deposit{ID: bursar.ID{9, byte(k >> 16), byte(k >> 8), byte(k)},
				AccountID: bursar.ID{1}, Currency: "BTC",
				Amount: bursar.Units(1)}, db.Now())
		}
		if err := db.Do(context.Background(), func(tx *store.Tx) error {
			return tx.Ledger().Post(context.Background(), entries...)
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWritesBesideBackups measures how long a write takes alone, and during continuous backups.
func BenchmarkWritesBesideBackups(b *testing.B) {
	for _, backups := range []bool{false, true} {
		b.Run(map[bool]string{false: "alone", true: "beside"}[backups], func(b *testing.B) {
			url := storetest.SQLite(b)
			db := storetest.Open(b, url)
			grow(b, db, 200_000)
			stop, saved, dir := make(chan struct{}), 0, b.TempDir()
			var group sync.WaitGroup
			if backups {
				group.Go(func() { saved = saveAgain(b, url, dir, stop) })
			}
			times := make([]time.Duration, 0, b.N)
			n := 0
			for b.Loop() {
				d := bursar.Deposit{ID: bursar.ID{8, byte(n >> 16), byte(n >> 8), byte(n)}, AccountID: bursar.ID{1},
					Currency: "BTC", Amount: bursar.Units(1)}
				began := time.Now()
				if err := db.Do(b.Context(), func(tx *store.Tx) error {
					return tx.Ledger().Post(b.Context(), ledger.DepositCredited(d, tx.Now()))
				}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
				n++
			}
			close(stop)
			group.Wait()
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs-p99")
			b.ReportMetric(float64(times[len(times)-1].Microseconds()), "µs-max")
			b.ReportMetric(float64(saved), "backups")
		})
	}
}

func saveAgain(b *testing.B, url, dir string, stop chan struct{}) (saved int) {
	for {
		select {
		case <-stop:
			return saved
		default:
		}
		c, err := backup.Save(b.Context(), url, filepath.Join(dir, "copy.db"), false)
		if err != nil {
			b.Error(err)
			return saved
		}
		saved++
		if err := os.Remove(c.File); err != nil {
			b.Error(err)
		}
		if err := os.Remove(c.File + ".sha256"); err != nil {
			b.Error(err)
		}
	}
}
