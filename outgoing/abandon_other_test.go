package outgoing_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// moved returns the UTXOs and nonces that were moved from an outgoing transaction, and the transaction that got them.
func (r *harness) moved(from bursar.ID) (resources []string, to bursar.ID) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		list, err := tx.Reservations().MovedFrom(ctx, from)
		for _, m := range list {
			resources, to = append(resources, m.Resource), m.To
		}
		return err
	})
	return resources, to
}

// unsignedOf returns the unsigned transaction of an outgoing transaction.
func (r *harness) unsignedOf(id bursar.ID) (unsigned chain.UnsignedTx) {
	r.t.Helper()
	r.must(json.Unmarshal(r.spendNow(id).Unsigned, &unsigned))
	return unsigned
}

// abandon makes an outgoing transaction void, and returns the transaction that voids it.
func (r *harness) abandon(id bursar.ID) bursar.ID {
	r.t.Helper()
	by, err := r.sender.Abandon(ctx, id, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
	r.must(err)
	return by
}

// cannotBeVoid checks that an outgoing transaction is not made void, and for which reason.
func (r *harness) cannotBeVoid(id bursar.ID, want error, words string) {
	r.t.Helper()
	before := len(r.open())
	_, err := r.sender.Abandon(ctx, id, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
	if want != nil && !errors.Is(err, want) || err == nil || !strings.Contains(err.Error(), words) {
		r.t.Errorf("the error is %v, and not that %s", err, words)
	}
	if n := len(r.open()); n != before {
		r.t.Errorf("%d transactions are open, and %d were before", n, before)
	}
}

// A voiding transaction takes only the UTXOs that every version of the other one needs. Meanwhile the other one is
// neither sent again nor bumped: its error names the transaction that voids it.
func TestAVoidingTransactionTakesOnlyWhatEveryVersionNeeds(t *testing.T) {
	config := utxoModel
	config.BumpAfter = 2
	each(t, config, func(t *testing.T, r *harness) {
		r.prepare()
		r.pay(bursar.Address{Base: r.hot.Base}, 990_000_000)
		r.blocks(3)
		w := r.order(985_000_000, r.chain.Named("outside"))
		r.step()
		first := r.now(w).OutgoingID
		needed := r.unsignedOf(first).Reservations
		r.trouble = true
		r.chain.SetRate(200_000) // its change is not enough for the fee
		for n := 0; n < 5 && r.versionsOf(first) == 1; n++ {
			r.blocks(1)
		}
		if all := r.unsignedOf(first).Reservations; len(needed) != 1 || len(all) < 2 {
			t.Fatalf("at first it uses %v, later %v", needed, all)
		}
		by := r.abandon(first)
		taken, to := r.moved(first)
		if !slices.Equal(taken, needed) || to != by {
			t.Errorf("taken are %v for %s, every version needs %v and it is made void by %s", taken, to, needed, by)
		}
		r.chain.Forget()
		var offered []string
		r.sender.Chain = recordingChain{r.chain, func(request chain.TxRequest) {
			for _, u := range request.UTXOs {
				offered = append(offered, u.Outpoint)
			}
		}}
		r.step()
		r.sender.Chain = r.chain
		if got := r.unsignedOf(by); !slices.Equal(got.Reservations, needed) || !slices.Equal(offered, needed) {
			t.Errorf("offered are %v, it uses %v, and not just %v", offered, got.Reservations, needed)
		}
		r.noted(first, "it is being made void by outgoing transaction "+by.String())
		if waiting := r.chain.Waiting(); !slices.Equal(waiting, []string{r.spendNow(by).TxID}) {
			t.Errorf("with the nodes are %v", waiting)
		}
		r.cannotBeVoid(first, outgoing.ErrCannotBeVoid, "voiding is already in progress")
		r.cannotBeVoid(by, outgoing.ErrCannotBeVoid, "voiding is already in progress")
		r.chain.SetRate(10)
		r.settle()
		r.holdsOnce(w)
		r.must(r.audit())
	})
}

// recordingChain is a chain that records the requests to build a transaction.
type recordingChain struct {
	*sim.Chain
	seen func(chain.TxRequest)
}

func (d recordingChain) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	d.seen(request)
	return d.Chain.Build(ctx, request)
}

// A voiding transaction that has nothing to take any more is not built, and its error says so.
func TestAVoidingTransactionWithoutUTXOsIsNotBuilt(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, _, _ := r.abandoned()
		_, by := r.moved(w.OutgoingID)
		r.do(func(tx *store.Tx) error { return tx.Reservations().UndoMove(ctx, r.chain.Capabilities().ID, by) })
		r.trouble = true
		r.step()
		r.noted(by, "no UTXO or nonce was moved to the voiding transaction")
		r.blocks(4)
		r.holdsOnce(w)
	})
}

// A transaction that is unsigned or in a block is not made void; one that was signed and reached no node is.
func TestOnlyOpenTransactionsAreMadeVoid(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.trouble = true
		r.sender.Signer = mute{}
		r.step()
		unsigned := r.open()[0]
		r.cannotBeVoid(unsigned.ID, outgoing.ErrNotOpen, string(unsigned.Status))
		r.sender.Signer = r.signer
		r.step()
		r.chain.Mine(1)
		r.step()
		r.cannotBeVoid(r.now(w).OutgoingID, outgoing.ErrNotOpen, "sent")
		r.settle()
		r.chain.FailBroadcasts(sim.LostUnknown, 1000)
		w = r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		if p := r.spendNow(r.now(w).OutgoingID); p.Status != bursar.OutgoingSigned {
			t.Fatalf("it is %s", p.Status)
		}
		r.abandon(r.now(w).OutgoingID)
		r.chain.ClearFaults()
		r.settle()
		r.nothingOpen()
	})
}

// If no UTXO is left to take, or no currency of the chain would pay for it, nothing is requested.
func TestATransactionWithoutUTXOsIsNotMadeVoid(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		deposit, w, _ := r.batchOverADeposit()
		first := r.now(w).OutgoingID
		registry := r.sender.Registry
		var err error
		r.sender.Registry, err = bursar.NewRegistry([]bursar.Currency{{Code: "TOKEN", Chain: bursar.Bitcoin,
			Contract: r.chain.Named("token"), Decimals: 2, Places: 2}})
		r.must(err)
		r.cannotBeVoid(first, nil, "no currency is configured for the native asset")
		r.sender.Registry = registry
		r.trouble = true
		r.chain.Reorg(3, deposit)
		r.chain.DoubleSpend(deposit)
		r.chain.Mine(5)
		r.follow()
		r.cannotBeVoid(first, outgoing.ErrCannotBeVoid, "no UTXO is left that all of its versions need")
		r.settle()
		r.holdsOnce(w)
	})
}

// On a chain whose transactions expire nothing is made void; nor is a transaction with a nonce and known bytes, nor any
// while a halt covers the native asset.
func TestATransactionThatExpiresIsNotMadeVoid(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		r.cannotBeVoid(r.now(w).OutgoingID, outgoing.ErrCannotBeVoid,
			"transactions of chain "+string(r.chain.Capabilities().ID)+" expire")
		r.settle()
	})
	each(t, models["nonce"], func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		r.trouble = true
		r.step()
		lost := r.now(w).OutgoingID
		r.halt(byAnn(store.HaltCurrency("COIN")))
		r.cannotBeVoid(lost, outgoing.ErrCannotBeVoid, "a drill")
		r.resume(byAnn(store.HaltCurrency("COIN")))
		by := r.abandon(lost)
		if list := r.fillers(); len(list) != 1 || list[0].ID != by {
			t.Errorf("it is made void by %s, requested is %+v", by, list)
		}
		r.blocks(30)
		r.holdsOnce(w)
	})
}

// Nothing is built on the change of a transaction that is being made void.
func TestNothingIsBuiltOnTheChangeOfAVoidedTransaction(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		unconfirmed := func() (n int) {
			r.view(func(tx *store.Tx) error {
				usable, err := tx.UTXOs().Spendable(ctx, r.chain.Capabilities().ID, 1<<40, 1<<40, bursar.ID{1}, 100)
				for _, u := range usable {
					if u.Height == 0 {
						n++
					}
				}
				return err
			})
			return n
		}
		if unconfirmed() != 1 {
			t.Fatal("its change cannot be used")
		}
		r.abandon(r.now(w).OutgoingID)
		if n := unconfirmed(); n > 0 {
			t.Errorf("%d outputs in no block can be used", n)
		}
		r.settle()
		r.holdsOnce(w)
	})
}

// If the first transaction is included after all, the one that was to void it ends together with its alarms, and its
// error says why; the UTXOs that it had taken are free.
func TestAVoidingTransactionEndsWithItsAlarms(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		resources, by := r.moved(w.OutgoingID)
		r.sender.Signer = newFlakySigner(r, func() {}).by[stingy]
		r.trouble = true
		r.step()
		r.wantAlarms("signer_refused")
		r.reservedBy(by, resources)
		r.sender.Signer = r.signer
		r.chain.Mine(1)
		r.follow()
		r.once(w, before, to)
		if p := r.spendNow(by); p.Status != bursar.OutgoingAbandoned ||
			p.Error != "outgoing transaction "+w.OutgoingID.String()+" was included after all" {
			t.Errorf("it is %s: %q", p.Status, p.Error)
		}
		r.wantAlarms()
	})
}

// If two transactions that use the same UTXOs are both in blocks, which is a contradiction, neither is settled.
func TestTwoIncludedTransactionsWithOneUTXOAreNotSettled(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		w, _, _ := r.abandoned()
		_, by := r.moved(w.OutgoingID)
		r.chain.Mine(1)
		r.follow()
		r.do(func(tx *store.Tx) error { return tx.Outgoing().Include(ctx, by, "x", 1<<30, false, bursar.Units(1)) })
		r.chain.Mine(3)
		r.follow()
		if err := r.sender.Step(ctx, r.lease); err == nil ||
			!strings.Contains(err.Error(), "share a UTXO and are both in a block") {
			t.Errorf("the step returned %v", err)
		}
		if p := r.spendNow(w.OutgoingID); p.Status == bursar.OutgoingFinal {
			t.Errorf("it is %s", p.Status)
		}
		r.forged = true
	})
}
