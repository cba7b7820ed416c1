package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Somebody with write access to the database alone has a payment look like what uses a lost nonce up, or voids another
// transaction. It is held like any other payment until the nonce is used up: the lost transaction may have made it.
func TestAPaymentThatIsMadeToLookLikeAFillerWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, bursartest.Numbered)
		r.Prepare()
		r.Settle()
		r.Trouble, r.Forged = true, true
		var next uint64
		r.Do(func(tx *store.Tx) (err error) {
			id := r.Chain.Capabilities().ID
			if next, _, err = tx.Nonces().Next(ctx, id, r.Hot.Base); err != nil {
				return err
			}
			return tx.Nonces().Use(ctx, id, r.Hot.Base, next)
		})
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.untilFilling(r.Hot.Base)
		id := r.Now(w).OutgoingID
		intruder(t, db)(`UPDATE outgoing_txs SET once = $1 WHERE id = $2`,
			fmt.Sprintf("abandon/nonce/%s/%d/%s", r.Hot.Base, next+1, id), id)
		for range 3 {
			r.Step()
		}
		if p := r.spendNow(id); p.TxID != "" || p.Status != bursar.OutgoingNew {
			t.Errorf("the payment is %s, as %q, before the nonce is used up, want %s", p.Status, p.TxID, bursar.OutgoingNew)
		}
	})
}
