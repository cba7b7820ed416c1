package outgoing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// toReceiver is the payment of the withdrawals in these tests.
func (r *harness) toReceiver() chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: r.Chain.Named("receiver")}, Amount: bursar.Units(200_000_000)}
}

// paysOutside has the operator pay the receiver from an address of their own, outside the service.
func (r *harness) paysOutside() (hash string) {
	r.T.Helper()
	from := r.Wallet(1).Address
	r.Pay(from, 300_000_000)
	r.Blocks(3)
	hash = r.Chain.ExternalSpend(from.Base, r.toReceiver())
	r.Chain.Mine(4)
	r.Step()
	_, err := r.SettleExternal()
	r.Must(err)
	r.Blocks(2)
	return hash
}

// heldForAnother has a payment put back that can never be included, and that is held because the operator made an equal
// one before, with UTXOs of its own.
func (r *harness) heldForAnother() (w bursar.Withdrawal, own, taken store.ExternalSpend) {
	r.T.Helper()
	hash := ""
	w, first, taken := r.takenBeforePutBackAfter(func() { hash = r.paysOutside() })
	for range 12 {
		r.Chain.Mine(1)
		r.Step()
	}
	own = r.externalSpend(hash)
	if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingSigned || own.Status != store.ExternalSettled {
		r.T.Fatalf("what was put back is %s, want %s, and the own payment is %s", p.Status, bursar.OutgoingSigned,
			own.Status)
	}
	r.noted(first.OutgoingID, hash, fmt.Sprintf("`bursar recovery adopt %d --withdrawal %s`", own.Number, w.ID),
		fmt.Sprintf("`bursar recovery deny %s %s", w.ID, hash))
	if !r.alarmed(recovery.AlarmUnclear) {
		r.T.Error("no alarm says so")
	}
	return w, own, taken
}

// deny is `bursar recovery deny`.
func (r *harness) deny(w bursar.ID, hash string) error {
	return r.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Chains().Lock(ctx, r.Chain.Capabilities().ID); err != nil {
			return err
		}
		assessor := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
		return assessor.Deny(ctx, tx, recovery.Denial{Withdrawal: w, TxID: hash, Note: "a supplier's bill", Actor: "ann"})
	})
}

// A payment that can never be included is held while an operator's own payment may have been it. They can say that it
// was another one, by its hash: then it is made again.
func TestAPaymentThatWasNotMadeByAnotherIsMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, own, taken := r.heldForAnother()
		for name, hash := range map[string]string{"a part of its hash": own.TxID[:20], "one that paid others": taken.TxID} {
			if err := r.deny(w.ID, hash); !errors.Is(err, recovery.ErrUnfit) {
				t.Errorf("%s: it is denied with %v, want %v", name, err, recovery.ErrUnfit)
			}
		}
		r.Must(r.deny(w.ID, own.TxID))
		for range 10 {
			r.Chain.Mine(1)
			r.Step()
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID == own.TxID {
			t.Errorf("the withdrawal is %s by %s, want %s by another one", now.Status, now.TxID, bursar.WithdrawalConfirmed)
		}
		if got, want := r.Chain.Balance(w.Address.Base, ""), bursar.Units(400_000_000); got != want {
			t.Errorf("the receiver holds %s, want %s", got, want)
		}
		r.wantNone(recovery.AlarmUnclear)
		r.NothingOpen()
		r.Must(r.Audit())
		if err := r.deny(w.ID, own.TxID); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("once it is paid it is denied with %v, want %v", err, recovery.ErrUnfit)
		}
	})
}

// They can also say that it was the withdrawal's: nothing is paid again.
func TestAPaymentThatWasMadeByAnotherIsNotMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, own, _ := r.heldForAnother()
		held := r.Now(w).OutgoingID.String()
		r.Do(func(tx *store.Tx) error { // the journal may have another form of it, which may be included
			return tx.Alarms().Raise(ctx, store.Alarm{Kind: recovery.AlarmDiffers, Ref: held, Message: "of a test"})
		})
		answer := recovery.Answer{Item: own.Number, Withdrawals: []bursar.ID{w.ID}, Actor: "ann"}
		if err := r.Resolve(answer); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("while the journal differs it is adopted with %v, want %v", err, recovery.ErrUnfit)
		}
		r.Do(func(tx *store.Tx) error { return tx.Alarms().Resolve(ctx, recovery.AlarmDiffers, held) })
		r.Must(r.Resolve(answer))
		for range 10 {
			r.Chain.Mine(1)
			r.Step()
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != own.TxID {
			t.Errorf("the withdrawal is %s by %s, want %s by %s", now.Status, now.TxID, bursar.WithdrawalConfirmed, own.TxID)
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.wantNone(recovery.AlarmUnclear)
		r.NothingOpen()
		r.Must(r.Audit())
	})
}

// Before the final blocks prove that what was signed can never be included, no other transaction takes its withdrawal.
func TestAPaymentThatMayBeIncludedKeepsItsWithdrawal(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		hash := ""
		w, first, _ := r.takenBeforePutBackAfter(func() { hash = r.paysOutside() })
		err := r.Resolve(recovery.Answer{Item: r.externalSpend(hash).Number, Withdrawals: []bursar.ID{w.ID}, Actor: "ann"})
		if !errors.Is(err, recovery.ErrUnfit) || r.Now(w).OutgoingID != first.OutgoingID {
			t.Errorf("it is adopted with %v, want %v", err, recovery.ErrUnfit)
		}
	})
}

// What used the UTXO of a payment, and made that payment, is a version of it: nobody can deny that.
func TestAVersionOfAPaymentIsNotDenied(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, first, x := r.takenBeforePutBack(r.toReceiver())
		if err := r.deny(w.ID, x.TxID); !errors.Is(err, store.ErrRecovering) {
			t.Errorf("during the recovery it is denied with %v, want %v", err, store.ErrRecovering)
		}
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.noted(first.OutgoingID, x.TxID)
		if p := r.spendNow(first.OutgoingID); strings.Contains(p.Error, "recovery deny") {
			t.Errorf("it names a command that is refused: %s", p.Error)
		}
		if err := r.deny(w.ID, x.TxID); !errors.Is(err, recovery.ErrUnfit) || !strings.Contains(err.Error(), "version") {
			t.Errorf("it is denied with %v, want %v", err, recovery.ErrUnfit)
		}
		r.Do(func(tx *store.Tx) error { // as anybody who can write to the database can
			return tx.ExternalSpends().Deny(ctx, store.Denial{Withdrawal: w.ID, External: x.Number, Note: "no", Actor: "eve"})
		})
		for range 10 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount || r.Now(w).OutgoingID != first.OutgoingID {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// However many external spends went to one address, whether one of them made a payment is known.
func TestAPaymentToABusyAddressIsMadeAgain(t *testing.T) {
	for name, made := range map[string]bool{"none of them made it": false, "the last one made it": true} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
				w, first, x := r.takenBeforePutBack()
				r.Do(func(tx *store.Tx) error {
					for i := range 2_001 {
						paid := r.toReceiver()
						if !made || i < 2_000 {
							paid.Address.Memo, paid.Address.HasMemo = uint32(i), true
						}
						payments, err := json.Marshal([]chain.Payment{paid})
						r.Must(err)
						if err := tx.ExternalSpends().Put(ctx, store.ExternalSpend{Chain: x.Chain, TxID: fmt.Sprintf("busy %d", i),
							Base: x.Base, Height: x.Height, MadeAt: x.MadeAt, Reservations: []byte("[]"), Payments: payments,
							Status: store.ExternalSettled}); err != nil {
							return err
						}
					}
					return nil
				})
				for range 12 {
					r.Chain.Mine(1)
					r.Step()
				}
				want := bursar.OutgoingAbandoned
				if made {
					want = bursar.OutgoingSigned
					r.noted(first.OutgoingID, "busy 2000")
				}
				if p := r.spendNow(first.OutgoingID); p.Status != want {
					t.Errorf("it is %s, want %s: %s; the withdrawal is %s", p.Status, want, p.Error, r.Now(w).Status)
				}
			})
		})
	}
}

// A refund that can never be included ends, and is queued again. It is not made again while an external spend may have
// made it: it can be cancelled, and the deposit kept, or refunded with a note that names the other payment.
func TestARefundThatAnExternalSpendMayHaveMadeIsDecidedByItsResolution(t *testing.T) {
	for name, keeps := range map[string]bool{"it was the refund": true, "it was another payment": false} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				r.Guarded(file)
				d := r.Astray()
				r.Settle()
				n := r.SendBack(d, "sender")
				x := r.takenOnceSigned(file, func() bursar.ID { return r.Resolution(d).OutgoingID },
					chain.Payment{Address: n.Address, Amount: n.Amount})
				first := r.Resolution(d).OutgoingID
				for range 12 {
					r.Chain.Mine(1)
					r.Step()
				}
				now := r.Resolution(d)
				if p := r.spendNow(first); p.Status != bursar.OutgoingAbandoned || now.Status != bursar.ResolutionQueued {
					t.Fatalf("what was put back is %s, and the refund %s, want %s and %s: %s", p.Status, now.Status,
						bursar.OutgoingAbandoned, bursar.ResolutionQueued, p.Error)
				}
				r.noted(now.OutgoingID, x.TxID, "cancel this refund")
				_, err := r.Unattributed().Cancel(ctx, d.ID, "it was paid")
				r.Must(err)
				r.Step()
				if keeps {
					_, err = r.Unattributed().Keep(ctx, d.ID, "it was paid")
				} else {
					again := unattributed.RefundRequest{Deposit: d.ID, To: n.Address.String()}
					if _, err := r.Unattributed().Refund(ctx, again); !errors.Is(err, unattributed.ErrTooLate) {
						t.Errorf("it is refunded without a note: %v, want %v", err, unattributed.ErrTooLate)
					}
					again.Note = x.TxID + " was a supplier's bill"
					_, err = r.Unattributed().Refund(ctx, again)
				}
				r.Must(err)
				for range 12 {
					r.Chain.Mine(1)
					r.Step()
				}
				want := n.Amount
				if !keeps {
					var err error
					want, err = want.Add(r.Resolution(d).Amount)
					r.Must(err)
				}
				if got := r.Chain.Balance(n.Address.Base, ""); got != want {
					t.Errorf("the sender holds %s, want %s", got, want)
				}
				r.NothingOpen()
				r.Must(r.Audit())
			})
		})
	}
}

// A refund that can never be included, and that no external spend may have made, is made again.
func TestARefundThatNothingMadeIsMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		d := r.Astray()
		r.Settle()
		n := r.SendBack(d, "sender")
		r.takenOnceSigned(file, func() bursar.ID { return r.Resolution(d).OutgoingID })
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if got := r.Chain.Balance(n.Address.Base, ""); got != n.Amount || r.Resolution(d).Status != bursar.ResolutionDone {
			t.Errorf("the sender holds %s, want %s, and the refund is %s", got, n.Amount, r.Resolution(d).Status)
			r.noted(r.Resolution(d).OutgoingID, "no such error")
		}
	})
}
