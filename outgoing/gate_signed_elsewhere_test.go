package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// journal is one that says which transaction pays an order already.
type journal struct {
	by   bursar.ID
	fail error
}

func (j *journal) Sign(context.Context, store.Lease, bursar.ID) error { return nil }
func (j *journal) Unsigned(bursar.ChainID, bursar.ID)                 {}
func (j *journal) Signed(bursar.ChainID, bursar.ID) bool              { return false }

func (j *journal) PaidBy(context.Context, *store.Tx, bursar.OutgoingTx, []bursar.ID) (bursar.ID, error) {
	return j.by, j.fail
}

// What another transaction pays, by the journal outside the database, is not signed, nor is anything while the
// journal cannot be read; what it knows no other transaction of is.
func TestWhatTheJournalKnowsAsPaidIsNotSigned(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		kept := &journal{by: bursar.ID{7}}
		r.sender.Marks = kept
		signed := 0
		r.sender.Signer = watched{r.signer, func(chain.UnsignedTx) { signed++ }}
		w := r.order(1_000_000, r.chain.Named("outside"))
		r.trouble = true
		r.step()
		if text := r.errors(); !strings.Contains(text, bursar.ID{7}.String()+" pays it already") || signed != 0 {
			t.Errorf("%d were signed, and noted is %q", signed, text)
		}
		kept.by, kept.fail = bursar.ID{}, errors.New("the file is away")
		r.step()
		if text := r.errors(); !strings.Contains(text, "the file is away") || signed != 0 {
			t.Errorf("%d were signed, and noted is %q", signed, text)
		}
		kept.fail = nil
		r.step()
		if now := r.now(w); now.Status != bursar.WithdrawalBroadcast || signed != 1 {
			t.Errorf("it is %s, and %d were signed", now.Status, signed)
		}
	})
}

// An order that was changed in the database is not even signed.
func TestAChangedOrderIsNotSigned(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		r.settle()
		r.trouble, r.forged = true, true
		w := r.order(1_000_000, r.chain.Named("customer"))
		r.withoutSigner(r.step)
		attack(`UPDATE withdrawals SET amount = '2000000' WHERE id = $1`, w.ID)
		r.sender.Signer = watched{r.signer, func(chain.UnsignedTx) { t.Error("it was signed") }}
		for range 3 {
			r.step()
		}
	})
}

// A payment is not signed while one with a lower nonce is not, keeps its own nonce meanwhile, and says what it waits
// for.
func TestNoncesAreSignedInOrder(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		first, second := r.order(1_000_000, r.chain.Named("first")), r.order(1_000_000, r.chain.Named("second"))
		r.trouble = true
		r.withoutSigner(r.step)
		waits, times := r.now(first).OutgoingID, 0
		unsigned := r.spendNow(r.now(second).OutgoingID).Unsigned
		r.sender.Signer = refusing{r.signer, waits, &times}
		node := r.sentOnly()
		for range 2 {
			r.step()
		}
		if node.builds != 0 {
			t.Errorf("%d were built again", node.builds)
		}
		now := r.spendNow(r.now(second).OutgoingID)
		if now.Status != bursar.OutgoingReserved || string(now.Unsigned) != string(unsigned) ||
			!strings.Contains(now.Error, waits.String()) {
			t.Errorf("the second is %s: %q", now.Status, now.Error)
		}
		r.sender.Signer = r.signer
		r.step()
		r.step()
		if a, b := r.now(first).Status, r.now(second).Status; a != bursar.WithdrawalBroadcast || b != a {
			t.Errorf("then they are %s and %s", a, b)
		}
	})
}

// The nonce that a payment gives back, because of a halt, is taken by one that had reserved a higher one: nothing
// that is signed waits behind it.
func TestANonceThatIsGivenBackIsTakenByTheNext(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().fund()
		r.give("TOKEN", bursar.Address{Base: r.hot.Base}, 100_000)
		r.give("TOKEN", r.walletOf(0, "TOKEN").Address, 100_000)
		r.settle()
		r.orderOf(0, "TOKEN", 1_000, r.chain.Named("tokens"))
		r.trouble = true
		r.withoutSigner(func() {
			r.step()
			r.order(1_000_000, r.chain.Named("coin"))
			r.step()
		})
		if list := r.reserved(); len(list) != 2 || list[0].Currency != "TOKEN" {
			t.Fatalf("reserved have %+v", list)
		}
		lower := r.resources(r.reserved()[0])
		r.halt(byAnn(store.HaltCurrency("TOKEN")))
		r.step()
		r.step()
		list := r.open()
		if len(list) != 2 || list[1].Status != bursar.OutgoingSent || r.resources(list[1])[0] != lower[0] {
			t.Errorf("the nonce given back is %s, and open are", lower)
			r.logOpen(5)
		}
		r.resume(byAnn(store.HaltCurrency("TOKEN")))
		r.trouble = false
		r.settle()
		r.must(r.chain.Check())
	})
}

// What is signed already is sent though a transaction with a lower nonce is not signed: one that is to make another
// void.
func TestSignedBytesAreSentBeforeALowerNonceIsSigned(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		r.jammed(false)
		r.halt(shortToken())
		order := r.order(100_000_000, r.chain.Named("coin"))
		r.chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.step()
		r.withoutSigner(func() {
			r.step()
			r.step()
			if list := r.fillers(); len(list) != 1 || list[0].Status != bursar.OutgoingReserved ||
				r.now(order).Status != bursar.WithdrawalSigned {
				t.Fatalf("what makes it void is %+v, the payment behind it %s", list, r.now(order).Status)
			}
			r.chain.ClearFaults()
			r.step()
		})
		if now := r.now(order); now.Status != bursar.WithdrawalBroadcast {
			t.Errorf("it is %s: %s", now.Status, r.errors())
		}
	})
}
