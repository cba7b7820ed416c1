package outgoing_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// If forgotten transactions were signed again without a check of the books, one forged row would pay anybody: it is not
// signed.
func TestAForgedForgottenTransactionIsNotSigned(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		id := r.Chain.Capabilities().ID
		thief := r.Chain.Named("thief")
		request := chain.TxRequest{ID: r.IDs.Next(), Kind: chain.KindWithdrawal, MaxFee: bursar.Units(1 << 30),
			Payments: []chain.Payment{{Address: bursar.Address{Base: thief}, Amount: bursar.Units(300_000_000)}}}
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			request.Change = r.Hot
		} else {
			request.From = r.Hot
		}
		full := request
		r.View(func(tx *store.Tx) error { // all of this can be read in the database
			state, err := tx.Chains().State(ctx, id)
			if err != nil {
				return err
			}
			next, known, err := tx.Nonces().Next(ctx, id, r.Hot.Base)
			if known {
				full.Nonce = &next
			}
			utxos, _ := tx.UTXOs().Spendable(ctx, id, state.Final, state.Latest, request.ID, 100)
			for _, c := range utxos {
				key := chain.KeyRef{Family: r.Chain.Capabilities().Family, Branch: c.Branch, Index: c.Index}
				full.UTXOs = append(full.UTXOs, chain.UTXO{Outpoint: c.Outpoint, Amount: c.Amount,
					Source: chain.Source{Key: key, Base: c.Base}})
			}
			return err
		})
		unsigned, err := r.Chain.Build(ctx, full)
		r.Must(err)
		text := func(v any) json.RawMessage {
			b, err := json.Marshal(v)
			r.Must(err)
			return b
		}
		content := text(map[string]any{"kind": "withdrawal", "currency": "COIN", "share": "withdrawal", "base": r.Hot.Base,
			"order": text(request), "draft": text(unsigned)})
		attack(`INSERT INTO forgotten_payments(chain, number, outgoing_id, content, sure, noted_at) VALUES ($1, 1, $2, $3, TRUE, 1)`, string(id), request.ID, string(content))
		r.nothingLeaves("thief")
		if !r.alarmed("not_put_back") {
			t.Error("no alarm says that somebody else has written to the database")
		}
	})
}
