package outgoing_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// No other version is built before the adopted one had as many blocks as a transaction has before its fee is bumped: it
// may be included again.
func TestAnAdoptedPaymentIsWaitedForBeforeItIsMadeAgain(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, first := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		r.Chain.SetRate(30) // so that it is another transaction
		sign := &observed{Signer: r.Signer, outgoingID: lost}
		r.Sender.Signer = sign
		r.Step()
		patience := r.spendNow(lost).SentAt + r.Chain.Capabilities().BumpAfter
		for ; r.height() < patience; r.Blocks(1) {
			if sign.asked > 0 || r.Now(w).TxID != first {
				t.Fatalf("another version is made at height %d, the first has until %d, want 0 and %v", r.height(),
					patience, first)
			}
			r.noted(lost, "another version is built unless it is included again soon")
		}
		if now := r.Now(w); now.TxID == first || now.OutgoingID != lost || sign.asked != 1 {
			t.Errorf("at height %d it is paid by %s of %s", r.height(), now.TxID, now.OutgoingID)
		}
	})
}

// Before another version is signed, it is stored, everything that it uses is reserved, and it is counted. A signer that
// is unavailable is asked for the same version again: no fee is bumped over a version that nobody has signed.
func TestAnotherVersionIsReservedBeforeItIsSigned(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, _ := r.lostAdoptedOf(985_000_000)
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		if r.Chain.SetRate(30); r.Chain.Capabilities().Model == chain.UTXOModel {
			r.Chain.SetRate(200_000) // the change is not enough for the fee
		}
		var fees []string
		kept := &tally{}
		sign := &observed{Signer: r.Signer, outgoingID: lost, err: errAway,
			before: func(request chain.TxRequest, unsigned chain.UnsignedTx) {
				fees = append(fees, unsigned.Fee.String())
				p := r.spendNow(lost)
				var fresh chain.UnsignedTx
				r.Must(json.Unmarshal(p.Unsigned, &fresh))
				asked, err := outgoing.DecodeRequest(p)
				r.Must(err)
				if !reflect.DeepEqual(fresh.Reservations, unsigned.Reservations) || !slices.Equal(fresh.Bytes, unsigned.Bytes) {
					t.Errorf("signed is %+v, recorded %+v, want %+v and %+v", unsigned, fresh, unsigned.Reservations, unsigned.Bytes)
				}
				if !reflect.DeepEqual(asked, request) {
					t.Errorf("the order is %+v, the signer is asked for %+v, want %+v", asked, request, request)
				}
				r.reservedBy(lost, unsigned.Reservations)
				if len(kept.signed) != len(fees) || kept.signed[0] != lost {
					t.Errorf("it is signed %d times, and counted are %v", len(fees), kept.signed)
				}
			}}
		r.Sender.Signer, r.Sender.Marks = sign, kept
		r.waitedFor(lost)
		for range 3 {
			r.Step()
			r.noted(lost, errAway.Error())
			r.Chain.Mine(1)
		}
		if len(fees) != 3 || fees[0] != fees[1] || fees[0] != fees[2] {
			t.Errorf("the signer is asked for fees of %v, want 3 of them and %v and %v", fees, fees[1], fees[2])
		}
		if len(kept.dropped) != 3 || kept.dropped[0] != lost {
			t.Errorf("nothing was signed three times, and discarded are %v", kept.dropped)
		}
		sign.err = nil
		r.Step()
		now := r.Now(w)
		if !slices.Contains(r.Chain.Waiting(), now.TxID) || now.OutgoingID != lost || len(r.version(now.TxID).Raw) == 0 {
			t.Errorf("it is %s by %s, which was not sent", now.Status, now.TxID)
		}
		r.wantNone(alarmBytesUnknown)
		r.noted(lost, "")
		if len(kept.dropped) != 3 {
			t.Errorf("a sent transaction was discarded: %v, want 3 of them", kept.dropped)
		}
	})
}

// If the answer to the commit that stores a version is lost, its bytes may be stored, and are sent: the count of the
// signature stays.
func TestAnotherVersionWhoseCommitIsNotAnsweredIsCounted(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, first := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		r.Chain.SetRate(30)
		kept, stores, breaks := &tally{}, false, true
		r.Sender.Marks = kept
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
			stores = stores || at == store.Running && strings.HasPrefix(what, "INSERT INTO outgoing_versions")
			if at != store.Committed || !stores || !breaks {
				return nil
			}
			breaks = false
			return errors.New("the connection broke")
		}})
		r.waitedFor(lost)
		for range 3 {
			r.Step()
			r.Chain.Mine(1)
		}
		if breaks || r.Now(w).TxID == first || len(kept.signed) == 0 {
			t.Fatalf("no commit was lost, or it is still paid by %s", first)
		}
		if len(kept.dropped) != 0 {
			t.Errorf("counted are %v, and undone %v, want none", kept.signed, kept.dropped)
		}
	})
}

// A version that cannot be counted is not signed.
func TestAnotherVersionThatCannotBeCountedIsNotSigned(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		sign := &observed{Signer: r.Signer, outgoingID: lost}
		r.Sender.Signer, r.Sender.Marks = sign, &tally{err: errors.New("the file of marks is unavailable")}
		r.waitedFor(lost)
		r.Step()
		if sign.asked > 0 {
			t.Error("it was signed, want no signature")
		}
		r.noted(lost, "count the signature", "the file of marks is unavailable")
	})
}

// If the adopted transaction is included again while the other version is built or signed, it counts: the other version
// is not signed any more, or is signed and discarded, and no node gets it.
func TestAnAdoptedPaymentThatIsIncludedWhileItIsReplacedCounts(t *testing.T) {
	for name, late := range map[string]bool{"drafted": false, "signed": true} {
		t.Run(name, func(t *testing.T) {
			onLasting(t, func(t *testing.T, r *harness) {
				w, first := r.lostAdopted()
				lost := r.Now(w).OutgoingID
				r.Trouble = true
				r.Chain.SetRate(30) // so that it is another transaction
				r.waitedFor(lost)
				before := string(r.spendNow(lost).Unsigned)
				back := func() {
					r.Chain.SetRate(10) // at which it was made
					r.Chain.Restore(first)
					r.Chain.Mine(1)
					r.follow()
				}
				sign := &observed{Signer: r.Signer, outgoingID: lost}
				watched := &interrupted{Chain: r.Chain, outgoingID: lost}
				if late {
					sign.before = func(chain.TxRequest, chain.UnsignedTx) { back() }
				} else {
					watched.by = back
				}
				r.Sender.Signer, r.Sender.Chain = sign, watched
				r.Must(r.Sender.Step(ctx, r.Lease))
				if (sign.asked > 0) != late || late && slices.Contains(watched.sent, sign.signed) {
					t.Errorf("the signer was asked %d times, and sent were %v", sign.asked, watched.sent)
				}
				if now := r.Now(w); now.TxID != first || !late && string(r.spendNow(lost).Unsigned) != before {
					t.Errorf("the withdrawal is paid by %s as %s, and %s was included again",
						now.TxID, r.spendNow(lost).Unsigned, first)
				}
				r.Sender.Signer, r.Sender.Chain = r.Signer, r.Chain
				r.Settle()
				r.holdsOnce(w)
			})
		})
	}
}

// A halt that begins while the other version is built holds it back before it is signed, and leaves the reservations as
// they were.
func TestAHaltHoldsBackTheOtherVersionOfAnAdoptedPayment(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		r.waitedFor(lost)
		before := string(r.spendNow(lost).Unsigned)
		sign := &observed{Signer: r.Signer, outgoingID: lost}
		r.Sender.Signer = sign
		r.Sender.Chain = &interrupted{Chain: r.Chain, outgoingID: lost, by: func() { r.Halt(byAnn(store.HaltAll)) }}
		_ = r.Sender.Step(ctx, r.Lease)
		if p := r.spendNow(lost); sign.asked > 0 || string(p.Unsigned) != before {
			t.Errorf("the signer was asked %d times, and the unsigned transaction is %s, want 0 and %v", sign.asked,
				p.Unsigned, before)
		}
		r.noted(lost, "a drill")
		r.Sender.Chain = r.Chain
		r.Resume(byAnn(store.HaltAll))
		r.Blocks(20)
		r.holdsOnce(w)
	})
}

// A process that lost the lease while it signed keeps its count: another process may have sent the same version by now.
func TestASignatureWithoutTheLeaseStaysCounted(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w, first := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		kept := &tally{}
		r.waitedFor(lost)
		r.Sender.Marks = kept
		r.Sender.Signer = &observed{Signer: r.Signer, outgoingID: lost, before: func(chain.TxRequest, chain.UnsignedTx) {
			r.overthrow()
		}}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		if len(kept.signed) != 1 || len(kept.dropped) != 0 || r.Now(w).TxID != first {
			t.Errorf("counted are %v, discarded %v, and it is paid by %s, want 1 of them and none and %v", kept.signed,
				kept.dropped, r.Now(w).TxID, first)
		}
	})
}

// Of two transactions that were reorged out, the one with the higher nonce waits for the other one, which alone is
// signed.
func TestOfTwoThatVanishedTheLowerNonceGoesFirst(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		r.Prepare()
		one, two := r.Order(200_000_000, r.Chain.Named("one")), r.Order(100_000_000, r.Chain.Named("two"))
		before := r.Backup()
		r.Step()
		r.Chain.Mine(1)
		r.Restore(before)
		r.Step()
		first, second := r.Now(one), r.Now(two)
		if first.TxID == "" || second.TxID == "" || first.OutgoingID == second.OutgoingID {
			t.Fatalf("they were not adopted: %+v, %+v", first, second)
		}
		r.Chain.Reorg(1, first.TxID, second.TxID)
		r.Chain.Forget()
		r.Trouble = true
		sign := &observed{Signer: r.Signer, outgoingID: first.OutgoingID, err: errAway}
		r.Sender.Signer = sign
		r.Step()
		r.waitedFor(first.OutgoingID)
		r.Step()
		r.noted(first.OutgoingID, errAway.Error())
		r.noted(second.OutgoingID, "another version is built once the transactions with lower nonces are included")
		if now := r.Now(two); sign.asked != 1 || now.TxID != second.TxID {
			t.Errorf("the signer was asked for the first %d times, and the second is paid by %s, want 1 and %s",
				sign.asked, now.TxID, second.TxID)
		}
		r.Sender.Signer = r.Signer
		r.Blocks(30)
		r.holdsOnce(one, two)
		r.NothingOpen()
	})
}

// The operator pays the fee of another version of a token payment: if the operator funds do not cover it, it is not
// signed.
func TestAnAdoptedTokenPaymentIsMadeAgainWithOperatorFunds(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		token, first := r.adoptedToken()
		r.vanishes(first.TxID)
		r.Recovered()
		r.waitedFor(first.OutgoingID)
		sign := &observed{Signer: r.Signer, outgoingID: first.OutgoingID}
		r.Sender.Signer = sign
		r.Chain.SetRate(dearForTheOperator)
		r.Step()
		r.noted(first.OutgoingID, "operator funds in COIN pay the network fees of tokens")
		if sign.asked > 0 {
			t.Error("it was signed, want no signature")
		}
		r.Chain.SetRate(30)
		r.Blocks(20)
		if got := r.tokensOf("one who wants tokens"); got != token.Amount {
			t.Errorf("%s units of TOKEN were paid of %s", got, token.Amount)
		}
	})
}

// dearForTheOperator is a fee rate at which a token transaction costs more than the operator funds, and less than the
// fee limit.
const dearForTheOperator = 8_200
