package outgoing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Which refunds to senders are assigned, and how refunds end that were assigned and are not signed.

// astrayAgain makes another unattributed deposit, after astray.
func (r *harness) astrayAgain() bursar.Deposit {
	r.T.Helper()
	to := r.Wallet(0).Address
	if r.Chain.Capabilities().SharedAddress {
		to.Memo = 4_000_000_000
	}
	pays := []chain.Payment{{Address: to, Amount: bursar.Units(80_000_000)}}
	id := r.Chain.Send(sim.Outside{Payments: pays, Inferred: !to.HasMemo})
	r.Chain.Mine(3)
	r.Step()
	return r.StrandedBy(id)
}

// While a refund waits for its block and no further one may wait, the next one is not assigned, and can be called back
// without a trace.
func TestARefundIsAssignedOnceThereIsAPlace(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		first, second := r.Astray(), r.astrayAgain()
		r.SendBack(first, "one")
		r.SendBack(second, "two")
		for range 3 {
			r.Must(r.Sender.Step(ctx, r.Lease))
		}
		if a, b := r.Resolution(first), r.Resolution(second); a.Status != bursar.ResolutionSigned || !b.OutgoingID.IsZero() {
			t.Errorf("the first is %s, the second is taken up as %s, want %s and 0",
				a.Status, b.OutgoingID, bursar.ResolutionSigned)
		}
		r.Settle()
		r.Settle()
		r.wantSender("one", r.Resolution(first).Amount.String())
		r.wantSender("two", r.Resolution(second).Amount.String())
		r.Must(r.Audit())
	})
}

// There are never more than a hundred open refunds, whatever holds them up.
func TestOpenRefundsAreBounded(t *testing.T) {
	for open, taken := range map[int]bool{99: true, 100: false} {
		t.Run(fmt.Sprint(open), func(t *testing.T) {
			each(t, memoed, func(t *testing.T, r *harness) {
				d := r.Astray()
				r.Do(func(tx *store.Tx) error {
					for range open { // of a currency that is not paid any more
						_, err := tx.Outgoing().Insert(ctx, bursar.OutgoingTx{ID: r.IDs.Next(), Chain: d.Chain, Currency: "GONE",
							Kind: string(chain.KindWithdrawal), Share: bursar.ShareRefund, Base: "elsewhere", Request: []byte("{}")})
						if err != nil {
							return err
						}
					}
					return nil
				})
				r.SendBack(d, "sender")
				r.Must(r.Sender.Step(ctx, r.Lease))
				if got := !r.Resolution(d).OutgoingID.IsZero(); got != taken {
					t.Errorf("with %d open ones it is assigned: %v, want %v", open, got, taken)
				}
			})
		})
	}
}

// A process that lost the lease between two steps assigns neither a refund nor a withdrawal.
func TestALostLeaseAssignsNothing(t *testing.T) {
	for name, waits := range map[string]func(r *harness){
		"refund": func(r *harness) { r.SendBack(r.Astray(), "sender") },
		"withdrawal": func(r *harness) {
			r.Prepare()
			r.Order(100_000_000, r.Chain.Named("outside"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := storetest.Reused(t)
			r := newHarness(t, storetest.Open(t, url), bursartest.UTXOModel)
			waits(r)
			r.overthrow()
			before := contents(t, url)
			if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
			}
			if contents(t, url) != before {
				t.Errorf("it has written something, want %v", before)
			}
		})
	}
}

// A refund that has reserved its resources and is called back releases them with the next step, and ends.
func TestARefundThatIsCalledBackReleasesItsReservations(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.Astray()
		r.SendBack(d, "sender")
		r.withoutSigner(r.Step)
		p := r.spendNow(r.Resolution(d).OutgoingID)
		if p.Status != bursar.OutgoingReserved {
			t.Fatalf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingReserved)
		}
		_, err := r.Unattributed().Cancel(ctx, d.ID, "")
		r.Must(err)
		r.Must(r.Sender.Step(ctx, r.Lease))
		if got := r.spendNow(p.ID); got.Status != bursar.OutgoingAbandoned {
			t.Errorf("after a step the outgoing transaction is %s: %s, want %s",
				got.Status, got.Error, bursar.OutgoingAbandoned)
		}
		r.NothingOpen()
		r.SendBack(d, "another") // with the same nonce or UTXOs
		r.Settle()
		r.wantSender("another", r.Resolution(d).Amount.String())
		r.Must(r.Audit())
	})
}

// A refund that the signer refused raises an alarm; once the refund is called back, the alarm is closed.
func TestARefusedRefundThatIsCalledBackIsNoAlarm(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.Astray()
		r.SendBack(d, "sender")
		real := r.Sender.Signer
		r.Sender.Signer = &recordingMarks{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.WantAlarms("signer_refused")
		_, err := r.Unattributed().Cancel(ctx, d.ID, "")
		r.Must(err)
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.WantAlarms("unattributed")
		r.Sender.Signer = real
		r.NothingOpen()
	})
}

// If a failed refund's block is reorged out and its transaction expires, it has failed as before, and its deposit is
// resolved again.
func TestAFailedRefundThatExpiresHasFailed(t *testing.T) {
	config := memoed
	config.Expiry = 6
	each(t, config, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.Chain.FailBroadcasts(sim.LostSilently, 1000)
		r.reopenFirst(d, first)
		r.Trouble = true
		r.Blocks(20)
		r.Trouble = false
		r.Chain.ClearFaults()
		r.NothingOpen()
		if n := r.Resolution(d); n.ID != first.ID || n.Status != bursar.ResolutionFailed {
			t.Errorf("it is %s: %s, want %v and %v", n.Status, n.Error, first.ID, bursar.ResolutionFailed)
		}
		n := r.SendBack(d, "somebody else")
		r.Settle()
		r.wantSender("sender", "0")
		r.wantSender("somebody else", n.Amount.String())
		r.WantBooks("0", "0", "0")
		r.Must(r.Audit())
	})
}

// If a customer withdraws what a failed payment gave back, and that payment's block is reorged out, the account is
// below zero and frozen until the payment has failed on the next branch as well.
func TestAPaymentThatFailsAgainEndsTheFreeze(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		to := r.Chain.Named("closes its door")
		w := r.Order(600_000_000, to)
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Chain.Close(to)
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalFailed {
			t.Fatalf("the withdrawal is %s, want %s", got, bursar.WithdrawalFailed)
		}
		frozen := func() bool {
			var a bursar.Account
			r.View(func(tx *store.Tx) (err error) {
				a, err = tx.Accounts().Get(ctx, r.Accounts[0])
				return err
			})
			return a.Frozen != ""
		}
		again := r.Order(600_000_000, r.Chain.Named("outside"))
		r.Undo(r.Now(w).TxID)
		r.stepUntilReopened(w)
		if !frozen() {
			t.Error("the account is not frozen while both may be paid")
		}
		r.Settle()
		if frozen() {
			t.Error("the account stays frozen")
		}
		if got := r.Now(again).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("what was ordered again is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Must(r.Audit())
	})
}

// stepUntilReopened lets the follower undo blocks until a withdrawal is in progress again.
func (r *harness) stepUntilReopened(w bursar.Withdrawal) {
	r.T.Helper()
	for range 50 {
		_, err := r.Follower.Step(ctx, r.Lease)
		r.Must(err)
		if r.Now(w).Status == bursar.WithdrawalBroadcast {
			return
		}
	}
	r.T.Fatal("its block is still on the chain")
}
