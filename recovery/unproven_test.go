package recovery_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// What uses the UTXOs of a forgotten consolidation is that only if all that they were worth came back or is the fee:
// what a thief spent may have an output that no address stands for. Nor is it if it uses other UTXOs, or if it is only
// inferred.
func TestWhatUsesForgottenUTXOsHasToBringThemBack(t *testing.T) {
	for name, tc := range map[string]struct {
		uses     []string
		back     uint64
		inferred bool
		want     recovery.Verdict
	}{
		"all of it":          {uses: []string{"b:0", "a:0"}, back: 997, want: recovery.Adopted},
		"less":               {uses: []string{"b:0", "a:0"}, back: 996, want: recovery.ExternalTx},
		"of other UTXOs":     {uses: []string{"a:0"}, back: 497, want: recovery.ExternalTx},
		"it may be somebody": {uses: []string{"b:0", "a:0"}, back: 997, inferred: true, want: recovery.ExternalTx},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, utxoCapabilities)
			content, err := json.Marshal(map[string]any{"kind": "consolidation", "currency": "COIN", "share": "sweep",
				"base": "hot", "order": map[string]any{}, "draft": chain.UnsignedTx{Reservations: []string{"a:0", "b:0"}}})
			r.Must(err)
			r.Do(func(tx *store.Tx) error {
				for _, outpoint := range []string{"a:0", "b:0"} {
					if err := tx.UTXOs().Put(ctx, r.Capabilities.ID, store.UTXO{Outpoint: outpoint, Base: "hot",
						Amount: bursar.Units(500), Height: 3}); err != nil {
						return err
					}
				}
				return tx.ForgottenPayments().Note(ctx, store.ForgottenPayment{Chain: r.Capabilities.ID, Number: 1,
					OutgoingID: bursar.ID{9}, Content: content, Sure: true})
			})
			x := r.mineExternal(pays("hot", "", tc.back))
			x.Reservations, x.Inferred = tc.uses, tc.inferred
			if found := r.evaluate(x, false); found.Verdict != tc.want {
				t.Errorf("it is %s, want %s: %s", found.Verdict, tc.want, found.Reason)
			}
		})
	}
}
