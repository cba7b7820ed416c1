package recovery_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// refundForgotten has a refund signed that reaches no block, and restores a database from before it was requested.
// It calls before, and then has the journal looked at and the refund put back.
func refundForgotten(
	r *bursartest.OneChain, before func(d bursar.Deposit),
) (d bursar.Deposit, first bursar.Resolution) {
	r.T.Helper()
	d, first, backup, file := sendsARefund(r)
	r.Chain.Forget()
	r.Restore(backup)
	before(d)
	r.Guarded(file)
	r.Follower.Wait = bursartest.LongWait
	r.Step()
	return d, first
}

// The database may lack the deposit too, and reads it again under another ID, by which the journal does not know it. So
// what is unclear names the transaction that it came by.
func TestAnUnclearRefundNamesWhatItsDepositCameBy(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d, _ := refundForgotten(r, func(bursar.Deposit) {})
		unclear, came := r.Unclear(), fmt.Sprintf("which came by %s/%d", d.TxID, d.Output)
		if len(unclear) != 1 || !strings.Contains(unclear[0].Reason, came) {
			t.Errorf("unclear is %+v, want %q in its reason", unclear, came)
		}
	})
}

// bearsTheLoss has the operator say of the only unclear payment that it was a loss, and ends the recovery.
func bearsTheLoss(r *bursartest.OneChain) {
	r.T.Helper()
	unclear := r.Unclear()
	if len(unclear) != 1 {
		r.T.Fatalf("unclear is %+v, want the refund", unclear)
	}
	r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
	r.Recovered()
}

// onlyKept checks that a deposit whose refund the journal has can only be kept, and that this makes up for the loss.
func onlyKept(r *bursartest.OneChain, d bursar.Deposit, first bursar.Resolution) {
	r.T.Helper()
	_, err := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("other")})
	if !errors.Is(err, unattributed.ErrTooLate) {
		r.T.Errorf("to refund it gives %v, want %v", err, unattributed.ErrTooLate)
	}
	if _, err := r.Unattributed().AssignToAccount(ctx, d.ID, r.Accounts[0], ""); !errors.Is(err,
		unattributed.ErrTooLate) {
		r.T.Errorf("to assign it gives %v, want %v", err, unattributed.ErrTooLate)
	}
	if _, err := r.Unattributed().Keep(ctx, d.ID, ""); err != nil {
		r.T.Errorf("to keep it gives %v", err)
	}
	r.Settle()
	if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != first.Amount {
		r.T.Errorf("the sender holds %s, want %s", got, first.Amount)
	}
	if got := r.Chain.Balance(r.Chain.Named("other"), ""); !got.IsZero() {
		r.T.Errorf("it was refunded again: %s", got)
	}
	r.Must(r.Audit())
	r.Must(r.Reconcile())
}

// A refund was signed and is in no block, and the database has forgotten its request. It is put back under its own ID,
// and the operator bears a loss: nobody may refund or assign the deposit again.
func TestARefundThatWasPutBackIsNotMadeAgain(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, first := refundForgotten(r, func(bursar.Deposit) {})
		bearsTheLoss(r)
		onlyKept(r, d, first)
	})
}

// holdsTheNext requests the refund of a deposit again, for another address, before an operator takes the forgotten
// first one for a loss: it is not paid, and once it is cancelled, the deposit can only be kept.
func holdsTheNext(r *bursartest.OneChain, d bursar.Deposit, first bursar.Resolution) {
	r.T.Helper()
	r.SendBack(d, "other")
	bearsTheLoss(r)
	for range 12 {
		r.Step()
		r.Chain.Mine(1)
	}
	if got := r.Chain.Balance(r.Chain.Named("other"), ""); !got.IsZero() {
		r.T.Fatalf("it was refunded again: %s", got)
	}
	_, err := r.Unattributed().Cancel(ctx, d.ID, "")
	r.Must(err)
	r.Step()
	onlyKept(r, d, first)
}

// The same where the refund is requested again before the operator has said what the first one was.
func TestARefundThatWasPutBackHoldsTheNextOne(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, first := refundForgotten(r, func(bursar.Deposit) {})
		holdsTheNext(r, d, first)
	})
}

// The same where it was requested again before the journal was looked at, for another address, or for another amount,
// as where fees have changed since. The first one may be out: it is sent again, and the second one ends.
func TestARefundThatWasPutBackEndsAnotherOne(t *testing.T) {
	for name, request := range map[string]unattributed.RefundRequest{"another address": {To: "other"},
		"another amount": {To: "sender", FromOperatorFunds: true}} {
		for when, held := range map[string]bool{"requested": false, "reserved": true} {
			t.Run(name+", "+when, func(t *testing.T) {
				bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
					d, first := refundForgotten(r, func(d bursar.Deposit) {
						again := request
						again.Deposit, again.To = d.ID, r.Chain.Named(request.To)
						_, err := r.Unattributed().Refund(ctx, again)
						r.Must(err)
						if held {
							r.Sender.Marks = nil
							r.Trouble = true
							r.HoldBack("")
							r.Trouble = false
							r.Restart()
						}
					})
					if n := r.Resolution(d); n.Status != bursar.ResolutionFailed {
						t.Errorf("the second refund is %s, want %s", n.Status, bursar.ResolutionFailed)
					}
					said(r, "unattributed", "keep the deposit if that one is paid", "resolve the deposit again")
					bearsTheLoss(r)
					onlyKept(r, d, first)
				})
			})
		}
	}
}

// said checks that the only alarm of a kind says one thing, and not another.
func said(r *bursartest.OneChain, kind, says, not string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.Alarms().OfKind(ctx, kind)
		if len(list) != 1 || !strings.Contains(list[0].Message, says) || strings.Contains(list[0].Message, not) {
			r.T.Errorf("alarms are %+v, want one with %q and without %q", list, says, not)
		}
		return err
	})
}

// Another refund of the deposit is sent when the journal is looked at. The first one is not sent again, and the alarm
// about it does not have the operator keep a deposit that is being refunded.
func TestARefundThatIsNotPutBackKeepsNothing(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, _ := refundForgotten(r, func(d bursar.Deposit) {
			r.Sender.Marks = nil
			r.SendBack(d, "other")
			r.Step()
		})
		if n := r.Resolution(d); n.Status != bursar.ResolutionSigned {
			t.Errorf("the second refund is %s, want %s", n.Status, bursar.ResolutionSigned)
		}
		said(r, recovery.AlarmNotPutBack, "which came by "+d.TxID, "keep")
	})
}
