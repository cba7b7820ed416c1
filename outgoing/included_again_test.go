package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// failsThenWaits has a transfer of tokens from the hot wallet fail, which the database does not know, and its block
// replaced by others, which do not have it. forgot says that the chain recovers at the time; otherwise it halts, and
// the operator has it resumed. Then the hot wallet has the tokens.
func (r *harness) failsThenWaits(to string, forgot bool) (txID string) {
	r.T.Helper()
	r.WithTokens()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
	r.Settle()
	if forgot {
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
	}
	txID = r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named(to)},
		Contract: r.tokenContract(), Amount: bursar.Units(500)})
	r.Blocks(4)
	if !forgot {
		_, err := r.SettleExternal()
		r.Must(err)
		r.Step()
	}
	if x := r.externalSpend(txID); !x.Failed || x.OutgoingID.IsZero() {
		r.T.Fatalf("it did not fail, or nothing stands for it: %+v", x)
	}
	r.Trouble = true
	r.Undo(txID, txID)
	r.Step()
	r.Recovered()
	r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 1000)
	r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 1000)
	r.Blocks(6)
	return txID
}

// An adopted transaction that failed, and that pays a withdrawal in another block after a reorganisation, has paid it:
// nothing else does.
func TestAnAdoptedFailureThatPaysAfterAllIsAdopted(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		txID := r.failsThenWaits("receiver", true)
		r.Halt(byAnn(store.HaltAll)) // otherwise it is signed before
		w := r.OrderOf(0, "TOKEN", 500, r.Chain.Named("receiver"))
		r.Step()
		r.Chain.Restore(txID)
		r.Chain.Mine(1)
		r.Step()
		r.Resume(byAnn(store.HaltAll))
		if x := r.externalSpend(txID); x.Failed || x.Height == 0 || !r.Recovering() {
			t.Errorf("it is recorded as %+v, and the chain recovers: %t", x, r.Recovering())
		}
		r.Recovered()
		r.Blocks(12)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != txID {
			t.Errorf("the withdrawal is %s by %s, want %s by %s", now.Status, now.TxID, bursar.WithdrawalConfirmed, txID)
		}
		if got := r.Chain.Balance(w.Address.Base, r.tokenContract()); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.NothingOpen()
		r.wantNone(recovery.AlarmUnclear)
		r.Must(r.Reconcile())
	})
}

// If it pays somebody to whom nothing is due, an operator has to say what that was, whatever they said of the failure,
// and the chain pays nothing before that.
func TestAnAdoptedFailureThatPaysSomebodyIsUnclear(t *testing.T) {
	for name, forgot := range map[string]bool{"adopted": true, "resumed": false} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
				txID := r.failsThenWaits("thief", forgot)
				r.Chain.Restore(txID)
				r.Chain.Mine(1)
				r.Step()
				w := r.OrderOf(0, "TOKEN", 300, r.Chain.Named("receiver"))
				r.Blocks(12)
				x := r.externalSpend(txID)
				if x.Status != store.ExternalUnclear || !r.Recovering() || !r.alarmed(recovery.AlarmUnclear) {
					t.Fatalf("it is %s: %s; the chain recovers: %t", x.Status, x.Reason, r.Recovering())
				}
				if got := r.Chain.Balance(w.Address.Base, r.tokenContract()); !got.IsZero() {
					t.Errorf("%s was paid meanwhile", got)
				}
				r.Must(r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
				r.Recovered()
				r.Blocks(12)
				if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
					t.Errorf("the withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
				}
				r.NothingOpen()
				r.wantNone(recovery.AlarmUnclear)
				r.Must(r.Reconcile())
			})
		})
	}
}

// An adopted transaction that had ended, and is in a block after all, is known to be in that block: it has paid.
func TestAnAdoptedTransactionThatCameBackIsInItsBlock(t *testing.T) {
	onBumping(t, func(t *testing.T, r *harness) {
		_, first, adopted := r.besidePutBack()
		second := r.spendNow(adopted).TxID
		for range 20 {
			r.Step()
			for _, x := range r.Unclear() {
				_ = r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"})
			}
			r.Chain.Mine(1)
		}
		if p := r.spendNow(adopted); p.Status != bursar.OutgoingAbandoned || r.externalSpend(second).Height > 0 {
			t.Fatalf("the adopted one is %s, and its block %d", p.Status, r.externalSpend(second).Height)
		}
		r.Undo(first.TxID, first.TxID)
		r.Chain.Forget()
		r.Chain.Restore(second)
		r.Chain.Mine(1)
		r.Step()
		ref, err := r.Chain.Find(ctx, second)
		r.Must(err)
		if x := r.externalSpend(second); x.Height != ref.Height || !r.alarmed("abandoned_included") {
			t.Errorf("it is recorded in block %d, want %d; the alarms are %v", x.Height, ref.Height, r.Alarms())
		}
	})
}
