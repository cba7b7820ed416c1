package outgoing_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// moved returns the UTXOs and nonces that were moved from an outgoing transaction, and the transaction that got them.
func (r *harness) moved(from bursar.ID) (resources []string, to bursar.ID) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
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
	r.T.Helper()
	r.Must(json.Unmarshal(r.spendNow(id).Unsigned, &unsigned))
	return unsigned
}

// abandon makes an outgoing transaction void, and returns the transaction that voids it.
func (r *harness) abandon(id bursar.ID) bursar.ID {
	r.T.Helper()
	by, err := r.Sender.Abandon(ctx, id, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
	r.Must(err)
	return by
}

// cannotBeVoid checks that an outgoing transaction is not made void, and for which reason.
func (r *harness) cannotBeVoid(id bursar.ID, want error, words string) {
	r.T.Helper()
	before := len(r.Open())
	_, err := r.Sender.Abandon(ctx, id, outgoing.Abandonment{Reason: "stuck", Actor: "ann"})
	if want != nil && !errors.Is(err, want) || err == nil || !strings.Contains(err.Error(), words) {
		r.T.Errorf("the error is %v, and not that %s", err, words)
	}
	if n := len(r.Open()); n != before {
		r.T.Errorf("%d transactions are open, and %d were before", n, before)
	}
}

// A voiding transaction takes only the UTXOs that every version of the other one needs. Meanwhile the other one is
// neither sent again nor bumped: its error names the transaction that voids it.
func TestAVoidingTransactionTakesOnlyWhatEveryVersionNeeds(t *testing.T) {
	config := bursartest.UTXOModel
	config.BumpAfter = 2
	each(t, config, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 990_000_000)
		r.Blocks(3)
		w := r.Order(985_000_000, r.Chain.Named("outside"))
		r.Step()
		first := r.Now(w).OutgoingID
		needed := r.unsignedOf(first).Reservations
		r.Trouble = true
		r.Chain.SetRate(200_000) // its change is not enough for the fee
		for n := 0; n < 5 && r.versionsOf(first) == 1; n++ {
			r.Blocks(1)
		}
		if all := r.unsignedOf(first).Reservations; len(needed) != 1 || len(all) < 2 {
			t.Fatalf("at first it uses %v, later %v, want 1 of them and at least 2", needed, all)
		}
		by := r.abandon(first)
		taken, to := r.moved(first)
		if !slices.Equal(taken, needed) || to != by {
			t.Errorf("taken are %v for %s, every version needs %v and it is made void by %s", taken, to, needed, by)
		}
		r.Chain.Forget()
		var offered []string
		r.Sender.Chain = recordingChain{r.Chain, func(request chain.TxRequest) {
			for _, u := range request.UTXOs {
				offered = append(offered, u.Outpoint)
			}
		}}
		r.Step()
		r.Sender.Chain = r.Chain
		if got := r.unsignedOf(by); !slices.Equal(got.Reservations, needed) || !slices.Equal(offered, needed) {
			t.Errorf("offered are %v, it uses %v, and not just %v", offered, got.Reservations, needed)
		}
		r.noted(first, "it is being made void by outgoing transaction "+by.String())
		if waiting := r.Chain.Waiting(); !slices.Equal(waiting, []string{r.spendNow(by).TxID}) {
			t.Errorf("with the nodes are %v, want %v", waiting, []string{r.spendNow(by).TxID})
		}
		r.cannotBeVoid(first, outgoing.ErrCannotBeVoid, "voiding is already in progress")
		r.cannotBeVoid(by, outgoing.ErrCannotBeVoid, "voiding is already in progress")
		r.Chain.SetRate(10)
		r.Settle()
		r.holdsOnce(w)
		r.Must(r.Audit())
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
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, _, _ := r.abandoned()
		_, by := r.moved(w.OutgoingID)
		r.Do(func(tx *store.Tx) error { return tx.Reservations().UndoMove(ctx, r.Chain.Capabilities().ID, by) })
		r.Trouble = true
		r.Step()
		r.noted(by, "no UTXO or nonce was moved to the voiding transaction")
		r.Blocks(4)
		r.holdsOnce(w)
	})
}

// A transaction that is unsigned or in a block is not made void; one that was signed and reached no node is.
func TestOnlyOpenTransactionsAreMadeVoid(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Prepare()
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Trouble = true
		r.Sender.Signer = bursartest.NoSigner
		r.Step()
		unsigned := r.Open()[0]
		r.cannotBeVoid(unsigned.ID, outgoing.ErrNotOpen, string(unsigned.Status))
		r.Sender.Signer = r.Signer
		r.Step()
		r.Chain.Mine(1)
		r.Step()
		r.cannotBeVoid(r.Now(w).OutgoingID, outgoing.ErrNotOpen, "sent")
		r.Settle()
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		w = r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		if p := r.spendNow(r.Now(w).OutgoingID); p.Status != bursar.OutgoingSigned {
			t.Fatalf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingSigned)
		}
		r.abandon(r.Now(w).OutgoingID)
		r.Chain.ClearFaults()
		r.Settle()
		r.NothingOpen()
	})
}

// If no UTXO is left to take, or no currency of the chain would pay for it, nothing is requested.
func TestATransactionWithoutUTXOsIsNotMadeVoid(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		deposit, w, _ := r.batchOverADeposit()
		first := r.Now(w).OutgoingID
		registry := r.Sender.Registry
		var err error
		r.Sender.Registry, err = bursar.NewRegistry([]bursar.Currency{{Code: "TOKEN", Chain: bursar.Bitcoin,
			Contract: r.Chain.Named("token"), Decimals: 2, Places: 2}})
		r.Must(err)
		r.cannotBeVoid(first, nil, "no currency is configured for the native asset")
		r.Sender.Registry = registry
		r.Trouble = true
		r.Chain.Reorg(3, deposit)
		r.Chain.DoubleSpend(deposit)
		r.Chain.Mine(5)
		r.follow()
		r.cannotBeVoid(first, outgoing.ErrCannotBeVoid, "no UTXO is left that all of its versions need")
		r.Settle()
		r.holdsOnce(w)
	})
}

// On a chain whose transactions expire nothing is made void; nor is a transaction with a nonce and known bytes, nor any
// while a halt covers the native asset.
func TestATransactionThatExpiresIsNotMadeVoid(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		r.Prepare()
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		r.cannotBeVoid(r.Now(w).OutgoingID, outgoing.ErrCannotBeVoid,
			"transactions of chain "+string(r.Chain.Capabilities().ID)+" expire")
		r.Settle()
	})
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		r.Trouble = true
		r.Step()
		lost := r.Now(w).OutgoingID
		r.Halt(byAnn(store.HaltCurrency("COIN")))
		r.cannotBeVoid(lost, outgoing.ErrCannotBeVoid, "a drill")
		r.Resume(byAnn(store.HaltCurrency("COIN")))
		by := r.abandon(lost)
		if list := r.fillers(); len(list) != 1 || list[0].ID != by {
			t.Errorf("it is made void by %s, requested is %+v", by, list)
		}
		r.Blocks(30)
		r.holdsOnce(w)
	})
}

// Nothing is built on the change of a transaction that is being made void.
func TestNothingIsBuiltOnTheChangeOfAVoidedTransaction(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Prepare()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		unconfirmed := func() (n int) {
			r.View(func(tx *store.Tx) error {
				usable, err := tx.UTXOs().Spendable(ctx, r.Chain.Capabilities().ID, 1<<40, 1<<40, bursar.ID{1}, 100)
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
		r.abandon(r.Now(w).OutgoingID)
		if n := unconfirmed(); n > 0 {
			t.Errorf("%d outputs in no block can be used", n)
		}
		r.Settle()
		r.holdsOnce(w)
	})
}

// If the first transaction is included after all, the one that was to void it ends together with its alarms, and its
// error says why; the UTXOs that it had taken are free.
func TestAVoidingTransactionEndsWithItsAlarms(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, before, to := r.abandoned()
		resources, by := r.moved(w.OutgoingID)
		r.Sender.Signer = newFlakySigner(r, func() {}).by[stingy]
		r.Trouble = true
		r.Step()
		r.WantAlarms("signer_refused")
		r.reservedBy(by, resources)
		r.Sender.Signer = r.Signer
		r.Chain.Mine(1)
		r.follow()
		r.once(w, before, to)
		if p := r.spendNow(by); p.Status != bursar.OutgoingAbandoned ||
			p.Error != "outgoing transaction "+w.OutgoingID.String()+" was included after all" {
			t.Errorf("the outgoing transaction is %s: %q, want %s and %q",
				p.Status, p.Error, bursar.OutgoingAbandoned,
				"outgoing transaction "+w.OutgoingID.String()+" was included after all")
		}
		r.WantAlarms()
	})
}

// If two transactions that use the same UTXOs are both in blocks, which is a contradiction, neither is settled.
func TestTwoIncludedTransactionsWithOneUTXOAreNotSettled(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, _, _ := r.abandoned()
		_, by := r.moved(w.OutgoingID)
		r.Chain.Mine(1)
		r.follow()
		r.Do(func(tx *store.Tx) error { return tx.Outgoing().Include(ctx, by, "x", 1<<30, false, bursar.Units(1)) })
		r.Chain.Mine(3)
		r.follow()
		if err := r.Sender.Step(ctx, r.Lease); err == nil ||
			!strings.Contains(err.Error(), "share a UTXO and are both in a block") {
			t.Errorf("the step returned %v, want an error and %q in it", err, "share a UTXO and are both in a block")
		}
		if p := r.spendNow(w.OutgoingID); p.Status == bursar.OutgoingFinal {
			t.Errorf("the outgoing transaction is %s", p.Status)
		}
		r.Forged = true
	})
}
