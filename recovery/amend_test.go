package recovery_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// byAnn is a halt of everything by an operator.
var byAnn = store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator, Reason: "restored", Actor: "ann"}

// The block that a restored database reads has one of two equal payments. What the journal says of it counts, whoever
// has waited for longer, and whether or not both are of one account: the other one is paid as well.
func TestTheJournalDistinguishesEqualPayments(t *testing.T) {
	for name, account := range map[string]int{"of one account": 0, "of two accounts": 1} {
		t.Run(name, func(t *testing.T) {
			bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				r.Guarded(file)
				paid, waits, before := equals(r, account, false)
				r.Revive(before, file)
				r.CatchUp()
				if got := r.Unclear(); len(got) > 0 {
					t.Errorf("unclear is %+v, want none", got)
				}
				r.Settle()
				bothPaid(r, paid, waits)
			})
		})
	}
}

// An operator resumed a chain, and bore a loss, before the marks showed that the database is an older one and that the
// journal knows what was paid. When that is put back, the withdrawal is the payment's, also if the loss is booked: it
// is neither paid twice nor held for ever.
func TestTheJournalLinksWhatWasResumedTooEarly(t *testing.T) {
	for name, tc := range map[string]struct{ final, held bool }{"booked": {final: true}, "not booked yet": {},
		"booked, and taken up before": {final: true, held: true}, "taken up before": {held: true}} {
		t.Run(name, func(t *testing.T) {
			bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				r.Guarded(file)
				paid, waits, before := equals(r, 1, tc.held)
				r.Restore(before)
				r.Halt(byAnn)
				r.Follower.Current = func() bool { return true }
				r.CatchUp()
				if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 || len(r.Unclear()) > 0 {
					t.Fatalf("taken are %+v, unclear %+v, %v, want one that is settled", taken, r.Unclear(), err)
				}
				if tc.final {
					r.Step()
					if losses(r).Less(paid.Amount) {
						t.Fatalf("%s is booked as lost, want the payment", losses(r))
					}
				}
				r.Guarded(file)
				r.Follower.Wait = bursartest.LongWait
				r.Resume(byAnn)
				r.Step()
				r.Settle()
				bothPaid(r, paid, waits)
			})
		})
	}
}

// The same for a refund to a sender.
func TestTheJournalLinksARefundThatWasResumedTooEarly(t *testing.T) {
	for name, final := range map[string]bool{"booked": true, "not booked yet": false} {
		t.Run(name, func(t *testing.T) {
			bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				r.Guarded(file)
				refund, waits, before := equalRefund(r)
				r.Restore(before)
				r.Halt(byAnn)
				r.Follower.Current = func() bool { return true }
				r.CatchUp()
				if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 || len(r.Unclear()) > 0 {
					t.Fatalf("taken are %+v, unclear %+v, %v, want one that is settled", taken, r.Unclear(), err)
				}
				if final {
					r.Step()
				}
				r.Guarded(file)
				r.Follower.Wait = bursartest.LongWait
				r.Resume(byAnn)
				r.Step()
				r.Settle()
				refunded(r, refund, waits)
			})
		})
	}
}

// Without a journal an operator says that an unclear payment was a loss, and sees later that it paid a withdrawal. They
// name it, also after the block is final: it is confirmed, the loss is booked back, and nothing is paid twice.
func TestAWithdrawalIsLinkedToWhatWasExplainedAsALoss(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		paid, waits, before := equals(r, 1, false)
		other := r.Order(200_000_000, r.Chain.Named("receiver"))
		_, err := r.Withdrawals.Cancel(ctx, other.ID)
		r.Must(err)
		r.Restore(before)
		r.Halt(byAnn)
		r.CatchUp()
		unclear := r.Unclear()
		if len(unclear) != 1 {
			t.Fatalf("unclear is %+v, want the payment", unclear)
		}
		item := unclear[0].Number
		r.Must(r.Resolve(recovery.Answer{Item: item, Rest: store.UsedUpAsLoss, Actor: "ann"}))
		r.Step()
		if losses(r) != paid.Amount {
			t.Fatalf("%s is booked as lost, want %s", losses(r), paid.Amount)
		}
		elsewhere := r.Order(300_000_000, r.Chain.Named("somebody else"))
		for name, a := range map[string]recovery.Answer{
			"nothing":         {},
			"another use":     {Rest: store.UsedForOperator},
			"a use besides":   {Withdrawals: []bursar.ID{paid.ID}, Rest: store.UsedForOperator},
			"another address": {Withdrawals: []bursar.ID{elsewhere.ID}, Note: "they moved"},
			"both for one":    {Withdrawals: []bursar.ID{paid.ID, waits.ID}},
			"twice":           {Withdrawals: []bursar.ID{paid.ID, paid.ID}},
		} {
			a.Item, a.Actor = item, "ann"
			if err := r.Resolve(a); !errors.Is(err, recovery.ErrUnfit) {
				t.Errorf("%s: %v, want %v", name, err, recovery.ErrUnfit)
			}
		}
		_, err = r.Withdrawals.Cancel(ctx, elsewhere.ID)
		if !errors.Is(err, store.ErrRecovering) {
			t.Errorf("a withdrawal is cancelled: %v, want %v", err, store.ErrRecovering)
		}
		r.Must(r.Resolve(recovery.Answer{Item: item, Withdrawals: []bursar.ID{paid.ID}, Actor: "ann"}))
		if now := r.Now(paid); now.Status != bursar.WithdrawalConfirmed || now.TxID != paid.TxID {
			t.Errorf("the withdrawal is %s by %s, want it confirmed by %s", now.Status, now.TxID, paid.TxID)
		}
		again := recovery.Answer{Item: item, Withdrawals: []bursar.ID{paid.ID}, Actor: "ann"}
		if err := r.Resolve(again); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("to name it once more gives %v, want %v", err, recovery.ErrUnfit)
		}
		r.Resume(byAnn)
		r.Recovered()
		r.Settle()
		bothPaid(r, paid, waits)
	})
}

// A transaction paid two equal withdrawals to two addresses. An operator links one of them and books the rest. The
// other one is linked later, whichever the transaction paid first.
func TestEqualPaymentsAreDistinguishedByTheirAddresses(t *testing.T) {
	for _, capabilities := range []chain.Capabilities{numbered, utxoCapabilities} {
		for name, at := range map[string]int{"the first": 0, "the second": 1} {
			t.Run(string(capabilities.ID)+", "+name, func(t *testing.T) {
				r := newHarness(t, capabilities)
				x := r.mineExternal(pays("x", "", 500), pays("y", "", 500))
				found := r.evaluate(x, true)
				two := []bursar.Withdrawal{r.order(ann, "x", "COIN", 500), r.order(bob, "y", "COIN", 500)}
				r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{two[at].ID}, Rest: store.UsedUpAsLoss}))
				r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{two[1-at].ID}}))
				for _, w := range two {
					if now := r.now(w); now.OutgoingID != found.OutgoingID {
						t.Errorf("the payment to %s is %+v, want it made by %s", w.Address, now, found.OutgoingID)
					}
				}
			})
		}
	}
}

// What a transaction that failed, or one that is in no block, moved nowhere explains no withdrawal.
func TestNoWithdrawalIsLinkedToWhatPaidNobody(t *testing.T) {
	for name, failed := range map[string]bool{"it failed": true, "it is in no block": false} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			x := r.mineExternal(pays("x", "", 500), pays("y", "", 1))
			found := r.evaluate(x, true)
			r.Must(r.answer(x, recovery.Answer{Rest: store.UsedUpAsLoss}))
			w := r.order(ann, "x", "COIN", 500)
			r.Do(func(tx *store.Tx) error {
				if failed {
					return tx.Outgoing().Include(ctx, found.OutgoingID, x.TxID, 7, true, x.Fee)
				}
				_, err := tx.Outgoing().Exclude(ctx, r.Capabilities.ID, 7)
				return err
			})
			if err := r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}}); !errors.Is(err, recovery.ErrUnfit) {
				t.Errorf("it is linked: %v, want %v", err, recovery.ErrUnfit)
			}
			r.untouched(w)
		})
	}
}

// The journal says that a transaction paid a withdrawal, and an operator has booked it as a loss. The money of the
// withdrawal is not given back, and the refusal says what to do.
func TestWhatTheJournalSaysIsPaidIsNotGivenBack(t *testing.T) {
	bursartest.On(t, bursartest.UTXOModel, func(t *testing.T, r *bursartest.OneChain) {
		paid, waits, before := equals(r, 1, false)
		r.Restore(before)
		r.Halt(byAnn)
		r.CatchUp()
		x := r.Unclear()[0]
		r.Must(r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
		r.Do(func(tx *store.Tx) error {
			f := store.ForgottenPayment{Chain: x.Chain, Number: 99, OutgoingID: paid.OutgoingID,
				Content: []byte(`{"withdrawals":[{"id":"` + paid.ID.String() + `"}]}`)}
			if err := tx.ForgottenPayments().Note(ctx, f); err != nil {
				return err
			}
			f.KnownAs = x.OutgoingID
			return tx.ForgottenPayments().PutBack(ctx, f)
		})
		r.Recovered()
		if _, err := r.Withdrawals.Cancel(ctx, paid.ID); !errors.Is(err, withdrawal.ErrTooLate) ||
			!strings.Contains(err.Error(), fmt.Sprintf("recovery adopt %d --withdrawal %s", x.Number, paid.ID)) {
			t.Errorf("to cancel it gives %v, want %v and the command", err, withdrawal.ErrTooLate)
		}
		r.Must(r.Resolve(recovery.Answer{Item: x.Number, Withdrawals: []bursar.ID{paid.ID}, Actor: "ann"}))
		if _, err := r.Withdrawals.Cancel(ctx, waits.ID); err != nil {
			t.Errorf("the other one cannot be cancelled: %v", err)
		}
		r.Resume(byAnn)
		r.Settle()
		if got := r.Chain.Balance(paid.Address.Base, ""); got != paid.Amount {
			t.Errorf("the receiver holds %s, want %s", got, paid.Amount)
		}
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}
