package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// beaten has a forgotten payment adopted from a block after another one of ours was signed over what it uses up, and
// that block reorged out: both are open, and only the other one's bytes are known. The account of the first is frozen.
func (r *harness) beaten() (lost, other bursar.Withdrawal) {
	r.t.Helper()
	r.step()
	r.pay(r.wallet(0).Address, 400_000_000)
	r.pay(r.wallet(1).Address, 400_000_000)
	if r.chain.Capabilities().Model == chain.AccountModel {
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
	}
	r.settle()
	lost = r.order(300_000_000, r.chain.Named("receiver"))
	before := r.backup()
	r.step()
	first := r.version(r.now(lost).TxID)
	r.chain.Forget()
	r.restore(before)
	r.halt(r.freezeOf(0))
	other, err := r.withdraw(1, 350_000_000, r.chain.Named("another"))
	r.must(err)
	r.step()
	second := r.version(r.now(other).TxID)
	r.chain.Forget()
	r.must(r.chain.Broadcast(ctx, first))
	r.chain.Mine(1)
	r.trouble = true
	r.step()
	if r.now(lost).TxID != first.TxID || r.now(lost).OutgoingID == r.now(other).OutgoingID || len(second.Raw) == 0 {
		r.t.Fatalf("the first was not adopted: %+v", r.now(lost))
	}
	r.chain.Reorg(1, first.TxID)
	r.chain.Forget()
	return lost, other
}

// A payment whose bytes are not known ends as soon as another one of ours that uses up the same is final, and is made
// again then. Until then both stay open, and nothing else is made of it.
func TestAnAdoptedPaymentThatIsBeatenByOursIsMadeAgain(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, other := r.beaten()
		lost, by := r.now(w).OutgoingID, r.now(other).OutgoingID
		r.recovered()
		sign := &observed{Signer: r.signer, outgoingID: lost}
		r.sender.Signer = sign
		r.chain.HoldFinality(true)
		r.blocks(5) // after which another version would be made
		r.chain.HoldFinality(false)
		for range 20 {
			if r.spendNow(by).Status == bursar.OutgoingFinal {
				break
			}
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("it is %s, and the other one is %s at height %d", p.Status, r.spendNow(by).Status, r.height())
			}
			r.noted(lost, "outgoing transaction "+by.String()+" uses up the same, and goes on")
			if n := r.versionsOf(lost); n != 1 {
				t.Fatalf("of it there are %d versions", n)
			}
			r.blocks(1)
		}
		if now := r.now(w); r.spendNow(lost).Status != bursar.OutgoingAbandoned || now.OutgoingID == lost {
			t.Errorf("the other one is final, and it is %s; the order is %s", r.spendNow(lost).Status, now.Status)
		}
		if p := r.spendNow(lost); sign.asked > 0 || p.Error != "" {
			t.Errorf("another version of it was signed %d times, and its error is %q", sign.asked, p.Error)
		}
		r.wantNone(alarmBytesUnknown)
		r.resume(r.freezeOf(0))
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.settle()
		r.holdsOnce(w, other)
		r.nothingOpen()
		r.must(r.audit())
	})
}

func (r *harness) versionsOf(id bursar.ID) (n int) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		list, err := tx.Outgoing().Versions(ctx, id)
		n = len(list)
		return err
	})
	return n
}

// Where it comes back instead, it counts, and the other one is paid by another transaction.
func TestAnAdoptedPaymentThatComesBackBeatsOurs(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, other := r.beaten()
		first := r.now(w).TxID
		r.recovered()
		r.step()
		r.chain.Forget()
		r.chain.Restore(first)
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.blocks(20)
		if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != first {
			t.Errorf("it is %s by %s, and %s came back", now.Status, now.TxID, first)
		}
		r.settle()
		r.holdsOnce(w, other)
		r.nothingOpen()
		r.must(r.audit())
	})
}
