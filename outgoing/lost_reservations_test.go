package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// batchOverADeposit credits a deposit that is the largest UTXO and pays a withdrawal of another account with it. The
// operator's own UTXO could pay the withdrawal as well.
func (r *harness) batchOverADeposit() (deposit string, w bursar.Withdrawal, to string) {
	r.T.Helper()
	r.Step()
	r.Pay(r.Wallet(0).Address, 300_000_000)
	r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
	r.Chain.Mine(3)
	r.Step()
	deposit = r.Pay(r.Wallet(1).Address, 900_000_000)
	r.Chain.Mine(3)
	r.Step()
	to = r.Chain.Named("outside")
	w = r.Order(200_000_000, to)
	r.Step()
	r.Chain.Forget()
	if r.Now(w).TxID == "" {
		r.T.Fatal("nothing was signed")
	}
	return deposit, w, to
}

// A payer spends a credited deposit again in a reorg, after the deposit was used for somebody else's withdrawal. The
// withdrawal's transaction can never be included once the second spend is final, and no block earlier; then another
// transaction pays it.
func TestATransactionOverAVanishedDepositIsMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		deposit, w, to := r.batchOverADeposit()
		first := r.Now(w).OutgoingID
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Step()
		for range 10 { // however long it is away, it may come back
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Now(w); got.OutgoingID != first {
			t.Fatalf("it was given up for a deposit that may be included again: %+v", got)
		}
		r.Chain.DoubleSpend(deposit)
		r.Chain.Mine(1)
		r.Step()
		r.Chain.Mine(1)
		r.Step()
		if got := r.Now(w); got.OutgoingID != first {
			t.Fatalf("it was given up before the second spend was final: %+v, want %v", got, first)
		}
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.OutgoingID == first {
			t.Fatalf("the withdrawal is %+v", got)
		}
		if got := r.Chain.Balance(to, ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver holds %s, want %s", got, bursar.Units(200_000_000))
		}
		r.NothingOpen()
	})
}

// A second spend that is reorged out again proves nothing: the deposit is included again, and with it the transaction.
func TestAReorgedOutProofDoesNotCount(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		deposit, w, to := r.batchOverADeposit()
		first := r.Now(w).OutgoingID
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Step()
		again := r.Chain.DoubleSpend(deposit)
		r.Chain.Mine(2)
		r.Step()
		r.Chain.ReorgBack(3, deposit, again)
		r.Step()
		for range 10 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.OutgoingID != first {
			t.Fatalf("the withdrawal is %+v, want %v and %v", got, bursar.WithdrawalConfirmed, first)
		}
		if got := r.Chain.Balance(to, ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver holds %s, want %s", got, bursar.Units(200_000_000))
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
	})
}

// A transaction that builds on the change of one that can never be included cannot be included either, however long the
// chain of unconfirmed change is.
func TestATransactionOverVanishedChangeIsMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		deposit := r.Pay(r.Wallet(1).Address, 2_000_000_000)
		r.Chain.Mine(3)
		r.Step()
		var orders []bursar.Withdrawal
		var receivers []string
		for i := range 3 {
			to := r.Chain.Named(string(rune('a' + i)))
			orders, receivers = append(orders, r.Order(100_000_000, to)), append(receivers, to)
			r.Step()
		}
		for i := range 2 {
			if r.Now(orders[i]).TxID == r.Now(orders[i+1]).TxID {
				t.Fatal("they are not paid by transactions of their own")
			}
		}
		r.Chain.Forget()
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Chain.DoubleSpend(deposit)
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
		}
		for i, w := range orders {
			if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || r.Chain.Balance(receivers[i], "") != w.Amount {
				t.Errorf("withdrawal %d is %+v, its receiver holds %s, want %v and %v", i, got, r.Chain.Balance(receivers[i], ""),
					bursar.WithdrawalConfirmed, w.Amount)
			}
		}
		r.NothingOpen()
	})
}

// An external spend takes a UTXO that a transaction of ours was about to use.
func TestATransactionOverATakenUTXOIsMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 950_000_000)
		r.Chain.Mine(3)
		r.Step()
		to := r.Chain.Named("outside")
		w := r.Order(200_000_000, to)
		r.Step()
		first := r.Now(w).OutgoingID
		r.Chain.Forget()
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")},
			Amount: bursar.Units(940_000_000)})
		r.Trouble = true
		for range 4 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.resumeAll()
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || got.OutgoingID == first {
			t.Fatalf("the withdrawal is %+v", got)
		}
		if got := r.Chain.Balance(to, ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver holds %s, want %s", got, bursar.Units(200_000_000))
		}
		r.NothingOpen()
	})
}

// resumeAll is an operator who states that an external spend was the operator's own.
func (r *harness) resumeAll() {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		_, err := tx.Halts().Lift(ctx, store.HaltChain(r.Chain.Capabilities().ID), store.HaltByExternalSpend, "")
		return err
	})
}

// A transaction whose deposit is reorged out between building and signing is not signed: another one is built at once.
func TestNothingIsSignedOverAReorgedOutUTXO(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 300_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
		r.Chain.Mine(3)
		r.Step()
		deposit := r.Pay(r.Wallet(1).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		to := r.Chain.Named("outside")
		w := r.Order(200_000_000, to)
		real := r.Sender.Signer
		r.Sender.Signer = bursartest.NoSigner
		r.Trouble = true
		r.Step()
		r.Chain.Reorg(3, deposit)
		r.CatchUp()
		r.Sender.Signer = real
		r.Trouble = false
		r.Settle()
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || r.Chain.Balance(to, "") != w.Amount {
			t.Errorf("the withdrawal is %+v, want %v and %v", got, bursar.WithdrawalConfirmed, w.Amount)
		}
	})
}

// An older database knows nothing of a payment, of which the chain has included another version than the one that the
// journal has signed again. What was put back ends once the other version is final, no matter which one has its inputs
// reserved.
func TestATransactionPutBackBesideItsOtherVersionEnds(t *testing.T) {
	config := bursartest.UTXOModel
	config.BumpAfter = 3
	each(t, config, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		before := r.Backup()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		first := r.Now(w)
		r.Chain.SetRate(50) // no block takes it without a bump
		for range 4 {
			r.Chain.Mine(1)
			r.Step()
		}
		if now := r.Now(w).TxID; now == first.TxID || first.TxID == "" {
			t.Fatalf("the fee of %s was not bumped: it is %s", first.TxID, now)
		}
		r.Chain.Mine(1)
		r.Revive(before, file)
		r.Trouble = true
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
			for _, x := range r.Unclear() {
				_ = r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"})
			}
		}
		if n := len(r.waitingToBePutBack()); n != 0 {
			t.Fatalf("%d transactions wait to be put back, want none", n)
		}
		if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("the other version of a final transaction is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
		r.NothingOpen()
		if got := r.Chain.Balance(r.Chain.Named("receiver"), ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// As above, but the older database knows one of the two withdrawals that the batch pays. An operator who says that the
// included version paid nobody does not have that withdrawal paid again.
func TestAnOperatorsWordDoesNotHaveAPutBackPaymentMadeAgain(t *testing.T) {
	config := bursartest.UTXOModel
	config.BumpAfter = 3
	each(t, config, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		known := r.Order(300_000_000, r.Chain.Named("known"))
		before := r.Backup()
		lost := r.Order(200_000_000, r.Chain.Named("lost"))
		r.Step()
		if r.Now(known).OutgoingID != r.Now(lost).OutgoingID {
			t.Fatal("they are not paid together")
		}
		r.Chain.SetRate(50) // no block takes it without a bump
		for range 4 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.Chain.Mine(1)
		r.Revive(before, file)
		r.Trouble = true
		answered := 0
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
			for _, x := range r.Unclear() {
				if r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"}) == nil {
					answered++
				}
			}
		}
		if answered == 0 {
			t.Error("the operator was never believed")
		}
		for _, w := range []bursar.Withdrawal{known, lost} {
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("%s holds %s, want %s", w.Address.Base, got, w.Amount)
			}
		}
	})
}
