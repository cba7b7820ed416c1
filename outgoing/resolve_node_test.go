package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// twoNodes is a chain with two endpoints.
func twoNodes() sim.Config {
	config := bursartest.Numbered
	config.Endpoints = []chain.Endpoint{{Name: "near", Host: "near"}, {Name: "far", Host: "far"}}
	return config
}

// unseen has a payment of a token included in a block that this service has not read, while the alarm about its history
// is open.
func (r *harness) unseen(manners sim.Manners) (w bursar.Withdrawal, included chain.BlockRef) {
	r.T.Helper()
	token := r.WithToken()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.Settle()
	r.Chain.SetManners(token.Contract, manners)
	w = r.OrderOf(0, token.Code, 10_000_000, r.Chain.Named("outside"))
	r.Step()
	w = r.Now(w)
	r.Do(func(tx *store.Tx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: r.Chain.Capabilities().ID, Kind: "history_pruned",
			Ref: w.OutgoingID.String(), Message: "x"})
	})
	r.Chain.Mine(1)
	included, err := r.Chain.Find(ctx, w.TxID)
	r.Must(err)
	r.Chain.Mine(1)
	return w, included
}

// What a node shows in a block is recorded as it is there: the block, the fee, and what was delivered. The alarm closes
// at once, and no contradicting statement counts.
func TestAnInclusionThatANodeShowsIsRecordedAsItIs(t *testing.T) {
	each(t, twoNodes(), func(t *testing.T, r *harness) {
		w, included := r.unseen(sim.Manners{Fee: 10_000})
		id := w.OutgoingID
		for name, word := range map[string]outgoing.Resolution{
			"never paid":             {NeverPaid: true, Reason: "absent in an explorer", Actor: "ann"},
			"by another transaction": {Paid: "another", Reason: "an explorer", Actor: "ann"},
		} {
			if _, err := r.Sender.Resolve(ctx, id, r.Chain, word); !errors.Is(err, outgoing.ErrDisputed) ||
				r.spendNow(id).Height > 0 {
				t.Errorf("%s: %v, want %v and at most 0", name, err, outgoing.ErrDisputed)
			}
		}
		r.Chain.Down("near", true) // each endpoint is asked until one shows the block
		onlyRehearsed := errors.New("only rehearsed")
		r.DB.Witness(func(ctx context.Context, tx *store.Tx) error {
			return tx.Acts().Append(ctx, store.Act{Verb: "command"})
		})
		r.DB.Rehearse(onlyRehearsed)
		said, err := r.Sender.Resolve(ctx, id, found{r.Chain, included}, outgoing.Resolution{Paid: w.TxID, Actor: "ann"})
		if !errors.Is(err, onlyRehearsed) || !strings.Contains(said, "paid by transaction "+w.TxID) ||
			r.spendNow(id).Height > 0 {
			t.Errorf("rehearsed it says %q, %v, want the outcome and nothing changed", said, err)
		}
		r.DB.Witness(nil)
		r.DB.Rehearse(nil)
		said, err = r.Sender.Resolve(ctx, id, found{r.Chain, included}, outgoing.Resolution{Paid: w.TxID, Actor: "ann"})
		if err != nil || !strings.Contains(said, "paid by transaction "+w.TxID) ||
			!strings.Contains(said, "as the chain shows") {
			t.Fatalf("%q, %v, want %v in it and %q in it", said, err, "paid by transaction "+w.TxID, "as the chain shows")
		}
		r.Chain.Heal("near")
		resolved := r.spendNow(id)
		r.wantNone("history_pruned")
		r.follow()
		followed := r.spendNow(id)
		if resolved.Height != included.Height || resolved.Fee.IsZero() || resolved.Fee != followed.Fee ||
			resolved.TxID != w.TxID {
			t.Errorf("resolved it is %+v, it is in block %d, and its fee is %s", resolved, included.Height, followed.Fee)
		}
		if len(followed.Delivered) == 0 || string(resolved.Delivered) != string(followed.Delivered) {
			t.Errorf("it delivered %q, and the block shows %q, want some and %v", resolved.Delivered, followed.Delivered,
				string(followed.Delivered))
		}
		r.Settle()
	})
}

// found is a chain that finds a transaction's block, whatever its endpoints do.
type found struct {
	*sim.Chain
	ref chain.BlockRef
}

func (f found) Find(_ context.Context, _ string) (chain.BlockRef, error) { return f.ref, nil }

// If no endpoint shows the content of the block, nothing is recorded, and the error has the answer of each of them.
func TestABlockThatNoEndpointShowsResolvesNothing(t *testing.T) {
	each(t, twoNodes(), func(t *testing.T, r *harness) {
		w, included := r.unseen(sim.Manners{})
		r.Chain.Down("near", true)
		r.Chain.Censor("far", w.TxID)
		_, err := r.Sender.Resolve(ctx, w.OutgoingID, found{r.Chain, included}, outgoing.Resolution{Actor: "ann"})
		if err == nil || !strings.Contains(err.Error(), "does not show transaction "+w.TxID) || !errors.Is(err, sim.ErrNode) {
			t.Errorf("the error is %v, want an error and %v in it and %v", err, "does not show transaction "+w.TxID, sim.ErrNode)
		}
		_, err = r.Sender.Resolve(ctx, w.OutgoingID, struct{ chain.Chain }{found{r.Chain, included}},
			outgoing.Resolution{Actor: "ann"})
		if err == nil || !strings.Contains(err.Error(), "the chain's adapter cannot read a single block") {
			t.Errorf("by a chain without endpoints the error is %v", err)
		}
		if r.spendNow(w.OutgoingID).Height > 0 || !r.alarmed("history_pruned") {
			t.Error("it is resolved all the same")
		}
		r.Chain.Heal("near")
		r.Chain.Heal("far")
		r.Settle()
	})
}

// A transaction that is in a block, unsigned or final cannot be resolved; one that no node has received can.
func TestOnlyOpenTransactionsAreResolved(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Trouble = true
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		w = r.Now(w)
		word := outgoing.Resolution{Paid: w.TxID, Reason: "an explorer", Actor: "ann"}
		if _, err := r.Sender.Resolve(ctx, w.OutgoingID, r.Chain, word); !errors.Is(err, outgoing.ErrDisputed) ||
			!strings.Contains(err.Error(), "may still be included") {
			t.Errorf("what was signed and not sent is %s: %v", r.spendNow(w.OutgoingID).Status, err)
		}
		r.Chain.ClearFaults()
		r.Step()
		r.Chain.Mine(1)
		r.Step()
		for _, status := range []bursar.OutgoingStatus{bursar.OutgoingSent, bursar.OutgoingFinal} {
			_, err := r.Sender.Resolve(ctx, w.OutgoingID, r.Chain, outgoing.Resolution{Actor: "ann"})
			if want := "outgoing transaction is not open and sent: " + string(status); !errors.Is(err, outgoing.ErrNotOpen) ||
				err.Error() != want {
				t.Errorf("the error is %v, and not %s", err, want)
			}
			r.Settle()
		}
	})
}

// A transaction that was sent, replaced or included while a node was asked is not resolved.
func TestATransactionThatChangesWhileANodeIsAskedIsNotResolved(t *testing.T) {
	for name, meanwhile := range map[string]func(r *harness){
		"sent":     func(r *harness) { r.Chain.ClearFaults(); r.Must(r.Sender.Step(ctx, r.Lease)) },
		"replaced": func(r *harness) { r.Chain.SetRate(50); r.Blocks(6); r.Chain.SetRate(10) },
		"included": func(r *harness) { r.Chain.Mine(1); r.follow() },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				r.Prepare()
				r.Settle()
				w := r.Order(100_000_000, r.Chain.Named("outside"))
				r.Trouble = true
				if name == "sent" {
					r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
				}
				r.Step()
				w = r.Now(w)
				once := false
				asked := expired{resolvedBeside{r.Chain, func() {
					if !once {
						once = true
						meanwhile(r)
					}
				}}}
				_, err := r.Sender.Resolve(ctx, w.OutgoingID, asked,
					outgoing.Resolution{NeverPaid: true, Reason: "an explorer", Actor: "ann"})
				const changed = "the transaction was changed in the meantime"
				if !errors.Is(err, outgoing.ErrNotOpen) || !strings.Contains(err.Error(), changed) {
					t.Errorf("the error is %v, want %v and %q in it", err, outgoing.ErrNotOpen, changed)
				}
				if now := r.Now(w); now.OutgoingID != w.OutgoingID || r.spendNow(w.OutgoingID).Status == bursar.OutgoingAbandoned {
					t.Errorf("it was given up: %+v", now)
				}
				r.Settle()
				r.holdsOnce(w)
			})
		})
	}
}

// expired is a node that reports every transaction as one that can never be included.
type expired struct{ resolvedBeside }

func (d expired) Expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (bool, error) {
	_, err := d.resolvedBeside.Expired(ctx, unsigned, txID)
	return true, err
}

// A process that lost the lease while a node was asked raises no alarm: another process may know better.
func TestWithoutTheLeaseNoAlarmAboutHistoryIsRaised(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		w, _, _ := r.unknownFate()
		r.Do(func(tx *store.Tx) error {
			return tx.Alarms().Resolve(ctx, "history_pruned", r.Now(w).OutgoingID.String())
		})
		r.Sender.Chain = resolvedBeside{r.Chain, r.overthrown()}
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		r.WantAlarms()
	})
}

// overthrown gives the lease to another process when it is called for the first time.
func (r *harness) overthrown() func() {
	done := false
	return func() {
		if !done {
			done = true
			r.overthrow()
		}
	}
}
