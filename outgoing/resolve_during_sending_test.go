package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
)

// resolving is a chain that accepts a transaction while an operator gives it up.
type resolving struct {
	*recorded
	resolve func()
}

func (c resolving) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	err := c.recorded.Broadcast(ctx, tx)
	c.resolve()
	return err
}

// If an operator resolves a transaction while it is being sent, the resolution counts and is not overwritten.
func TestAResolutionDuringSendingIsNotOverwritten(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Trouble = true
		r.Chain.Fail(sim.Broadcast, 1, errors.New("no peers"))
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		id := r.Now(w).OutgoingID
		r.Sender.Chain = resolving{r.record(), func() {
			proof := &oracle{recorded: &recorded{Chain: r.Chain}, gone: true}
			_, err := r.Sender.Resolve(ctx, id, proof, outgoing.Resolution{NeverPaid: true, Reason: "it is dead", Actor: "ann"})
			r.Must(err)
		}}
		r.Must(r.Sender.Step(ctx, r.Lease))
		if got := r.spendNow(id); got.Status != bursar.OutgoingAbandoned || strings.Contains(got.Error, "may not go") {
			t.Errorf("the outgoing transaction is %s: %q, want %v and no %q", got.Status, got.Error, bursar.OutgoingAbandoned,
				"may not go")
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalQueued {
			t.Errorf("the withdrawal is %s, want %s", got.Status, bursar.WithdrawalQueued)
		}
	})
}
