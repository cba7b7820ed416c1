package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Of the nodes behind one address, one that lags has not seen the tokens that are to be paid: by its state the token's
// contract refuses. A withdrawal fails only once that has lasted; it is paid if a node says otherwise by then.
func TestARefusalByTheStateOfTheChainCountsOnceItLasts(t *testing.T) {
	for name, lasts := range map[string]bool{"it passes": false, "it lasts": true} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *harness) {
				before := r.Prepare()
				r.Settle()
				w := r.Order(300_000_000, r.Chain.Named("outside"))
				const why = "the token's contract does not make the payment"
				refuses := true
				r.Sender.Chain = building{r.Chain, func(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
					if refuses {
						return chain.UnsignedTx{}, &chain.RefusedError{MayPass: true, Reason: why}
					}
					return r.Chain.Build(ctx, request)
				}}
				r.Step()
				for range 7 {
					if got := r.Now(w); got.Status != bursar.WithdrawalQueued && got.Status != bursar.WithdrawalBroadcast {
						t.Fatalf("the withdrawal is %s after a refusal that may pass", got.Status)
					}
					if text := r.errors(); !strings.Contains(text, why) {
						t.Fatalf("its error is %q, want one with %q", text, why)
					}
					r.Chain.Mine(1)
					r.Step()
				}
				refuses = lasts
				r.Chain.Mine(1)
				r.Step()
				r.Settle()
				got := r.Now(w)
				switch {
				case lasts && (got.Status != bursar.WithdrawalFailed || got.Error != why || r.Available(0) != before):
					t.Errorf("the withdrawal is %+v, want %s for %q, and %s given back", got, bursar.WithdrawalFailed, why, before)
				case !lasts && got.Status != bursar.WithdrawalConfirmed:
					t.Errorf("the withdrawal is %+v, want %s", got, bursar.WithdrawalConfirmed)
				}
				r.NothingOpen()
				r.Must(r.Audit())
			})
		})
	}
}
