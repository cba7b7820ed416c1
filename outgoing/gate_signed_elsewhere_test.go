package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// journal is a journal that reports which transaction already pays a withdrawal.
type journal struct {
	by   bursar.ID
	fail error
}

func (*journal) Sign(context.Context, store.Lease, bursar.ID) (unsigned func(), err error) {
	return func() {}, nil
}

func (*journal) Signed(bursar.ChainID, bursar.ID) bool { return false }

func (*journal) NeverSigned(bursar.ChainID, bursar.ID) {}

func (*journal) Busy() bool { return false }

func (*journal) KeepUnsigned(context.Context, bursar.ChainID) error { return nil }

func (*journal) Used(context.Context, *store.Tx, bursar.OutgoingTx, []string) ([]chain.UnsignedTx, error) {
	return nil, nil
}

func (j *journal) PaidBy(context.Context, *store.Tx, bursar.OutgoingTx, []bursar.ID) (bursar.ID, error) {
	return j.by, j.fail
}

// A payment that another transaction makes according to the journal outside the database is not signed, nor is any
// while the journal cannot be read; a payment that no other transaction in the journal makes is signed.
func TestAPaymentThatTheJournalHasIsNotSigned(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		kept := &journal{by: bursar.ID{7}}
		r.Sender.Marks = kept
		signed := 0
		r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) { signed++ }}
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		r.Trouble = true
		r.Step()
		if text := r.errors(); !strings.Contains(text, bursar.ID{7}.String()+" already pays it") || signed != 0 {
			t.Errorf("%d were signed, and the error is %q, want %v in it and 0", signed, text,
				bursar.ID{7}.String()+" already pays it")
		}
		kept.by, kept.fail = bursar.ID{}, errors.New("the file is unavailable")
		r.Step()
		if text := r.errors(); !strings.Contains(text, "the file is unavailable") || signed != 0 {
			t.Errorf("%d were signed, and the error is %q, want %q in it and 0", signed, text, "the file is unavailable")
		}
		kept.fail = nil
		r.Step()
		if now := r.Now(w); now.Status != bursar.WithdrawalBroadcast || signed != 1 {
			t.Errorf("the withdrawal is %s, and %d were signed, want %s and 1",
				now.Status, signed, bursar.WithdrawalBroadcast)
		}
	})
}

// A withdrawal that was changed in the database is not even signed.
func TestAChangedWithdrawalIsNotSigned(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		r.Settle()
		r.Trouble, r.Forged = true, true
		w := r.Order(1_000_000, r.Chain.Named("customer"))
		r.withoutSigner(r.Step)
		attack(`UPDATE withdrawals SET amount = '2000000' WHERE id = $1`, w.ID)
		r.Sender.Signer = watched{r.Signer, func(chain.UnsignedTx) { t.Error("it was signed") }}
		for range 3 {
			r.Step()
		}
	})
}

// A payment is not signed while one with a lower nonce is unsigned; it keeps its own nonce meanwhile, and its error
// says what it waits for.
func TestNoncesAreSignedInOrder(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		first, second := r.Order(1_000_000, r.Chain.Named("first")), r.Order(1_000_000, r.Chain.Named("second"))
		r.Trouble = true
		r.withoutSigner(r.Step)
		waits, times := r.Now(first).OutgoingID, 0
		unsigned := r.spendNow(r.Now(second).OutgoingID).Unsigned
		r.Sender.Signer = refusing{r.Signer, waits, &times}
		node := r.sentOnly()
		for range 2 {
			r.Step()
		}
		if node.builds != 0 {
			t.Errorf("%d were built again, want 0", node.builds)
		}
		now := r.spendNow(r.Now(second).OutgoingID)
		if now.Status != bursar.OutgoingReserved || string(now.Unsigned) != string(unsigned) ||
			!strings.Contains(now.Error, waits.String()) {
			t.Errorf("the second is %s: %q, want %v and %v and %v in it", now.Status, now.Error, bursar.OutgoingReserved,
				string(unsigned), waits.String())
		}
		r.Sender.Signer = r.Signer
		r.Step()
		r.Step()
		if a, b := r.Now(first).Status, r.Now(second).Status; a != bursar.WithdrawalBroadcast || b != a {
			t.Errorf("then they are %s and %s", a, b)
		}
	})
}

// A nonce that a payment releases because of a halt is taken by one that had reserved a higher nonce: no signed
// transaction waits behind it.
func TestAReleasedNonceIsTakenByTheNext(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Fund()
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
		r.Settle()
		r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("tokens"))
		r.Trouble = true
		r.withoutSigner(func() {
			r.Step()
			r.Order(1_000_000, r.Chain.Named("coin"))
			r.Step()
		})
		if list := r.reserved(); len(list) != 2 || list[0].Currency != "TOKEN" {
			t.Fatalf("reserved have %+v, want 2 of them and %q", list, "TOKEN")
		}
		lower := r.resources(r.reserved()[0])
		r.Halt(byAnn(store.HaltCurrency("TOKEN")))
		r.Step()
		r.Step()
		list := r.Open()
		if len(list) != 2 || list[1].Status != bursar.OutgoingSent || r.resources(list[1])[0] != lower[0] {
			t.Errorf("the nonce given back is %s, and open are, want 2 of them and %v and %v", lower, bursar.OutgoingSent,
				lower[0])
			r.LogOpen(5)
		}
		r.Resume(byAnn(store.HaltCurrency("TOKEN")))
		r.Trouble = false
		r.Settle()
		r.Must(r.Chain.Check())
	})
}

// A signed transaction is sent although a transaction with a lower nonce, which is to void another one, is not signed.
func TestSignedBytesAreSentBeforeALowerNonceIsSigned(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		r.jammed(false)
		r.Halt(shortToken())
		order := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Step()
		r.withoutSigner(func() {
			r.Step()
			r.Step()
			if list := r.fillers(); len(list) != 1 || list[0].Status != bursar.OutgoingReserved ||
				r.Now(order).Status != bursar.WithdrawalSigned {
				t.Fatalf("the voiding transaction is %+v, the payment behind it %s, want 1 of them and %v and %v", list,
					r.Now(order).Status, bursar.OutgoingReserved, bursar.WithdrawalSigned)
			}
			r.Chain.ClearFaults()
			r.Step()
		})
		if now := r.Now(order); now.Status != bursar.WithdrawalBroadcast {
			t.Errorf("the withdrawal is %s: %s, want %v", now.Status, r.errors(), bursar.WithdrawalBroadcast)
		}
	})
}

// A withdrawal is held back because the journal says that a transaction has paid it, which an operator took for a loss:
// its error names the command that records it.
func TestAHeldWithdrawalNamesTheCommandThatLinksIt(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		id := r.Chain.Capabilities().ID
		r.Do(func(tx *store.Tx) error {
			x := store.ExternalSpend{Chain: id, TxID: "theirs", Height: 1, Status: store.ExternalSettled,
				OutgoingID: bursar.ID{8}}
			theirs := bursar.OutgoingTx{ID: x.OutgoingID, Chain: id, Kind: string(chain.KindWithdrawal), Currency: w.Currency,
				Request: []byte(`{"kind":"withdrawal"}`), Unsigned: []byte(`{}`), TxID: x.TxID, Height: x.Height}
			err := errors.Join(tx.Outgoing().InsertAdopted(ctx, theirs, nil), tx.ExternalSpends().Put(ctx, x))
			if err != nil {
				return err
			}
			x, err = tx.ExternalSpends().ByTx(ctx, id, x.TxID)
			if x.Booked = store.UsedUpAsLoss; err == nil {
				err = tx.ExternalSpends().Set(ctx, x)
			}
			f := store.ForgottenPayment{Chain: id, Number: 99, OutgoingID: bursar.ID{7},
				Content: []byte(`{"withdrawals":[{"id":"` + w.ID.String() + `"}]}`)}
			err = errors.Join(err, tx.ForgottenPayments().Note(ctx, f))
			f.KnownAs = x.OutgoingID
			return errors.Join(err, tx.ForgottenPayments().PutBack(ctx, f))
		})
		r.Trouble = true
		for _, by := range []bursar.ID{{7}, {}} { // that transaction has left the journal once it is final
			r.Sender.Marks = &journal{by: by}
			r.Step()
			if text := r.errors(); !strings.Contains(text, "recovery adopt 1 --withdrawal "+w.ID.String()) {
				t.Errorf("the journal names %s, and the error is %q, want the command in it", by, text)
			}
		}
		r.Sender.Marks = nil
		r.Step()
		r.Settle()
	})
}
