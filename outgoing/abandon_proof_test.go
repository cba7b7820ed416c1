package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// oracle is a chain whose answers the test sets: whether a transaction can never be included, and what an address
// holds.
type oracle struct {
	*recorded
	gone bool
	err  error
	held func([]bursar.Amount) []bursar.Amount
}

func (o *oracle) Expired(context.Context, chain.UnsignedTx, string) (bool, error) {
	return o.gone, o.err
}

func (o *oracle) Holdings(ctx context.Context, bases []string, contract string,
	at chain.BlockRef) ([]bursar.Amount, error) {
	list, err := o.Chain.Holdings(ctx, bases, contract, at)
	if o.held != nil && err == nil {
		list = o.held(list)
	}
	return list, err
}

// A payment that no node accepts is given up only on proof: not while no node knows whether it can still be
// included, nor while a node says that it can. Its error gives both reasons.
func TestAPaymentIsGivenUpOnProofAlone(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		r.Settle()
		node := &oracle{recorded: r.record(), err: errors.New("it lags behind")}
		r.Sender.Chain = node
		r.Trouble = true
		r.Chain.Fail(sim.Broadcast, 5, errors.New("no peers"))
		w := r.Order(300_000_000, to)
		want := func(when string, status bursar.WithdrawalStatus, texts ...string) {
			t.Helper()
			r.Step()
			for _, text := range texts {
				if got := r.errors(); !strings.Contains(got, text) {
					t.Errorf("%s the error is %q, want %q", when, got, text)
				}
			}
			if got := r.Now(w).Status; got != status {
				t.Errorf("%s the withdrawal is %s, want %s", when, got, status)
			}
		}
		want("while nobody can say,", bursar.WithdrawalSigned, "find out whether it expired", "it lags behind")
		node.err = nil
		want("while it may be included,", bursar.WithdrawalSigned, "no peers")
		node.err = fmt.Errorf("of that block: %w", chain.ErrPruned)
		want("while its history is gone,", bursar.WithdrawalSigned, "of that block")
		r.WantAlarms("history_pruned")
		first := r.Now(w)
		node.err, node.gone = nil, true
		want("with the proof", bursar.WithdrawalQueued)
		r.WantAlarms()
		if got := r.spendNow(first.OutgoingID); got.Status != bursar.OutgoingAbandoned {
			t.Errorf("its transaction is %s, want %s", got.Status, bursar.OutgoingAbandoned)
		}
		if builds := len(node.built); builds != 1 {
			t.Errorf("%d are built, want 1", builds)
		}
		r.Chain.ClearFaults()
		r.Sender.Chain = r.Chain
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A transaction whose UTXO is lost ends for that reason: it is not sent again, and no error is returned.
func TestALostTransactionIsNotSentAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		deposit, w, _ := r.batchOverADeposit()
		first := r.Now(w)
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Step()
		r.Chain.DoubleSpend(deposit)
		r.Chain.Mine(3)
		r.CatchUp()
		node := r.record()
		for n := 0; n < 5 && r.Now(w).OutgoingID == first.OutgoingID; n++ {
			node.since()
			r.Check(r.Sender.Step(ctx, r.Lease))
		}
		node.wantSent(t, "in the step that ends it")
		got := r.spendNow(first.OutgoingID)
		if got.Status != bursar.OutgoingAbandoned || strings.Contains(got.Error, "broadcast") {
			t.Errorf("it is %s: %q, want %v and no %q", got.Status, got.Error, bursar.OutgoingAbandoned, "broadcast")
		}
	})
}

// If the UTXO that a payment and its voiding transaction both need is lost, both end, and the payment is made from
// other UTXOs.
func TestAVoidingTransactionEndsWithItsLostUTXO(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		deposit, w, to := r.batchOverADeposit()
		w = r.Now(w)
		first := w.OutgoingID
		void, err := r.Sender.Abandon(ctx, first, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
		r.Must(err)
		r.Step()
		if got := r.spendNow(void); got.Status != bursar.OutgoingSent {
			t.Fatalf("the voiding transaction is %s, want %s", got.Status, bursar.OutgoingSent)
		}
		node := r.record()
		r.Chain.SetRate(1000) // no block takes either
		r.Blocks(2)
		noted := r.spendNow(first).Error
		if slices.Contains(node.sent, w.TxID) || !strings.Contains(noted, "it is being made void") {
			t.Errorf("a node is sent %q, and its error is %q, want no %v and %q in it", node.sent, noted, w.TxID,
				"it is being made void")
		}
		r.Chain.SetRate(10)
		r.Sender.Chain = r.Chain
		r.Trouble = true
		r.Chain.Forget()
		r.Chain.Reorg(6, deposit)
		r.Step()
		r.Chain.DoubleSpend(deposit)
		r.Blocks(20)
		for _, id := range []bursar.ID{first, void} {
			if got := r.spendNow(id); got.Status != bursar.OutgoingAbandoned {
				t.Errorf("the %s is %s: %q, want %s", got.Kind, got.Status, got.Error, bursar.OutgoingAbandoned)
			}
		}
		if got := r.Chain.Balance(to, ""); got != w.Amount || r.Now(w).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s was paid, and the withdrawal is %s, want %s and %s",
				got, r.Now(w).Status, w.Amount, bursar.WithdrawalConfirmed)
		}
	})
}

// A transaction that was adopted from a block has no bytes in the database, and it is not known how long it may be
// included again. An operator's query does not give it up, although the chain is past what was built for it.
func TestAnAdoptedTransactionIsNotGivenUpByAQuestion(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		r.CatchUp()
		id := r.Now(w).OutgoingID
		all := &oracle{recorded: &recorded{Chain: r.Chain}, gone: true}
		_, err := r.Sender.Resolve(ctx, id, all, outgoing.Resolution{NeverPaid: true, Reason: "an explorer", Actor: "ann"})
		if !errors.Is(err, outgoing.ErrDisputed) || !strings.Contains(err.Error(), "may still be included") {
			t.Errorf("the answer is %v, want %v and %q in it", err, outgoing.ErrDisputed, "may still be included")
		}
		if got := r.spendNow(id); got.Status != bursar.OutgoingSent || r.Now(w).Status == bursar.WithdrawalQueued {
			t.Errorf("the outgoing transaction is %s, and the withdrawal %s", got.Status, r.Now(w).Status)
		}
	})
}

// A payment that was final and is reorged out, and that is not known to have been sent, is sent again. The customer is
// notified once that it is in progress again.
func TestACustomerIsNotifiedOnceOfAPaymentSentAgain(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Notify(0, false, true, "https://shop.example/account")
		r.Chain.FailBroadcasts(sim.TakenUnknown, 1)
		r.Trouble = true
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Blocks(5)
		if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || r.spendNow(got.OutgoingID).SentAt != 0 {
			t.Fatalf("the withdrawal is %s, want %v and 0", got.Status, bursar.WithdrawalConfirmed)
		}
		txID := r.Now(w).TxID
		r.Undo(txID, txID)
		r.CatchUp()
		before := len(r.Notified(0)[w.ID].Words)
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Must(r.Sender.Step(ctx, r.Lease))
		if words := r.Notified(0)[w.ID].Words; len(words) != before || r.errors() != "\n" {
			t.Errorf("the customer hears %q, %d of it before it is sent again; the error is %q", words, before, r.errors())
		}
		r.Chain.Restore(txID)
		r.Settle()
	})
}

// An address is known to be empty only if the final block is recorded and its node answers for that one address:
// otherwise it rests, and what is there is swept later.
func TestAnAddressIsEmptyOnProofAlone(t *testing.T) {
	for name, unknown := range map[string]func(r *harness, node *oracle){
		"no answer for it": func(_ *harness, node *oracle) {
			node.held = func([]bursar.Amount) []bursar.Amount { return nil }
		},
		"answers for two": func(_ *harness, node *oracle) {
			node.held = func([]bursar.Amount) []bursar.Amount { return make([]bursar.Amount, 2) }
		},
		"it is not recorded yet": func(r *harness, _ *oracle) { r.Do(func(tx *store.Tx) error { return r.finalAhead(tx) }) },
	} {
		t.Run(name, func(t *testing.T) {
			byClock(t, bursartest.Numbered, func(t *testing.T, r *harness, c *bursartest.Clock) {
				r.Step()
				w := r.Wallet(0)
				r.Pay(w.Address, 10_000_000)
				r.Chain.Mine(3)
				r.Step()
				sweep := r.only()
				node := &oracle{recorded: r.record()}
				r.Sender.Chain = node
				r.Chain.SetRate(1000)
				unknown(r, node)
				r.Must(r.Sender.Step(ctx, r.Lease))
				if got := r.spendNow(sweep.ID); got.Status != bursar.OutgoingAbandoned {
					t.Fatalf("the outgoing transaction is %s: %q, want %s", got.Status, got.Error, bursar.OutgoingAbandoned)
				}
				var h store.Holding
				r.View(func(tx *store.Tx) (err error) {
					h, err = tx.Holdings().Get(ctx, r.Chain.Capabilities().ID, w.Address.Base, "")
					return err
				})
				if !h.Due || h.Rests.IsZero() {
					t.Errorf("the holding is %+v", h)
				}
				r.Sender.Chain = r.Chain
				r.Chain.SetRate(1)
				c.Advance(2 * time.Hour)
				r.Blocks(8)
				if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursartest.UnspentFee) {
					t.Errorf("%s stay at the deposit address", got)
				}
			})
		})
	}
}

// finalAhead makes the database know a final block that is not recorded yet.
func (r *harness) finalAhead(tx *store.Tx) error {
	final, latest := r.Chain.Heights()
	return tx.Chains().SetHead(ctx, r.Chain.Capabilities().ID, latest+20, uint64(final)+20)
}
