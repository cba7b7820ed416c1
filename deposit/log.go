package deposit

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Every change of a deposit is logged under its ID, once it is committed; docs/operations.md explains the lines.

func (c Announcer) logSeen(tx *store.Tx, d bursar.Deposit) {
	tx.After(func() {
		c.Log.Info("deposit seen", append(c.attrs(d), "status", d.Status, "output", d.Output, "address",
			d.Address.String(), "purpose", d.Purpose)...)
	})
}

func (c Announcer) logDeposit(tx *store.Tx, level slog.Level, message string, d bursar.Deposit) {
	tx.After(func() { c.Log.Log(context.Background(), level, message, c.attrs(d)...) })
}

// attrs returns the log attributes of a deposit.
func (c Announcer) attrs(d bursar.Deposit) []any {
	attrs := []any{"deposit", d.ID, "chain", d.Chain, "hash", d.TxID, "height", d.Height, "currency", d.Currency, "amount",
		c.Registry.Text(d.Currency, d.Amount)}
	if d.IsCustomers() {
		attrs = append(attrs, "account", d.AccountID, "wallet", d.WalletID)
	}
	return attrs
}

// AfterEvents calls log for each recorded event once the transaction is committed, with whether it is to be sent.
func AfterEvents(ctx context.Context, tx *store.Tx, events []bursar.Event, due *store.Deferred[[]bool],
	log func(e bursar.Event, due bool)) {
	tx.After(func() {
		sent, _ := due.Get(ctx) // it is known once the transaction is committed
		for i, e := range events {
			log(e, sent[i])
		}
	})
}

func (c Announcer) logEvent(e bursar.Event, due bool) { LogEvent(context.Background(), c.Log, e, due) }

// LogEvent says that an event was recorded, once its transaction is committed; due says that it is to be sent.
func LogEvent(ctx context.Context, log *slog.Logger, e bursar.Event, due bool) {
	log.InfoContext(ctx, "event recorded", e.SubjectKey(), e.Subject, "event", e.ID, "kind", e.Kind,
		"account", e.AccountID, "sent", due)
}
