package outgoing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Which refunds to senders are assigned, and how refunds end that were assigned and are not signed.

// astrayAgain makes another unattributed deposit, after astray.
func (r *harness) astrayAgain() bursar.Deposit {
	r.t.Helper()
	to := r.wallet(0).Address
	if r.chain.Capabilities().SharedAddress {
		to.Memo = 4_000_000_000
	}
	pays := []chain.Payment{{Address: to, Amount: bursar.Units(80_000_000)}}
	id := r.chain.Send(sim.Outside{Payments: pays, Inferred: !to.HasMemo})
	r.chain.Mine(3)
	r.step()
	return r.strandedBy(id)
}

// While a refund waits for its block and no further one may wait, the next one is not assigned, and can be called back
// without a trace.
func TestARefundIsAssignedOnceThereIsAPlace(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		first, second := r.astray(), r.astrayAgain()
		r.sendBack(first, "one")
		r.sendBack(second, "two")
		for range 3 {
			r.must(r.sender.Step(ctx, r.lease))
		}
		if a, b := r.resolution(first), r.resolution(second); a.Status != bursar.ResolutionSigned || !b.OutgoingID.IsZero() {
			t.Errorf("the first is %s, the second is taken up as %s", a.Status, b.OutgoingID)
		}
		r.settle()
		r.settle()
		r.wantSender("one", r.resolution(first).Amount.String())
		r.wantSender("two", r.resolution(second).Amount.String())
		r.must(r.audit())
	})
}

// There are never more than a hundred open refunds, whatever holds them up.
func TestOpenRefundsAreBounded(t *testing.T) {
	for open, taken := range map[int]bool{99: true, 100: false} {
		t.Run(fmt.Sprint(open), func(t *testing.T) {
			each(t, memoed, func(t *testing.T, r *harness) {
				d := r.astray()
				r.do(func(tx *store.Tx) error {
					for range open { // of a currency that is not paid any more
						_, err := tx.Outgoing().Insert(ctx, bursar.OutgoingTx{ID: r.ids.Next(), Chain: d.Chain, Currency: "GONE",
							Kind: string(chain.KindWithdrawal), Share: bursar.ShareRefund, Base: "elsewhere", Request: []byte("{}")})
						if err != nil {
							return err
						}
					}
					return nil
				})
				r.sendBack(d, "sender")
				r.must(r.sender.Step(ctx, r.lease))
				if got := !r.resolution(d).OutgoingID.IsZero(); got != taken {
					t.Errorf("with %d open ones it is assigned: %v", open, got)
				}
			})
		})
	}
}

// A process that lost the lease between two steps assigns neither a refund nor a withdrawal.
func TestALostLeaseAssignsNothing(t *testing.T) {
	for name, waits := range map[string]func(r *harness){
		"refund": func(r *harness) { r.sendBack(r.astray(), "sender") },
		"withdrawal": func(r *harness) {
			r.prepare()
			r.order(100_000_000, r.chain.Named("outside"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := storetest.SQLite(t)
			r := newHarness(t, storetest.Open(t, url), utxoModel)
			waits(r)
			r.overthrow()
			before := contents(t, url)
			if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("the step returned %v", err)
			}
			if contents(t, url) != before {
				t.Error("it has written something")
			}
		})
	}
}

// A refund that has reserved its resources and is called back releases them with the next step, and ends.
func TestARefundThatIsCalledBackReleasesItsReservations(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.astray()
		r.sendBack(d, "sender")
		r.withoutSigner(r.step)
		p := r.spendNow(r.resolution(d).OutgoingID)
		if p.Status != bursar.OutgoingReserved {
			t.Fatalf("it is %s", p.Status)
		}
		_, err := r.unattributed().Cancel(ctx, d.ID, "")
		r.must(err)
		r.must(r.sender.Step(ctx, r.lease))
		if got := r.spendNow(p.ID); got.Status != bursar.OutgoingAbandoned {
			t.Errorf("after a step it is %s: %s", got.Status, got.Error)
		}
		r.nothingOpen()
		r.sendBack(d, "another") // with the same nonce or UTXOs
		r.settle()
		r.wantSender("another", r.resolution(d).Amount.String())
		r.must(r.audit())
	})
}

// A refund that the signer refused raises an alarm; once the refund is called back, the alarm is closed.
func TestARefusedRefundThatIsCalledBackIsNoAlarm(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.astray()
		r.sendBack(d, "sender")
		real := r.sender.Signer
		r.sender.Signer = &diary{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.must(r.sender.Step(ctx, r.lease))
		r.wantAlarms("signer_refused")
		_, err := r.unattributed().Cancel(ctx, d.ID, "")
		r.must(err)
		r.must(r.sender.Step(ctx, r.lease))
		r.wantAlarms("unattributed")
		r.sender.Signer = real
		r.nothingOpen()
	})
}

// If a failed refund's block is reorged out and its transaction expires, it has failed as before, and its deposit is
// resolved again.
func TestAFailedRefundThatExpiresHasFailed(t *testing.T) {
	config := memoed
	config.Expiry = 6
	each(t, config, func(t *testing.T, r *harness) {
		d, first := r.failedRefund()
		r.chain.FailBroadcasts(sim.LostSilently, 1000)
		r.reopenFirst(d, first)
		r.trouble = true
		r.blocks(20)
		r.trouble = false
		r.chain.ClearFaults()
		r.nothingOpen()
		if n := r.resolution(d); n.ID != first.ID || n.Status != bursar.ResolutionFailed {
			t.Errorf("it is %s: %s", n.Status, n.Error)
		}
		n := r.sendBack(d, "somebody else")
		r.settle()
		r.wantSender("sender", "0")
		r.wantSender("somebody else", n.Amount.String())
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}

// If a customer withdraws what a failed payment gave back, and that payment's block is reorged out, the account is
// below zero and frozen until the payment has failed on the next branch as well.
func TestAPaymentThatFailsAgainEndsTheFreeze(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		to := r.chain.Named("closes its door")
		w := r.order(600_000_000, to)
		r.must(r.sender.Step(ctx, r.lease))
		r.chain.Close(to)
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalFailed {
			t.Fatalf("it is %s", got)
		}
		frozen := func() bool {
			var a bursar.Account
			r.view(func(tx *store.Tx) (err error) {
				a, err = tx.Accounts().Get(ctx, r.accounts[0])
				return err
			})
			return a.Frozen != ""
		}
		again := r.order(600_000_000, r.chain.Named("outside"))
		r.undo(r.now(w).TxID)
		r.stepUntilReopened(w)
		if !frozen() {
			t.Error("the account is not frozen while both may be paid")
		}
		r.settle()
		if frozen() {
			t.Error("the account stays frozen")
		}
		if got := r.now(again).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("what was ordered again is %s", got)
		}
		r.must(r.audit())
	})
}

// stepUntilReopened lets the follower undo blocks until a withdrawal is in progress again.
func (r *harness) stepUntilReopened(w bursar.Withdrawal) {
	r.t.Helper()
	for range 50 {
		_, err := r.follower.Step(ctx, r.lease)
		r.must(err)
		if r.now(w).Status == bursar.WithdrawalBroadcast {
			return
		}
	}
	r.t.Fatal("its block is still on the chain")
}
