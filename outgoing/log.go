package outgoing

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// What becomes of one outgoing transaction, and of the withdrawals that it pays, is told in the log under their IDs,
// and told once it is committed: docs/operations.md shows how to read it.

func (s *Sender) log(tx *store.Tx, message string, p bursar.OutgoingTx, more ...any) {
	attrs := []any{"spend", p.ID, "chain", p.Chain, "kind", p.Kind}
	if p.TxID != "" {
		attrs = append(attrs, "hash", p.TxID)
	}
	tx.After(func() { s.Log.Info(message, append(attrs, more...)...) })
}

func (s *Sender) logTaken(tx *store.Tx, w bursar.Withdrawal, outgoingID bursar.ID) {
	tx.After(func() {
		s.Log.Info("withdrawal taken up", "withdrawal", w.ID, "spend", outgoingID, "chain", s.Chain.Capabilities().ID,
			"account", w.AccountID)
	})
}
