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

// A payment that no node accepts is given up only on proof: not while no node can tell whether it can still be
// included, nor while a node says that it can. Its error gives both reasons.
func TestAPaymentIsGivenUpOnProofAlone(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		r.settle()
		node := &oracle{recorded: r.record(), err: errors.New("it lags behind")}
		r.sender.Chain = node
		r.trouble = true
		r.chain.Fail(sim.Broadcast, 5, errors.New("no peers"))
		w := r.order(300_000_000, to)
		want := func(when string, status bursar.WithdrawalStatus, texts ...string) {
			t.Helper()
			r.step()
			for _, text := range texts {
				if got := r.errors(); !strings.Contains(got, text) {
					t.Errorf("%s the error is %q, want %q", when, got, text)
				}
			}
			if got := r.now(w).Status; got != status {
				t.Errorf("%s the withdrawal is %s, want %s", when, got, status)
			}
		}
		want("while nobody can say,", bursar.WithdrawalSigned, "find out whether it expired", "it lags behind")
		node.err = nil
		want("while it may be included,", bursar.WithdrawalSigned, "no peers")
		node.err = fmt.Errorf("of that block: %w", chain.ErrPruned)
		want("while its history is gone,", bursar.WithdrawalSigned, "of that block")
		r.wantAlarms("history_pruned")
		first := r.now(w)
		node.err, node.gone = nil, true
		want("with the proof", bursar.WithdrawalQueued)
		r.wantAlarms()
		if got := r.spendNow(first.OutgoingID); got.Status != bursar.OutgoingAbandoned {
			t.Errorf("its transaction is %s", got.Status)
		}
		if builds := len(node.built); builds != 1 {
			t.Errorf("%d are built", builds)
		}
		r.chain.ClearFaults()
		r.sender.Chain = r.chain
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A transaction whose UTXO is lost ends for that reason: it is not sent again, and no error is returned.
func TestALostTransactionIsNotSentAgain(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		deposit, w, _ := r.batchOverADeposit()
		first := r.now(w)
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.step()
		r.chain.DoubleSpend(deposit)
		r.chain.Mine(3)
		r.catchUp()
		node := r.record()
		for n := 0; n < 5 && r.now(w).OutgoingID == first.OutgoingID; n++ {
			node.since()
			r.check(r.sender.Step(ctx, r.lease))
		}
		node.wantSent(t, "in the step that ends it")
		got := r.spendNow(first.OutgoingID)
		if got.Status != bursar.OutgoingAbandoned || strings.Contains(got.Error, "broadcast") {
			t.Errorf("it is %s: %q", got.Status, got.Error)
		}
	})
}

// If the UTXO that a payment and its voiding transaction both need is lost, both end, and the payment is made from
// other UTXOs.
func TestAVoidingTransactionEndsWithItsLostUTXO(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		deposit, w, to := r.batchOverADeposit()
		w = r.now(w)
		first := w.OutgoingID
		void, err := r.sender.Abandon(ctx, first, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
		r.must(err)
		r.step()
		if got := r.spendNow(void); got.Status != bursar.OutgoingSent {
			t.Fatalf("the voiding transaction is %s", got.Status)
		}
		node := r.record()
		r.chain.SetRate(1000) // no block takes either
		r.blocks(2)
		noted := r.spendNow(first).Error
		if slices.Contains(node.sent, w.TxID) || !strings.Contains(noted, "it is being made void") {
			t.Errorf("a node is sent %q, and its error is %q", node.sent, noted)
		}
		r.chain.SetRate(10)
		r.sender.Chain = r.chain
		r.trouble = true
		r.chain.Forget()
		r.chain.Reorg(6, deposit)
		r.step()
		r.chain.DoubleSpend(deposit)
		r.blocks(20)
		for _, id := range []bursar.ID{first, void} {
			if got := r.spendNow(id); got.Status != bursar.OutgoingAbandoned {
				t.Errorf("the %s is %s: %q", got.Kind, got.Status, got.Error)
			}
		}
		if got := r.chain.Balance(to, ""); got != w.Amount || r.now(w).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s was paid, and the withdrawal is %s", got, r.now(w).Status)
		}
	})
}

// A transaction that was adopted from a block has no bytes in the database, and it is not known how long it may be
// included again. An operator's query does not give it up, although the chain is past what was built for it.
func TestAnAdoptedTransactionIsNotGivenUpByAQuestion(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		r.catchUp()
		id := r.now(w).OutgoingID
		all := &oracle{recorded: &recorded{Chain: r.chain}, gone: true}
		_, err := r.sender.Resolve(ctx, id, all, outgoing.Resolution{NeverPaid: true, Reason: "an explorer", Actor: "ann"})
		if !errors.Is(err, outgoing.ErrDisputed) || !strings.Contains(err.Error(), "may still be included") {
			t.Errorf("the answer is %v", err)
		}
		if got := r.spendNow(id); got.Status != bursar.OutgoingSent || r.now(w).Status == bursar.WithdrawalQueued {
			t.Errorf("it is %s, and the withdrawal %s", got.Status, r.now(w).Status)
		}
	})
}

// A payment that was final and is reorged out, and that is not known to have been sent, is sent again. The customer is
// notified once that it is in progress again.
func TestACustomerIsNotifiedOnceOfAPaymentSentAgain(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.notify(0, false, true, "https://shop.example/account")
		r.chain.FailBroadcasts(sim.TakenUnknown, 1)
		r.trouble = true
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		r.blocks(5)
		if got := r.now(w); got.Status != bursar.WithdrawalConfirmed || r.spendNow(got.OutgoingID).SentAt != 0 {
			t.Fatalf("it is %s", got.Status)
		}
		txID := r.now(w).TxID
		r.undo(txID, txID)
		r.catchUp()
		before := len(r.notified(0)[w.ID].words)
		r.must(r.sender.Step(ctx, r.lease))
		r.must(r.sender.Step(ctx, r.lease))
		if words := r.notified(0)[w.ID].words; len(words) != before || r.errors() != "\n" {
			t.Errorf("the customer hears %q, %d of it before it is sent again; the error is %q", words, before, r.errors())
		}
		r.chain.Restore(txID)
		r.settle()
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
		"it is not recorded yet": func(r *harness, _ *oracle) { r.do(func(tx *store.Tx) error { return r.finalAhead(tx) }) },
	} {
		t.Run(name, func(t *testing.T) {
			byClock(t, numbered, func(t *testing.T, r *harness, c *clock) {
				r.step()
				w := r.wallet(0)
				r.pay(w.Address, 10_000_000)
				r.chain.Mine(3)
				r.step()
				sweep := r.only()
				node := &oracle{recorded: r.record()}
				r.sender.Chain = node
				r.chain.SetRate(1000)
				unknown(r, node)
				r.must(r.sender.Step(ctx, r.lease))
				if got := r.spendNow(sweep.ID); got.Status != bursar.OutgoingAbandoned {
					t.Fatalf("it is %s: %q", got.Status, got.Error)
				}
				var h store.Holding
				r.view(func(tx *store.Tx) (err error) {
					h, err = tx.Holdings().Get(ctx, r.chain.Capabilities().ID, w.Address.Base, "")
					return err
				})
				if !h.Due || h.Rests.IsZero() {
					t.Errorf("the holding is %+v", h)
				}
				r.sender.Chain = r.chain
				r.chain.SetRate(1)
				c.jump(2 * time.Hour)
				r.blocks(8)
				if got := r.chain.Balance(w.Address.Base, ""); !got.Less(unspentFee) {
					t.Errorf("%s stay at the deposit address", got)
				}
			})
		})
	}
}

// finalAhead makes the database know a final block that is not recorded yet.
func (r *harness) finalAhead(tx *store.Tx) error {
	final, latest := r.chain.Heights()
	return tx.Chains().SetHead(ctx, r.chain.Capabilities().ID, latest+20, uint64(final)+20)
}
