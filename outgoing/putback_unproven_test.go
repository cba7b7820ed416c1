package outgoing_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// giveUp makes an operator give up a forgotten transaction.
func (r *harness) giveUp(id bursar.ID) error {
	return r.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Chains().Lock(ctx, r.Chain.Capabilities().ID); err != nil {
			return err
		}
		assessor := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
		return assessor.GiveUpForgotten(ctx, tx, id, "it was spent again")
	})
}

// vanished replaces the blocks with a deposit from which a payment was made that the database forgets, and has the
// payer spend it again: no node has the deposit's transaction any more, and the journal has the payment.
func (r *harness) vanished(depth int, deposit, before, file string) store.ForgottenPayment {
	r.T.Helper()
	r.Chain.Forget()
	r.Chain.Reorg(depth, deposit)
	r.Chain.DoubleSpend(deposit)
	r.Chain.Mine(1)
	r.Revive(before, file)
	r.Trouble = true
	waiting := r.waitingToBePutBack()
	if len(waiting) != 1 {
		r.T.Fatalf("%d transactions wait to be put back, want 1", len(waiting))
	}
	return waiting[0]
}

// A forgotten payment whose UTXO no node can prove any more waits, and an alarm names it. It is paid once an operator
// has given it up, and not before.
func TestAPaymentThatCannotBeSignedAgainIsGivenUpByAnOperator(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Step()
		r.Pay(r.Wallet(0).Address, 600_000_000)
		r.Settle()
		w := r.Order(200_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		deposit := r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Chain.Mine(4)
		r.Step()
		f := r.vanished(5, deposit, before, file)
		if p := r.Now(w); p.TxID != "" {
			t.Fatalf("it is not forgotten: %+v", p)
		}
		if err := r.giveUp(f.OutgoingID); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("given up before it is sure that it cannot be signed: %v, want %v", err, recovery.ErrUnfit)
		}
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if !r.alarmed(recovery.AlarmUnproven) || !r.Recovering() || r.Now(w).TxID != "" {
			t.Fatalf("alarmed: %t, recovering: %t, want both; the withdrawal is %s", r.alarmed(recovery.AlarmUnproven),
				r.Recovering(), r.Now(w).Status)
		}
		r.Must(r.giveUp(f.OutgoingID))
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount || r.Now(w).Status != bursar.WithdrawalConfirmed {
			t.Errorf("the receiver holds %s, want %s, and the withdrawal is %s", got, w.Amount, r.Now(w).Status)
		}
		r.WantAlarms(recovery.AlarmNotPutBack)
		r.NothingOpen()
		if err := r.giveUp(f.OutgoingID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("given up twice: %v, want %v", err, store.ErrNotFound)
		}
	})
}

// A forgotten transaction that pays nobody but us, and that cannot be signed again, holds up no recovery.
func TestARecoveryDoesNotWaitForAConsolidationThatCannotBeSignedAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Sender.ConsolidateAbove = 10
		r.Step()
		r.hold(9, 200_000_000)
		r.Blocks(2)
		before := r.Backup()
		deposit := r.Pay(r.Wallet(0).Address, 300_000_000)
		r.Chain.Mine(3)
		r.Step()
		made := r.consolidations()
		if len(made) != 1 || made[0].TxID == "" {
			t.Fatalf("%d consolidations were made, want 1 that is signed", len(made))
		}
		bytes := r.version(made[0].TxID)
		f := r.vanished(4, deposit, before, file)
		r.Sender.ConsolidateAbove = 100
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if f.OutgoingID != made[0].ID || !r.alarmed(recovery.AlarmUnproven) || r.Recovering() {
			t.Fatalf("alarmed: %t, recovering: %t, want the first alone", r.alarmed(recovery.AlarmUnproven), r.Recovering())
		}
		w := r.Order(100_000_000, r.Chain.Named("receiver"))
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if err := r.Chain.Broadcast(ctx, bytes); err == nil {
			t.Error("a node takes what spends a UTXO that does not exist")
		}
		r.Must(r.giveUp(f.OutgoingID))
		if r.alarmed(recovery.AlarmUnproven) || r.alarmed(recovery.AlarmNotPutBack) {
			t.Error("an alarm stays open about what pays nobody")
		}
		r.NothingOpen()
		r.Must(r.Audit())
	})
}

// A forgotten consolidation for which no recovery has waited, and which a block has after all, halts nothing: it uses
// exactly the UTXOs that the journal says, and pays us.
func TestAConsolidationThatWasNotPutBackIsRecognised(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Sender.ConsolidateAbove = 10
		r.Step()
		r.hold(9, 200_000_000)
		r.Blocks(2)
		before := r.Backup()
		r.hold(1, 300_000_000)
		r.Step()
		made := r.consolidations()
		if len(made) != 1 || made[0].TxID == "" {
			t.Fatalf("%d consolidations were made, want 1 that is signed", len(made))
		}
		bytes := r.version(made[0].TxID)
		r.Chain.Forget()
		r.Revive(before, file)
		r.Trouble = true
		r.Sender.ConsolidateAbove = 100
		r.Sender.Signer = bursartest.SignerFunc(refusesOld)
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if r.Recovering() || !r.alarmed(recovery.AlarmMayBeOut) {
			t.Fatalf("recovering: %t, alarmed: %t, want the second alone", r.Recovering(), r.alarmed(recovery.AlarmMayBeOut))
		}
		r.Must(r.Chain.Broadcast(ctx, bytes))
		for range 4 {
			r.Chain.Mine(1)
			r.Step()
		}
		x, err := r.external(bytes.TxID)
		if err != nil || x.Status != store.ExternalAdopted || r.Halted() {
			t.Errorf("it is %+v: %v, halted: %t", x, err, r.Halted())
		}
		if kinds := r.Alarms(); slices.Contains(kinds, "external_spend") {
			t.Errorf("the open alarms are %q", kinds)
		}
		r.Must(r.Audit())
	})
}

// A forgotten payment that only its signer refuses may be in a mempool, and valid: it cannot be given up.
func TestAPaymentThatItsSignerRefusesIsNotGivenUp(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w := r.forgotten()
		id := r.waitingToBePutBack()[0].OutgoingID
		r.Trouble = true
		r.Sender.Signer = bursartest.SignerFunc(refusesOld)
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if err := r.giveUp(id); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("it is given up: %v, want %v", err, recovery.ErrUnfit)
		}
		if !r.alarmed(recovery.AlarmMayBeOut) || !r.Recovering() || r.Now(w).TxID != "" {
			t.Errorf("alarmed: %t, recovering: %t, want both; the withdrawal is %s", r.alarmed(recovery.AlarmMayBeOut),
				r.Recovering(), r.Now(w).Status)
		}
	})
}

// refusesOld is a signer that does not remember what it signed before an epoch began.
func refusesOld(
	_ context.Context, id bursar.ChainID, request chain.TxRequest, _ chain.UnsignedTx,
) (chain.SignedTx, error) {
	return chain.SignedTx{}, &signer.RefusalError{Chain: id, OutgoingID: request.ID, Reason: signer.ReasonSweepOld}
}
