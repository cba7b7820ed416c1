package archive_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// An order that a reorg reopens after its hold was archived can be cancelled: its money is the customer's again, once.
func TestAnOrderReopenedBehindAnArchiveCanBeCancelled(t *testing.T) {
	onBooks(t, func(b *books) {
		b.history(1)
		w := b.withdraw(shop, 40, true)
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		b.archiveAll()
		b.post(ledger.WithdrawalUnsettled(w, 1, time.Time{}))
		b.attack(`UPDATE withdrawals SET status = 'queued', completed_at = 0 WHERE status = 'confirmed'`)
		before := b.available(shop)
		registry, err := bursar.NewRegistry(bursar.Standard())
		b.Must(err)
		service := withdrawal.NewService(withdrawal.Config{DB: b.db, Registry: registry, IDs: bursar.NewIDs(b.clock.Now, nil),
			Log: slog.New(slog.DiscardHandler)})
		if _, err := service.Cancel(b.t.Context(), w.ID); err != nil {
			b.t.Fatalf("got %v, want it cancelled", err)
		}
		if _, err := service.Cancel(b.t.Context(), w.ID); err == nil {
			b.t.Error("got it cancelled twice, want an error")
		}
		spent, err := w.Amount.Add(w.Fee)
		b.Must(err)
		want, err := before.Add(spent)
		b.Must(err)
		if got := b.available(shop); got != want {
			b.t.Errorf("got %s available, want %s", got, want)
		}
		b.audit()
		b.well()
	})
}

// available returns what a customer can spend.
func (b *books) available(account bursar.ID) (amount bursar.Amount) {
	b.t.Helper()
	b.View(func(tx *store.Tx) error {
		balance, err := tx.Ledger().Balance(b.t.Context(), ledger.Available(account), "BTC")
		amount, _ = balance.Net(ledger.Liability)
		return err
	})
	return amount
}
