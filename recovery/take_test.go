package recovery_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

func losses(r *bursartest.OneChain) bursar.Amount {
	r.T.Helper()
	return r.Balance(ledger.Losses, "COIN")
}

// resumable lists the chains on which a resume must work.
var resumable = map[string]sim.Config{"coins": bursartest.UTXOModel, "nonce": bursartest.Numbered,
	"expiring": bursartest.Expiring}

// If an external spend takes the nonce or the UTXOs of a transaction of ours in progress, resuming settles it once it
// is final: the withdrawal is paid by another transaction, the next ones are paid as well, and the books are right to
// the unit.
func TestAResumedChainPaysAgain(t *testing.T) {
	for name, config := range resumable {
		t.Run(name, func(t *testing.T) {
			bursartest.On(t, config, func(t *testing.T, r *bursartest.OneChain) {
				r.Fund()
				first, err := r.Withdraw(0, 200_000_000, r.Chain.Named("first"))
				r.Must(err)
				r.Step() // it is sent
				r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
					Amount: bursar.Units(70_000_000)})
				r.Chain.Mine(1)
				r.Step()
				// Another external spend, with a nonce that the books do not know.
				r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
					Amount: bursar.Units(30_000_000)})
				r.Chain.Mine(1)
				r.Step()
				second, err := r.Withdraw(0, 100_000_000, r.Chain.Named("second"))
				r.Must(err)
				if _, err := r.SettleExternal(); !errors.Is(err, recovery.ErrNotFinal) {
					t.Fatalf("settled before it is final: %v, want %v", err, recovery.ErrNotFinal)
				}
				r.Chain.Mine(4)
				r.Step()
				r.StepAndMine(3)
				if got := r.Chain.Balance(r.Chain.Named("second"), ""); !got.IsZero() {
					t.Fatalf("%s left while the chain was halted, want 0", got)
				}
				taken, err := r.SettleExternal()
				if err != nil || len(taken) != 2 {
					t.Fatalf("%d external spends are settled: %v, want 2", len(taken), err)
				}
				r.Settle()
				for to, w := range map[string]bursar.Withdrawal{"first": first, "second": second} {
					if got := r.Chain.Balance(r.Chain.Named(to), ""); got != w.Amount {
						t.Errorf("%s was paid %s of %s", to, got, w.Amount)
					}
				}
				if lost := losses(r); lost.Less(bursar.Units(100_000_000)) {
					t.Errorf("%s is booked as lost", lost)
				}
				r.Must(r.Audit())
			})
		})
	}
}

// What an external spend took from a deposit address is not swept again and again, and an external spend that failed
// has cost its fee.
func TestAResumeAfterAnExternalSpendFromADepositAddress(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Fund()
		w := r.Wallet(1)
		r.Pay(w.Address, 300_000_000)
		r.StepAndMine(1)
		r.Chain.ExternalSpend(w.Address.Base,
			chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")}, Amount: bursar.Units(120_000_000)})
		r.Chain.ExternalFailed(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
			Amount: bursar.Units(1)})
		r.StepAndMine(8)
		taken, err := r.SettleExternal()
		if err != nil || len(taken) != 2 {
			t.Fatalf("%d external spends are settled: %v, want 2", len(taken), err)
		}
		paid, err := r.Withdraw(0, 50_000_000, r.Chain.Named("customer"))
		r.Must(err)
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("customer"), ""); got != paid.Amount {
			t.Errorf("%s was paid, want %s", got, paid.Amount)
		}
		r.Must(r.Audit())
	})
}

// An external spend that halted the chain, whose block is reorged out and which is included again under a new lease, is
// treated as before: the chain halts, and one resume settles it.
func TestAnExternalSpendThatIsIncludedAgainIsSettledOnce(t *testing.T) {
	for name, config := range resumable {
		t.Run(name, func(t *testing.T) {
			bursartest.On(t, config, func(t *testing.T, r *bursartest.OneChain) {
				r.Fund()
				thief := bursar.Address{Base: r.Chain.Named("thief")}
				r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: thief, Amount: bursar.Units(70_000_000)})
				r.Chain.Mine(1)
				r.Step()
				r.Restart()
				r.Chain.Reorg(1)
				r.Chain.Mine(4)
				r.Step()
				if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 {
					t.Fatalf("%d external spends are settled: %v, want 1", len(taken), err)
				}
				r.Settle()
				if lost := losses(r); lost.Less(bursar.Units(70_000_000)) {
					t.Errorf("%s is booked as lost", lost)
				}
				r.Must(r.Audit())
			})
		})
	}
}

// After a reorg, too, the nonce of an external spend is used in the block that includes it: the payment that it
// replaced is made by the next transaction, and nothing is halted again.
func TestAnExternalSpendUsesItsNonceAfterAReorg(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Fund()
		w, err := r.Withdraw(0, 200_000_000, r.Chain.Named("first"))
		r.Must(err)
		r.Step() // it is sent
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
			Amount: bursar.Units(70_000_000)})
		r.Chain.Mine(4)
		r.CatchUp()
		if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 {
			t.Fatalf("%d external spends are settled: %v, want 1", len(taken), err)
		}
		r.Chain.Reorg(5)
		r.Chain.Mine(4)
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("%s was paid of %s", got, w.Amount)
		}
		r.Must(r.Audit())
	})
}

// An external spend that was reorged out of its final block has used nothing: a resume settles it in the block that
// includes it next, with its fee there, and not before.
func TestAReorgedOutExternalSpendIsNotSettled(t *testing.T) {
	for name, config := range resumable {
		t.Run(name, func(t *testing.T) {
			bursartest.On(t, config, func(t *testing.T, r *bursartest.OneChain) {
				r.Fund()
				thief := bursar.Address{Base: r.Chain.Named("thief")}
				id := r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: thief, Amount: bursar.Units(70_000_000)})
				r.Chain.Mine(4)
				r.Step()
				r.Chain.Reorg(4, id)
				r.Chain.Mine(4)
				r.Step()
				if taken, err := r.SettleExternal(); err != nil || len(taken) != 0 {
					t.Fatalf("%d external spends that are in no block are settled: %v, want 0", len(taken), err)
				}
				r.Settle()
				if lost := losses(r); !lost.IsZero() {
					t.Errorf("%s is booked as lost, and nothing left, want 0", lost)
				}
				r.Must(r.Audit())
				r.Chain.Restore(id)
				r.Chain.Mine(4)
				r.Step()
				if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 {
					t.Fatalf("%d external spends are settled: %v, want 1", len(taken), err)
				}
				r.Settle()
				if lost := losses(r); lost.Less(bursar.Units(70_000_000)) {
					t.Errorf("%s is booked as lost", lost)
				}
				r.Must(r.Audit())
			})
		})
	}
}

// If no block shows what used a nonce, the next build asks the chain.
func TestANonceThatNoBlockShowsIsAskedFor(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Fund()
		_, err := r.Withdraw(0, 20_000_000, r.Chain.Named("before"))
		r.Must(err)
		r.Settle()
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
			Amount: bursar.Units(1)})
		r.Chain.Mine(1)
		w, err := r.Withdraw(0, 20_000_000, r.Chain.Named("after"))
		r.Must(err)
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, chain.ErrExternalNonce) {
			t.Fatalf("the draft says %v, want %v", err, chain.ErrExternalNonce)
		}
		r.Do(func(tx *store.Tx) error {
			forgotten, err := tx.Nonces().Forget(ctx, r.Chain.Capabilities().ID, r.Hot.Base)
			if err == nil && !forgotten {
				t.Error("the nonce is still the books'")
			}
			_, endErr := tx.Halts().Lift(ctx, store.HaltChain(r.Chain.Capabilities().ID), store.HaltByExternalSpend, "")
			return errors.Join(err, endErr)
		})
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Do(func(tx *store.Tx) error { // now one is in progress
			forgotten, err := tx.Nonces().Forget(ctx, r.Chain.Capabilities().ID, r.Hot.Base)
			if forgotten {
				t.Error("forgotten beside a transaction that has one")
			}
			return err
		})
		r.Chain.Mine(1)
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("%s was paid, want %s", got, w.Amount)
		}
	})
}
