package follow_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// recovering puts the chain into a recovery in which everything that was signed has expired once the next block makes
// the chain's last block final.
func recovering(f *followtest.Harness) {
	f.T.Helper()
	mine(f, 5)
	beginRecovery(f)
	f.CatchUp()
	mine(f, 11)
	wantRecovery(f, "from 5, 10 blocks, until 15")
}

// While an operator must resolve a transaction, or one must be signed again, a recovery goes on, although everything
// has expired.
func TestARecoveryDoesNotEndWhileAnythingIsOpen(t *testing.T) {
	external := store.ExternalSpend{Chain: bursar.Ethereum, TxID: "whose", Base: "hot", Height: 2,
		Reservations: []byte("[]"), Payments: []byte("[]"), Status: store.ExternalUnclear, Reason: "unclear"}
	forgotten := store.ForgottenPayment{Chain: bursar.Ethereum, Number: 1, OutgoingID: bursar.ID{7}, Content: []byte("{}")}
	for name, tc := range map[string]struct{ open, close func(tx *store.Tx) error }{
		"a transaction is unclear": {
			func(tx *store.Tx) error { return tx.ExternalSpends().Put(ctx, external) },
			func(tx *store.Tx) error {
				x, err := tx.ExternalSpends().ByTx(ctx, bursar.Ethereum, external.TxID)
				if x.Status = store.ExternalSettled; err != nil {
					return err
				}
				return tx.ExternalSpends().Set(ctx, x)
			},
		},
		"a transaction must be signed again": {
			func(tx *store.Tx) error { return tx.ForgottenPayments().Note(ctx, forgotten) },
			func(tx *store.Tx) error { return tx.ForgottenPayments().PutBack(ctx, forgotten) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
				recovering(f)
				do(f, tc.open)
				mine(f, 20)
				wantRecovery(f, "from 5, 10 blocks, until 15")
				f.WantAlarm("database_behind", "the database failed over")
				do(f, tc.close)
				f.CatchUp()
				wantRecovery(f, "none, ready")
				f.WantNoAlarm()
			})
		})
	}
}

// A chain whose recovery an operator ends is ready with the next step, but no sooner than it has caught up.
func TestAReleasedChainWaitsForNoExpiry(t *testing.T) {
	followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
		mine(f, 5)
		beginRecovery(f)
		setRecovery(f, func(r *store.Recovery) { r.Released = true })
		wantRecovery(f, "from -1, 0 blocks, until -1")
		f.CatchUp()
		wantRecovery(f, "none, ready")

		beginRecovery(f)
		f.CatchUp()
		wantRecovery(f, "from 5, 0 blocks, until -1")
		setRecovery(f, func(r *store.Recovery) { r.Released = true })
		f.CatchUp()
		wantRecovery(f, "none, ready")
	})
}

// If the journal explains everything that was signed, the recovery waits only until the chain has caught up.
func TestAJournaledRecoveryWaitsForNoExpiry(t *testing.T) {
	followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
		mine(f, 5)
		do(f, func(tx *store.Tx) error { return tx.Recoveries().BeginJournaled(ctx, bursar.Ethereum, "restored") })
		wantRecovery(f, "from -1, 0 blocks, until -1")
		f.CatchUp()
		wantRecovery(f, "none, ready")
	})
}

// A process that takes over during a recovery first catches up itself, although the block waited for is final already.
func TestARecoveryDoesNotEndBeforeTheNextProcessHasCaughtUp(t *testing.T) {
	followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
		recovering(f)
		takeOver(f)
		f.Sim.Mine(300)
		for range 4 {
			if more, err := f.Step(ctx, f.Lease); err != nil || !more {
				t.Fatalf("a step returned %v, %v", more, err)
			}
			wantRecovery(f, "from 5, 10 blocks, until 15")
		}
		f.CatchUp()
		wantRecovery(f, "none, ready")
	})
}

// If a recovery begins, for the first time or again, while a step reads blocks, those blocks do not count, and the
// chain must catch up again.
func TestARecoveryThatBeginsDuringAStepBegins(t *testing.T) {
	for name, before := range map[string]bool{"for the first time": false, "again": true} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
				mine(f, 5)
				if before {
					beginRecovery(f)
					f.CatchUp()
					mine(f, 3)
					wantRecovery(f, "from 5, 3 blocks, until -1")
				}
				f.Sim.Mine(20)
				f.Chain = &interrupted{f.Sim, func() { beginRecovery(f) }}
				_, err := f.Step(ctx, f.Lease)
				f.Must(err)
				wantRecovery(f, "from -1, 0 blocks, until -1")
				f.CatchUp()
				latest := int64(cursor(f))
				if r, open := recoveryOf(f); !open || r.From != latest || r.Until != -1 {
					t.Errorf("it is %+v, and the newest block is %d", r, latest)
				}
				mine(f, 12)
				wantRecovery(f, "none, ready")
			})
		})
	}
}
