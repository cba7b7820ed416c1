package outgoing_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

// Of the nodes behind one address, one that lags has not seen the tokens that are to be paid: by its state the token's
// contract refuses. A withdrawal fails only once that has lasted, for eight blocks and for some time; it is paid if a
// node says otherwise by then. What lay in between without a question does not count.
func TestARefusalByTheStateOfTheChainCountsOnceItLasts(t *testing.T) {
	const why = "the token's contract does not make the payment"
	for name, test := range map[string]struct {
		block time.Duration // between two blocks
		asks  int           // refused so often, once a block
		gap   time.Duration // after the first refusal
		fails bool
	}{
		"it passes":            {10 * time.Second, 8, 0, false},
		"it lasts":             {10 * time.Second, 9, 0, true},
		"blocks are fast":      {time.Second, 30, 0, false},
		"blocks are fast, on":  {time.Second, 31, 0, true},
		"it was not asked for": {10 * time.Second, 9, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			byClock(t, bursartest.Numbered, func(t *testing.T, r *harness, clock *bursartest.Clock) {
				before := r.Prepare()
				r.Settle()
				w := r.Order(300_000_000, r.Chain.Named("outside"))
				asked := 0
				r.Sender.Chain = building{r.Chain, func(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
					if asked++; asked > test.asks {
						return r.Chain.Build(ctx, request)
					}
					return chain.UnsignedTx{}, &chain.RefusedError{MayPass: true, Reason: why}
				}}
				for i := range test.asks - 1 {
					r.Step()
					if got := r.Now(w); got.Status == bursar.WithdrawalFailed || !strings.Contains(r.errors(), why) {
						t.Fatalf("after %d refusals the withdrawal is %s and waits for %q, want %q", i+1, got.Status, r.errors(), why)
					}
					clock.Advance(test.block)
					if i == 0 {
						clock.Advance(test.gap)
					}
					r.Chain.Mine(1)
				}
				r.Step()
				r.Step()
				r.Settle()
				got := r.Now(w)
				switch {
				case test.fails && (got.Status != bursar.WithdrawalFailed || got.Error != why || r.Available(0) != before):
					t.Errorf("the withdrawal is %+v, want %s for %q, and %s given back", got, bursar.WithdrawalFailed, why, before)
				case !test.fails && got.Status != bursar.WithdrawalConfirmed:
					t.Errorf("the withdrawal is %+v, want %s", got, bursar.WithdrawalConfirmed)
				}
				r.NothingOpen()
				r.Must(r.Audit())
			})
		})
	}
}
