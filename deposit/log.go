package deposit

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// What becomes of one deposit, or of one outgoing transaction in its blocks, is told in the log under its ID, and told once it is
// committed: docs/operations.md shows how to read it.

func (f *Follower) logSeen(tx *store.Tx, d bursar.Deposit) {
	tx.After(func() {
		f.Log.Info("deposit seen", append(depositAttrs(d), "status", d.Status, "output", d.Output, "address", d.Address.String(), "purpose", d.Purpose)...)
	})
}

func (f *Follower) logDeposit(tx *store.Tx, level slog.Level, message string, d bursar.Deposit) {
	tx.After(func() { f.Log.Log(context.Background(), level, message, depositAttrs(d)...) })
}

// depositAttrs names a deposit and what it is of. The amount is in smallest units.
func depositAttrs(d bursar.Deposit) []any {
	attrs := []any{"deposit", d.ID, "chain", d.Chain, "hash", d.TxID, "height", d.Height, "currency", d.Currency, "amount", d.Amount}
	if d.IsCustomers() {
		attrs = append(attrs, "account", d.AccountID, "wallet", d.WalletID)
	}
	return attrs
}

func (f *Follower) logEvent(tx *store.Tx, e bursar.Event, due bool) {
	tx.After(func() {
		f.Log.Info("event recorded", e.Noun(), e.Subject, "event", e.ID, "kind", e.Kind, "account", e.AccountID, "sent", due)
	})
}

func (f *Follower) logIncluded(tx *store.Tx, spend bursar.ID, in chain.Inclusion, at chain.BlockRef) {
	tx.After(func() {
		f.Log.Info("spend included", "spend", spend, "chain", f.Chain.Capabilities().ID, "hash", in.TxID, "height", at.Height, "failed", in.Failed, "fee", in.Fee)
	})
}

// tellExcluded tells of the outgoing transactions that are in a block now and will not be.
func (f *Follower) logExcluded(ctx context.Context, tx *store.Tx, height uint64) error {
	spends, err := tx.Outgoing().InBlock(ctx, f.Chain.Capabilities().ID, height)
	tx.After(func() {
		for _, id := range spends {
			f.Log.Warn("spend left its block", "spend", id, "chain", f.Chain.Capabilities().ID, "height", height)
		}
	})
	return err
}
