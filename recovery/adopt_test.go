package recovery_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// spells lists how far a withdrawal had come when the backup was made.
var spells = map[string]func(r *bursartest.OneChain){
	"queued": func(*bursartest.OneChain) {},
	"claimed": func(r *bursartest.OneChain) {
		r.Sender.Signer, r.Trouble = bursartest.NoSigner, true
		r.Step()
		r.Trouble, r.Sender.Signer = false, r.Signer
	},
	"signed": func(r *bursartest.OneChain) {
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Trouble = true
		r.Step()
		r.Trouble = false
		r.Chain.ClearFaults()
	},
	"sent": func(r *bursartest.OneChain) { r.Step() },
}

// A payment made after the backup is not made again: the database recognizes its own transactions, and their
// withdrawals are confirmed. Nothing is left unclear, and payments go on.
func TestARestoredDatabasePaysNobodyTwice(t *testing.T) {
	for name, spell := range spells {
		t.Run(name, func(t *testing.T) {
			bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
				r.Prepare()
				first, second := r.Chain.Named("first"), r.Chain.Named("second")
				one, two := r.Order(300_000_000, first), r.Order(200_000_000, second)
				spell(r)
				before := r.Backup()
				r.Settle()
				r.Pay(r.Wallet(0).Address, 50_000_000) // to a wallet that the backup does not know
				r.Settle()
				r.Restore(before)
				r.Settle()
				for _, w := range []bursar.Withdrawal{one, two} {
					if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID == "" {
						t.Errorf("withdrawal %s is %s, want %v and not %q", w.ID, now.Status, bursar.WithdrawalConfirmed, "")
					}
					if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
						t.Errorf("the receiver holds %s, want %s", got, w.Amount)
					}
				}
				if unclear := r.Unclear(); len(unclear) > 0 {
					t.Errorf("unclear is %+v, want none", unclear)
				}
				r.Recovered()
				three := r.Order(100_000_000, r.Chain.Named("third"))
				r.Settle()
				if got := r.Chain.Balance(three.Address.Base, ""); got != three.Amount {
					t.Errorf("after the recovery %s is paid, want %s", got, three.Amount)
				}
			})
		})
	}
}

// A payment that was sent after the backup and is in no block yet is not made again: nothing is signed until it is in a
// block or can never be included.
func TestNothingIsSignedWhileAForgottenPaymentMayStillWait(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := bursartest.NewOneChain(t, db, bursartest.Models["expiring"])
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step()
		held := r.Chain.Waiting()
		if len(held) == 0 {
			t.Fatal("nothing was sent")
		}
		r.Chain.SetRate(1 << 20) // no block includes it
		r.Restore(before)
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, bursar.Ethereum, "the database was restored")
		})
		for range 4 {
			r.Step()
			if r.Taken() != 0 {
				t.Fatal("a payment is signed while a forgotten one may still enter a block")
			}
			r.Chain.Mine(1)
		}
		r.Chain.SetRate(1)
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
		}
	})
}

// A deep reorg also unsettles an adopted transaction, and it is settled again in the block that includes it next.
func TestAnAdoptedTransactionIsUnsettled(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Settle()
		r.Restore(before)
		r.Settle()
		paidBy := r.Now(w).TxID
		r.Undo(paidBy)
		r.Step()
		if now := r.Now(w); now.Status != bursar.WithdrawalBroadcast && now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("after the reorg it is %s", now.Status)
		}
		r.Settle()
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != paidBy {
			t.Errorf("in the end the withdrawal is %s by %s, want %s and %s",
				now.Status, now.TxID, bursar.WithdrawalConfirmed, paidBy)
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// If one of two equal withdrawals of two customers was paid, it is not known which, and an operator is asked.
func TestAPaymentThatMatchesSeveralWithdrawalsIsUnclear(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Prepare()
		r.Pay(r.Wallet(1).Address, 1_000_000_000)
		r.Settle()
		to := r.Chain.Named("exchange")
		var orders []bursar.Withdrawal
		for account := range 2 {
			w, err := r.Withdraw(account, 300_000_000, to)
			r.Must(err)
			orders = append(orders, w)
		}
		before := r.Backup()
		r.Do(func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(r.Chain.Capabilities().ID), Kind: store.HaltByOperator})
		})
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: to}, Amount: bursar.Units(300_000_000)})
		r.Chain.Mine(4)
		r.Restore(before)
		for range 10 {
			r.Step()
			r.Chain.Mine(1)
		}
		if n := len(r.Unclear()); n != 1 {
			t.Fatalf("%d external spends are unclear, want 1", n)
		}
		if got := r.Chain.Balance(to, ""); got != bursar.Units(300_000_000) {
			t.Fatalf("something was paid while it is unclear: %s, want %s", got, bursar.Units(300_000_000))
		}
		for _, w := range orders {
			if now := r.Now(w); now.Status != bursar.WithdrawalQueued {
				t.Errorf("withdrawal %s is %s, want %s", w.ID, now.Status, bursar.WithdrawalQueued)
			}
		}
	})
}
