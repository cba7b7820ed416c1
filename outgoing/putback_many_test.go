package outgoing_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// However many forgotten transactions cannot be signed again, those after them are put back.
func TestWhatCannotBePutBackHoldsUpNoOther(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w := r.forgotten()
		r.Do(func(tx *store.Tx) error {
			for i := range 250 {
				spends := chain.UnsignedTx{Reservations: []string{fmt.Sprintf("%064d:0", i)}}
				content, err := json.Marshal(map[string]any{"kind": "consolidation", "currency": "COIN", "share": "sweep",
					"base": r.Hot.Base, "order": chain.TxRequest{Kind: chain.KindConsolidation}, "draft": spends})
				r.Must(err)
				if err := tx.ForgottenPayments().Note(ctx, store.ForgottenPayment{Chain: r.Chain.Capabilities().ID,
					Number: int64(i) - 1000, OutgoingID: bursar.ID{7, byte(i)}, Content: content, Sure: true}); err != nil {
					return err
				}
			}
			return nil
		})
		r.Trouble = true
		for range 4 {
			r.Step()
		}
		if now := r.Now(w); now.TxID == "" {
			t.Errorf("the withdrawal is %s, and its transaction was not put back", now.Status)
		}
	})
}
