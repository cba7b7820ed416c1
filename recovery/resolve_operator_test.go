package recovery_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// A payment of a withdrawal that the database does not know waits for an operator, and so does everything else on the
// chain. It is booked as the operator resolves it, and then payments go on.
func TestAForgottenWithdrawalIsForAnOperatorToResolve(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Forget(r.Chain.Named("forgotten"))
		unclear := r.Unclear()
		if len(unclear) != 1 || unclear[0].Failed || !strings.Contains(unclear[0].Reason, " COIN to ") {
			t.Fatalf("unclear is %+v", unclear)
		}
		other := r.Order(100_000_000, r.Chain.Named("other"))
		for range 6 {
			r.Step()
			r.Chain.Mine(1)
		}
		if r.Taken() > 1 || !r.Recovering() {
			t.Fatal("something is paid while a payment is unclear")
		}
		if err := r.Resolve(recovery.Answer{Item: unclear[0].Number}); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("an answer that explains nothing gives %v, want %v", err, recovery.ErrUnfit)
		}
		if err := r.Resolve(recovery.Answer{Item: unclear[0].Number, Withdrawals: []bursar.ID{other.ID},
			Note: "x"}); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("a withdrawal of another amount gives %v, want %v", err, recovery.ErrUnfit)
		}
		r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedForOperator, Actor: "ann"}))
		r.Recovered()
		r.Settle()
		if now := r.Now(other); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the other withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
	})
}

// If the operator names the withdrawal that a payment was for, that withdrawal is not paid again.
func TestAnOperatorNamesTheWithdrawal(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		to := r.Chain.Named("old address")
		r.Forget(to)
		meant := r.Order(300_000_000, r.Chain.Named("new address"))
		item := r.Unclear()[0].Number
		if err := r.Resolve(recovery.Answer{Item: item,
			Withdrawals: []bursar.ID{meant.ID}}); !errors.Is(err, recovery.ErrUnfit) {
			t.Fatalf("another address without a note gives %v, want %v", err, recovery.ErrUnfit)
		}
		r.Must(r.Resolve(recovery.Answer{Item: item, Withdrawals: []bursar.ID{meant.ID},
			Note: "ordered again by the customer"}))
		r.Recovered()
		r.Settle()
		if now := r.Now(meant); now.Status != bursar.WithdrawalConfirmed ||
			!r.Chain.Balance(meant.Address.Base, "").IsZero() {
			t.Errorf("the withdrawal is %s, and %s were paid, want %s and 0",
				now.Status, r.Chain.Balance(meant.Address.Base, ""), bursar.WithdrawalConfirmed)
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
	})
}

// While a chain recovers, no withdrawal is cancelled that may have been paid.
func TestNothingIsCancelledWhileAChainRecovers(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Do(func(tx *store.Tx) error { return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "a restore") })
		if _, err := r.Withdrawals.Cancel(ctx, w.ID); err == nil || r.Now(w).Status != bursar.WithdrawalQueued {
			t.Fatalf("it was cancelled: %v, want an error and %v", err, bursar.WithdrawalQueued)
		}
		r.Recovered()
		if _, err := r.Withdrawals.Cancel(ctx, w.ID); err != nil && r.Now(w).Status == bursar.WithdrawalQueued {
			t.Fatalf("after the recovery it is not: %v", err)
		}
	})
}

// A deep reorg also unsettles an adopted sweep, as often as its block is reorged out: the books of its address stay
// right.
func TestAnAdoptedSweepIsUnsettled(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 1_000_000_000)
		r.Pay(r.Wallet(1).Address, 500_000_000) // and no sweep of the first deposit may take it
		r.Blocks(1)
		before := r.Backup()
		r.Settle()
		left := r.Chain.Balance(w.Address.Base, "")
		if !left.Less(bursar.Units(100_000_000)) {
			t.Fatalf("%s was not swept", left)
		}
		r.Restore(before)
		r.Settle()
		for range 3 {
			if got := r.Holding(w.Address.Base, ""); got != left {
				t.Errorf("the books say that %s are at the address, the chain says %s", got, left)
			}
			r.Undo(r.SweepOf(w.Address.Base).TxID)
			r.CatchUp()
			if got := r.Holding(w.Address.Base, ""); got != bursar.Units(1_000_000_000) {
				t.Errorf("while the sweep is in no final block the books say that %s are at the address, want %s",
					got, bursar.Units(1_000_000_000))
			}
			r.Settle()
			r.Must(r.Audit())
			r.Must(r.Reconcile())
		}
	})
}

// What an operator resolves as spent from a deposit address is taken off the books of that address: no sweep of it is
// tried.
func TestAResolvedSpendLowersTheBooksOfADepositAddress(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Prepare()
		r.Halt(store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator})
		w := r.Wallet(1)
		r.Pay(w.Address, 1_000_000_000)
		r.Blocks(4)
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		outsider := bursar.Address{Base: r.Chain.Named("outsider")}
		r.Chain.ExternalSpend(w.Address.Base, chain.Payment{Address: outsider, Amount: bursar.Units(300_000_000)})
		r.Blocks(4)
		unclear := r.Unclear()
		if len(unclear) != 1 {
			t.Fatalf("unclear are %+v, want 1 of them", unclear)
		}
		r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
		r.Blocks(2)
		if got := r.Chain.Balance(w.Address.Base, ""); got != r.Holding(w.Address.Base, "") {
			t.Errorf("the address holds %s, the books say %s", got, r.Holding(w.Address.Base, ""))
		}
		r.Must(r.Reconcile())
	})
}
