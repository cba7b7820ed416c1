package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// A refund to a sender whose transaction may have been signed before an epoch began is paid once that can never be
// included, as a withdrawal is: it is still queued then, because the commit that says otherwise was lost.
func TestARefundThatMayBeOutIsPaidOnce(t *testing.T) {
	for _, name := range []string{"UTXO", "nonce", "expiring"} {
		t.Run(name, func(t *testing.T) {
			byClock(t, bursartest.Models[name], func(t *testing.T, r *harness, c *bursartest.Clock) {
				l := &lost{harness: r, outside: r.Chain.Named("sender")}
				d := r.Astray()
				r.Settle()
				r.SendBack(d, "sender")
				broke := errors.New("the connection broke")
				l.signer = &forgetful{Signer: r.Sender.Signer, signed: map[bursar.ID]bool{}, after: func(chain.SignedTx) {
					r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
						if at == store.Committing {
							return broke
						}
						return nil
					}})
				}}
				r.Sender.Signer, r.Sender.Marks = l.signer, noted{l.signer}
				if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, broke) {
					t.Fatalf("the step ends with %v, want %v", err, broke)
				}
				l.id = r.Resolution(d).OutgoingID
				r.Rotate()
				l.signer.Signer, l.signer.after, l.signer.forgot = r.Sender.Signer, nil, l.id
				r.Sender.Signer, r.Sender.Marks = l.signer, noted{l.signer}
				r.Trouble = true // it cannot be signed again

				l.days(c, 4)
				if name != "expiring" {
					_, err := l.Sender.Abandon(ctx, l.id, outgoing.Abandonment{Reason: "in no block", Actor: "ann"})
					l.Must(err)
				}
				l.days(c, 8)
				n := r.Resolution(d)
				if p := l.spendNow(l.id); p.Status != bursar.OutgoingAbandoned || n.Status != bursar.ResolutionDone {
					t.Errorf("the transaction is %s and the refund %s, want %s and %s", p.Status, n.Status,
						bursar.OutgoingAbandoned, bursar.ResolutionDone)
				}
				if got := r.Chain.Balance(l.outside, ""); got != n.Amount {
					t.Errorf("the sender holds %s, want %s", got, n.Amount)
				}
				r.Must(r.Chain.Check())
				r.Must(r.Audit())
			})
		})
	}
}
