package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// batchOverADeposit credits a deposit that is the largest UTXO and pays a withdrawal of another account with it. The
// operator's own UTXO could pay the withdrawal as well.
func (r *harness) batchOverADeposit() (deposit string, w bursar.Withdrawal, to string) {
	r.t.Helper()
	r.step()
	r.pay(r.wallet(0).Address, 300_000_000)
	r.pay(bursar.Address{Base: r.hot.Base}, 700_000_000)
	r.chain.Mine(3)
	r.step()
	deposit = r.pay(r.wallet(1).Address, 900_000_000)
	r.chain.Mine(3)
	r.step()
	to = r.chain.Named("outside")
	w = r.order(200_000_000, to)
	r.step()
	r.chain.Forget()
	if r.now(w).TxID == "" {
		r.t.Fatal("nothing was signed")
	}
	return deposit, w, to
}

// A payer spends a credited deposit again in a reorg, after the deposit was used for somebody else's withdrawal. The
// withdrawal's transaction can never be included once the second spend is final, and no block earlier; then another
// transaction pays it.
func TestATransactionOverAVanishedDepositIsMadeAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		deposit, w, to := r.batchOverADeposit()
		first := r.now(w).OutgoingID
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.step()
		for range 10 { // however long it is away, it may come back
			r.chain.Mine(1)
			r.step()
		}
		if got := r.now(w); got.OutgoingID != first {
			t.Fatalf("it was given up for a deposit that may be included again: %+v", got)
		}
		r.chain.DoubleSpend(deposit)
		r.chain.Mine(1)
		r.step()
		r.chain.Mine(1)
		r.step()
		if got := r.now(w); got.OutgoingID != first {
			t.Fatalf("it was given up before the second spend was final: %+v", got)
		}
		for range 8 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.OutgoingID == first {
			t.Fatalf("it is %+v", got)
		}
		if got := r.chain.Balance(to, ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver holds %s", got)
		}
		r.nothingOpen()
	})
}

// A second spend that is reorged out again proves nothing: the deposit is included again, and with it the transaction.
func TestAReorgedOutProofDoesNotCount(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		deposit, w, to := r.batchOverADeposit()
		first := r.now(w).OutgoingID
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.step()
		again := r.chain.DoubleSpend(deposit)
		r.chain.Mine(2)
		r.step()
		r.chain.ReorgBack(3, deposit, again)
		r.step()
		for range 10 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.OutgoingID != first {
			t.Fatalf("it is %+v", got)
		}
		if got := r.chain.Balance(to, ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver holds %s", got)
		}
		if err := r.audit(); err != nil {
			t.Error(err)
		}
	})
}

// A transaction that builds on the change of one that can never be included cannot be included either, however long the
// chain of unconfirmed change is.
func TestATransactionOverVanishedChangeIsMadeAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		deposit := r.pay(r.wallet(1).Address, 2_000_000_000)
		r.chain.Mine(3)
		r.step()
		var orders []bursar.Withdrawal
		var receivers []string
		for i := range 3 {
			to := r.chain.Named(string(rune('a' + i)))
			orders, receivers = append(orders, r.order(100_000_000, to)), append(receivers, to)
			r.step()
		}
		for i := range 2 {
			if r.now(orders[i]).TxID == r.now(orders[i+1]).TxID {
				t.Fatal("they are not paid by transactions of their own")
			}
		}
		r.chain.Forget()
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.chain.DoubleSpend(deposit)
		for range 20 {
			r.chain.Mine(1)
			r.step()
		}
		for i, w := range orders {
			if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || r.chain.Balance(receivers[i], "") != w.Amount {
				t.Errorf("withdrawal %d is %+v, its receiver holds %s", i, got, r.chain.Balance(receivers[i], ""))
			}
		}
		r.nothingOpen()
	})
}

// An external spend takes a UTXO that a transaction of ours was about to use.
func TestATransactionOverATakenUTXOIsMadeAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 900_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 950_000_000)
		r.chain.Mine(3)
		r.step()
		to := r.chain.Named("outside")
		w := r.order(200_000_000, to)
		r.step()
		first := r.now(w).OutgoingID
		r.chain.Forget()
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
			Amount: bursar.Units(940_000_000)})
		r.trouble = true
		for range 4 {
			r.chain.Mine(1)
			r.step()
		}
		r.resumeAll()
		for range 8 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || got.OutgoingID == first {
			t.Fatalf("it is %+v", got)
		}
		if got := r.chain.Balance(to, ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver holds %s", got)
		}
		r.nothingOpen()
	})
}

// resumeAll is an operator who states that an external spend was the operator's own.
func (r *harness) resumeAll() {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		_, err := tx.Halts().Lift(ctx, store.HaltChain(r.chain.Capabilities().ID), store.HaltByExternalSpend, "")
		return err
	})
}

func (r *harness) nothingOpen() {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.chain.Capabilities().ID, 10)
		for _, p := range open {
			r.t.Errorf("open: %s %s height %d error %q", p.Kind, p.Status, p.Height, p.Error)
		}
		return err
	})
}

// A transaction whose deposit is reorged out between building and signing is not signed: another one is built at once.
func TestNothingIsSignedOverAReorgedOutUTXO(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 300_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 700_000_000)
		r.chain.Mine(3)
		r.step()
		deposit := r.pay(r.wallet(1).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		to := r.chain.Named("outside")
		w := r.order(200_000_000, to)
		real := r.sender.Signer
		r.sender.Signer = signerFunc(func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx,
			error) {
			return chain.SignedTx{}, errors.New("the signer is unavailable")
		})
		r.trouble = true
		r.step()
		r.chain.Reorg(3, deposit)
		for more := true; more; {
			var err error
			more, err = r.follower.Step(ctx, r.lease)
			r.must(err)
		}
		r.sender.Signer = real
		r.trouble = false
		r.settle()
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || r.chain.Balance(to, "") != w.Amount {
			t.Errorf("it is %+v", got)
		}
	})
}
