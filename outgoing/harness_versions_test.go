package outgoing_test

import (
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// version returns the stored bytes of a transaction of ours.
func (r *harness) version(txID string) (found chain.SignedTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		outgoingIDs, err := tx.Outgoing().SentAmong(ctx, r.Chain.Capabilities().ID, []string{txID})
		if err != nil {
			return err
		}
		versions, err := tx.Outgoing().Versions(ctx, outgoingIDs[txID])
		for _, v := range versions {
			if v.TxID == txID {
				found = chain.SignedTx{TxID: v.TxID, Raw: v.Raw}
			}
		}
		return err
	})
	return found
}
