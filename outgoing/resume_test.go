package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// settleExternal is `bursar chain resume` by an operator who bears the loss of external spends.
func (r *harness) settleExternal() (taken []store.ExternalSpend, err error) {
	book := outgoing.Book(r.chain.Capabilities(), r.registry, r.ids, r.hot, r.sender.Log)
	id := r.chain.Capabilities().ID
	return taken, r.db.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().Lock(ctx, id)
		if err != nil {
			return err
		}
		if taken, err = book.TakeAll(ctx, tx, state.Final,
			recovery.Answer{Rest: store.UsedUpAsLoss, Actor: "ann"}); err != nil {
			return err
		}
		_, err = tx.Halts().Lift(ctx, store.HaltChain(id), store.HaltByExternalSpend, "")
		return err
	})
}

func (r *harness) losses() bursar.Amount {
	r.t.Helper()
	var b ledger.Balance
	r.view(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, ledger.Losses, "COIN")
		return err
	})
	lost, _ := b.Net(ledger.Asset)
	return lost
}

// resumable lists the chains on which a resume must work.
var resumable = map[string]sim.Config{"coins": utxoModel, "nonce": numbered, "expiring": expiring}

// If an external spend takes the nonce or the UTXOs of a transaction of ours in progress, resuming settles it once it
// is final: the withdrawal is paid by another transaction, the next ones are paid as well, and the books are right to
// the unit.
func TestAResumedChainPaysAgain(t *testing.T) {
	for name, config := range resumable {
		t.Run(name, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				r.fund()
				first, err := r.withdraw(0, 200_000_000, r.chain.Named("first"))
				r.must(err)
				r.step() // it is sent
				r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
					Amount: bursar.Units(70_000_000)})
				r.chain.Mine(1)
				r.step()
				// Another external spend, with a nonce that the books do not know.
				r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
					Amount: bursar.Units(30_000_000)})
				r.chain.Mine(1)
				r.step()
				second, err := r.withdraw(0, 100_000_000, r.chain.Named("second"))
				r.must(err)
				if _, err := r.settleExternal(); !errors.Is(err, recovery.ErrNotFinal) {
					t.Fatalf("settled before it is final: %v", err)
				}
				r.chain.Mine(4)
				r.step()
				r.stepAndMine(3)
				if got := r.chain.Balance(r.chain.Named("second"), ""); !got.IsZero() {
					t.Fatalf("%s left while the chain was halted", got)
				}
				taken, err := r.settleExternal()
				if err != nil || len(taken) != 2 {
					t.Fatalf("%d external spends are settled: %v", len(taken), err)
				}
				r.settle()
				for to, w := range map[string]bursar.Withdrawal{"first": first, "second": second} {
					if got := r.chain.Balance(r.chain.Named(to), ""); got != w.Amount {
						t.Errorf("%s was paid %s of %s", to, got, w.Amount)
					}
				}
				if lost := r.losses(); lost.Less(bursar.Units(100_000_000)) {
					t.Errorf("%s is booked as lost", lost)
				}
				r.must(r.audit())
			})
		})
	}
}

// What an external spend took from a deposit address is not swept again and again, and an external spend that failed
// has cost its fee.
func TestAResumeAfterAnExternalSpendFromADepositAddress(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		w := r.wallet(1)
		r.pay(w.Address, 300_000_000)
		r.stepAndMine(1)
		r.chain.ExternalSpend(w.Address.Base,
			chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")}, Amount: bursar.Units(120_000_000)})
		r.chain.ExternalFailed(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
			Amount: bursar.Units(1)})
		r.stepAndMine(8)
		taken, err := r.settleExternal()
		if err != nil || len(taken) != 2 {
			t.Fatalf("%d external spends are settled: %v", len(taken), err)
		}
		paid, err := r.withdraw(0, 50_000_000, r.chain.Named("customer"))
		r.must(err)
		r.settle()
		if got := r.chain.Balance(r.chain.Named("customer"), ""); got != paid.Amount {
			t.Errorf("%s was paid", got)
		}
		r.must(r.audit())
	})
}

// An external spend that halted the chain, whose block is reorged out and which is included again under a new lease, is
// treated as before: the chain halts, and one resume settles it.
func TestAnExternalSpendThatIsIncludedAgainIsSettledOnce(t *testing.T) {
	for name, config := range resumable {
		t.Run(name, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				r.fund()
				thief := bursar.Address{Base: r.chain.Named("thief")}
				r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: thief, Amount: bursar.Units(70_000_000)})
				r.chain.Mine(1)
				r.step()
				r.restart()
				r.chain.Reorg(1)
				r.chain.Mine(4)
				r.step()
				if taken, err := r.settleExternal(); err != nil || len(taken) != 1 {
					t.Fatalf("%d external spends are settled: %v", len(taken), err)
				}
				r.settle()
				if lost := r.losses(); lost.Less(bursar.Units(70_000_000)) {
					t.Errorf("%s is booked as lost", lost)
				}
				r.must(r.audit())
			})
		})
	}
}

// After a reorg, too, the nonce of an external spend is used in the block that includes it: the payment that it
// replaced is made by the next transaction, and nothing is halted again.
func TestAnExternalSpendUsesItsNonceAfterAReorg(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		w, err := r.withdraw(0, 200_000_000, r.chain.Named("first"))
		r.must(err)
		r.step() // it is sent
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
			Amount: bursar.Units(70_000_000)})
		r.chain.Mine(4)
		r.catchUp()
		if taken, err := r.settleExternal(); err != nil || len(taken) != 1 {
			t.Fatalf("%d external spends are settled: %v", len(taken), err)
		}
		r.chain.Reorg(5)
		r.chain.Mine(4)
		r.settle()
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("%s was paid of %s", got, w.Amount)
		}
		r.must(r.audit())
	})
}

// An external spend that was reorged out of its final block has used nothing: a resume settles it in the block that
// includes it next, with its fee there, and not before.
func TestAReorgedOutExternalSpendIsNotSettled(t *testing.T) {
	for name, config := range resumable {
		t.Run(name, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				r.fund()
				thief := bursar.Address{Base: r.chain.Named("thief")}
				id := r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: thief, Amount: bursar.Units(70_000_000)})
				r.chain.Mine(4)
				r.step()
				r.chain.Reorg(4, id)
				r.chain.Mine(4)
				r.step()
				if taken, err := r.settleExternal(); err != nil || len(taken) != 0 {
					t.Fatalf("%d external spends that are in no block are settled: %v", len(taken), err)
				}
				r.settle()
				if lost := r.losses(); !lost.IsZero() {
					t.Errorf("%s is booked as lost, and nothing left", lost)
				}
				r.must(r.audit())
				r.chain.Restore(id)
				r.chain.Mine(4)
				r.step()
				if taken, err := r.settleExternal(); err != nil || len(taken) != 1 {
					t.Fatalf("%d external spends are settled: %v", len(taken), err)
				}
				r.settle()
				if lost := r.losses(); lost.Less(bursar.Units(70_000_000)) {
					t.Errorf("%s is booked as lost", lost)
				}
				r.must(r.audit())
			})
		})
	}
}

// If no block shows what used a nonce, the next build asks the chain.
func TestANonceThatNoBlockShowsIsAskedFor(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		_, err := r.withdraw(0, 20_000_000, r.chain.Named("before"))
		r.must(err)
		r.settle()
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
			Amount: bursar.Units(1)})
		r.chain.Mine(1)
		w, err := r.withdraw(0, 20_000_000, r.chain.Named("after"))
		r.must(err)
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, chain.ErrExternalNonce) {
			t.Fatalf("the draft says %v", err)
		}
		r.do(func(tx *store.Tx) error {
			forgotten, err := tx.Nonces().Forget(ctx, r.chain.Capabilities().ID, r.hot.Base)
			if err == nil && !forgotten {
				t.Error("the nonce is still the books'")
			}
			_, endErr := tx.Halts().Lift(ctx, store.HaltChain(r.chain.Capabilities().ID), store.HaltByExternalSpend, "")
			return errors.Join(err, endErr)
		})
		r.must(r.sender.Step(ctx, r.lease))
		r.do(func(tx *store.Tx) error { // now one is in progress
			forgotten, err := tx.Nonces().Forget(ctx, r.chain.Capabilities().ID, r.hot.Base)
			if forgotten {
				t.Error("forgotten beside a transaction that has one")
			}
			return err
		})
		r.chain.Mine(1)
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("%s was paid", got)
		}
	})
}
