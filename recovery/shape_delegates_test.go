package recovery_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
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

// A transaction that succeeded and moved nothing during a recovery is explained by an operator, as a loss of nothing.
func TestWhatMovedNothingIsExplained(t *testing.T) {
	for _, use := range []store.ExternalUse{store.UsedUpAsLoss, ""} {
		t.Run(string(use), func(t *testing.T) {
			r := newHarness(t, numbered)
			x := r.mineExternal()
			found := r.evaluate(x, true)
			if !strings.Contains(found.Reason, "moved nothing") {
				t.Errorf("its reason is %q", found.Reason)
			}
			r.Must(r.answer(x, recovery.Answer{Rest: use}))
			if got := r.external(x.TxID).Status; found.Verdict != recovery.Unclear || got != store.ExternalAdopted {
				t.Errorf("it is %s, and %s once it is explained", found.Verdict, got)
			}
			r.Do(func(tx *store.Tx) error {
				return recovery.Settle(ctx, tx, r.Registry, r.outgoingIn(tx, found.OutgoingID))
			})
			r.sums(ledger.Losses, "COIN", "0")
		})
	}
}

// What was adopted without payments is in no block any more. A transaction with its nonce that succeeds is no version
// of it, whatever it moves: a thief who has the key uses exactly that nonce.
func TestNothingIsAVersionOfWhatPaysNobodyUnlessItFailed(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities chain.Capabilities
		failed       bool
		paid         []chain.Payment
		is           bool
	}{
		"failed":     {numbered, true, nil, true},
		"nothing":    {numbered, false, nil, false},
		"to itself":  {numbered, false, []chain.Payment{pays("hot", "", 5)}, false},
		"to others":  {numbered, false, []chain.Payment{pays("x", "", 5)}, false},
		"with UTXOs": {utxoCapabilities, false, []chain.Payment{pays("hot", "", 5)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			p := r.spend(bursar.OutgoingSent, chain.TxRequest{Kind: chain.KindWithdrawal,
				From: chain.Source{Base: "hot"}}, []string{"hot/1"})
			x := r.mineExternal(c.paid...)
			x.Failed, x.Reservations = c.failed, []string{"hot/1"}
			if found := r.evaluate(x, false); (found.OutgoingID == p.ID) != c.is {
				t.Errorf("it is %+v, want a version: %v", found, c.is)
			}
		})
	}
}
