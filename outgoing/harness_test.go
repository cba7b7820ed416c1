package outgoing_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

var ctx = context.Background()

// harness is one chain with all its workers, and the questions that only tests of this package ask.
type harness struct{ *bursartest.OneChain }

func newHarness(t testing.TB, db *store.DB, config sim.Config) *harness {
	return &harness{bursartest.NewOneChain(t, db, config)}
}

// both is bursartest.OnBoth.
func both(t *testing.T, test func(t *testing.T, r *harness)) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) { test(t, &harness{r}) })
}

// each is bursartest.On.
func each(t *testing.T, config sim.Config, test func(t *testing.T, r *harness)) {
	bursartest.On(t, config, func(t *testing.T, r *bursartest.OneChain) { test(t, &harness{r}) })
}

// onModels is bursartest.OnModels.
func onModels(t *testing.T, test func(t *testing.T, r *harness)) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) { test(t, &harness{r}) })
}

// unswept is bursartest.OnUnswept.
func unswept(t *testing.T, test func(t *testing.T, r *harness)) {
	bursartest.OnUnswept(t, func(t *testing.T, r *bursartest.OneChain) { test(t, &harness{r}) })
}

// byClock is bursartest.OnClock.
func byClock(t *testing.T, config sim.Config, test func(t *testing.T, r *harness, c *bursartest.Clock)) {
	bursartest.OnClock(t, config, func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		test(t, &harness{r}, c)
	})
}

// version returns the stored bytes of a transaction of ours.
func (r *harness) version(txID string) (found chain.SignedTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		outgoingIDs, err := tx.Outgoing().SentAmong(ctx, r.Chain.Capabilities().ID, []string{txID})
		if err != nil {
			return err
		}
		versions, err := tx.Outgoing().Versions(ctx, outgoingIDs[txID])
		for _, v := range versions {
			if v.TxID == txID {
				found = chain.SignedTx{TxID: v.TxID, Raw: v.Raw}
			}
		}
		return err
	})
	return found
}
