package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// beaten has a forgotten payment adopted from a block after another transaction of ours was signed with the same
// resources, and that block reorged out: both are open, and only the other one's bytes are known. The account of the
// first is frozen.
func (r *harness) beaten() (lost, other bursar.Withdrawal) {
	r.T.Helper()
	r.Step()
	r.Pay(r.Wallet(0).Address, 400_000_000)
	r.Pay(r.Wallet(1).Address, 400_000_000)
	if r.Chain.Capabilities().Model == chain.AccountModel {
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
	}
	r.Settle()
	lost = r.Order(300_000_000, r.Chain.Named("receiver"))
	before := r.Backup()
	r.Step()
	first := r.version(r.Now(lost).TxID)
	r.Chain.Forget()
	r.Restore(before)
	r.Halt(r.FreezeOf(0))
	other, err := r.Withdraw(1, 350_000_000, r.Chain.Named("another"))
	r.Must(err)
	r.Step()
	second := r.version(r.Now(other).TxID)
	r.Chain.Forget()
	r.Must(r.Chain.Broadcast(ctx, first))
	r.Chain.Mine(1)
	r.Trouble = true
	r.Step()
	if r.Now(lost).TxID != first.TxID || r.Now(lost).OutgoingID == r.Now(other).OutgoingID || len(second.Raw) == 0 {
		r.T.Fatalf("the first was not adopted: %+v", r.Now(lost))
	}
	r.Chain.Reorg(1, first.TxID)
	r.Chain.Forget()
	return lost, other
}

// A payment whose bytes are not known ends as soon as another transaction of ours with the same resources is final, and
// is requested again then. Until then both stay open, and no other version of it is built.
func TestAnAdoptedPaymentThatIsBeatenByOursIsMadeAgain(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, other := r.beaten()
		lost, by := r.Now(w).OutgoingID, r.Now(other).OutgoingID
		r.Recovered()
		sign := &observed{Signer: r.Signer, outgoingID: lost}
		r.Sender.Signer = sign
		r.Chain.HoldFinality(true)
		r.Blocks(5) // after which another version would be made
		r.Chain.HoldFinality(false)
		for range 20 {
			if r.spendNow(by).Status == bursar.OutgoingFinal {
				break
			}
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("the outgoing transaction is %s, and the other one is %s at height %d, want %v",
					p.Status, r.spendNow(by).Status, r.height(), bursar.OutgoingSent)
			}
			r.noted(lost, "outgoing transaction "+by.String()+" uses the same UTXOs or nonce, and goes on")
			if n := r.versionsOf(lost); n != 1 {
				t.Fatalf("of it there are %d versions, want 1", n)
			}
			r.Blocks(1)
		}
		if now := r.Now(w); r.spendNow(lost).Status != bursar.OutgoingAbandoned || now.OutgoingID == lost {
			t.Errorf("the other one is final, and it is %s; the withdrawal is %s", r.spendNow(lost).Status, now.Status)
		}
		if p := r.spendNow(lost); sign.asked > 0 || p.Error != "" {
			t.Errorf("another version of it was signed %d times, and its error is %q, want 0 and %q", sign.asked,
				p.Error, "")
		}
		r.wantNone(alarmBytesUnknown)
		r.Resume(r.FreezeOf(0))
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Settle()
		r.holdsOnce(w, other)
		r.NothingOpen()
		r.Must(r.Audit())
	})
}

func (r *harness) versionsOf(id bursar.ID) (n int) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.Outgoing().Versions(ctx, id)
		n = len(list)
		return err
	})
	return n
}

// If it is included again instead, it counts, and the payment of the other one is made by another transaction.
func TestAnAdoptedPaymentThatComesBackBeatsOurs(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, other := r.beaten()
		first := r.Now(w).TxID
		r.Recovered()
		r.Step()
		r.Chain.Forget()
		r.Chain.Restore(first)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Blocks(20)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != first {
			t.Errorf("the withdrawal is %s by %s, and %s was included again", now.Status, now.TxID, first)
		}
		r.Settle()
		r.holdsOnce(w, other)
		r.NothingOpen()
		r.Must(r.Audit())
	})
}
