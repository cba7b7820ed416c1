package outgoing

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The log lines about an outgoing transaction and the withdrawals that it pays carry their IDs, and are written after
// the commit: docs/operations.md shows how to read them.

func (s *Sender) log(tx *store.Tx, message string, p bursar.OutgoingTx, more ...any) {
	attrs := []any{"outgoing", p.ID, "chain", p.Chain, "kind", p.Kind}
	if p.TxID != "" {
		attrs = append(attrs, "hash", p.TxID)
	}
	tx.After(func() { s.Log.Info(message, append(attrs, more...)...) })
}

func (s *Sender) logAssigned(tx *store.Tx, w bursar.Withdrawal, outgoingID bursar.ID) {
	tx.After(func() {
		s.Log.Info("withdrawal assigned to outgoing transaction", "withdrawal", w.ID, "outgoing", outgoingID,
			"chain", s.Chain.Capabilities().ID, "account", w.AccountID)
	})
}
