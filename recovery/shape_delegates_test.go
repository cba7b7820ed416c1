package recovery_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// Whatever a transaction pays, and whether it failed: no transaction of ours carries an authorization that a key of
// ours signed. It halts the chain, also while the database may have lost something, and explains no payment of ours.
func TestWhatDelegatesIsNeverOurs(t *testing.T) {
	for name, c := range map[string]struct {
		resource string
		failed   bool
		forgot   bool
		paid     []chain.Payment
	}{
		"a failed version":           {resource: "hot/1", failed: true},
		"a version":                  {resource: "hot/1", paid: []chain.Payment{pays("x", "", 500)}},
		"what is due":                {resource: "hot/9", paid: []chain.Payment{pays("y", "", 7)}},
		"of the shape of a top-up":   {resource: "hot/9", forgot: true, paid: []chain.Payment{pays("deposit", "", 9)}},
		"of no shape":                {resource: "hot/9", forgot: true, paid: []chain.Payment{pays("thief", "", 9)}},
		"of the shape of a failure":  {resource: "hot/9", forgot: true, failed: true},
		"a failed one of a deposit":  {resource: "deposit/1", forgot: true, failed: true},
		"of the shape of a sweep":    {resource: "deposit/1", forgot: true, paid: []chain.Payment{pays("hot", "", 9)}},
		"a failed one with no nonce": {forgot: true, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			r.wallet("deposit")
			w, due := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "COIN", 7)
			p := r.takenUp(bursar.OutgoingSent, []string{"hot/1"}, w)
			x := r.mineExternal(c.paid...)
			x.Failed, x.Delegates, x.Reservations = c.failed, true, nil
			if c.resource != "" {
				x.Reservations = []string{c.resource}
			}
			if c.resource == "deposit/1" {
				x.Base = "deposit"
			}
			for range 2 { // and once more, as after a reorg
				found := r.evaluate(x, c.forgot)
				if found.Verdict != recovery.ExternalTx || !found.OutgoingID.IsZero() {
					t.Errorf("it is %+v, want %s", found, recovery.ExternalTx)
				}
				if got := r.external(x.TxID); got.Status != store.ExternalHalted {
					t.Errorf("recorded is %s, want %s", got.Status, store.ExternalHalted)
				}
			}
			if got := r.Outgoing(p.ID); got.Height > 0 || got.Status != bursar.OutgoingSent {
				t.Errorf("the open payment is %s in block %d, want it sent", got.Status, got.Height)
			}
			r.untouched(due)
		})
	}
}
