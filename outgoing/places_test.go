package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// underWay counts the open outgoing transactions of a kind that are built or sent and in no block.
func (r *harness) underWay(kind chain.Kind) (n int) {
	r.t.Helper()
	for _, p := range r.open() {
		if p.Kind == string(kind) && p.Status != bursar.OutgoingNew && p.Height == 0 {
			n++
		}
	}
	return n
}

// orders requests a number of withdrawals of one unit each.
func (r *harness) orders(n int, code bursar.CurrencyCode) (list []bursar.Withdrawal) {
	r.t.Helper()
	for i := range n {
		list = append(list, r.orderOf(0, code, 1_000, r.chain.Named(fmt.Sprint(code, i))))
	}
	return list
}

// funded gives account 0 and the hot wallet all three currencies.
func (r *harness) funded() {
	r.t.Helper()
	r.withTokens()
	r.fund()
	for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
		r.give(code, bursar.Address{Base: r.hot.Base}, 1_000_000)
		r.give(code, r.walletOf(0, code).Address, 1_000_000)
	}
	r.settle()
}

// On a UTXO chain no place is kept for gas: of ten places, one is for refunds and the others are for withdrawals, and
// each step takes one.
func TestOfUTXOsAllPlacesButOneAreForWithdrawals(t *testing.T) {
	config := utxoModel
	config.MaxPayments = 1
	each(t, config, func(t *testing.T, r *harness) {
		r.step()
		for range 14 {
			r.pay(r.wallet(0).Address, 30_000_000)
		}
		r.chain.Mine(3)
		r.step()
		for i := range 14 {
			r.order(1_000_000, r.chain.Named(fmt.Sprint(i)))
		}
		r.step()
		if got := r.underWay(chain.KindWithdrawal); got != 1 {
			t.Errorf("after one step %d are under way", got)
		}
		for range 12 {
			r.step()
		}
		if got := r.underWay(chain.KindWithdrawal); got != 9 || len(r.open()) != 9 {
			t.Errorf("after more steps %d are under way, and %d open", got, len(r.open()))
		}
		r.settle()
		r.must(r.audit())
	})
}

// One currency has all places if no other one waits, and places in use are kept when a second currency waits.
func TestPlacesGoToTheCurrenciesThatWait(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.funded()
		tokens := r.orders(12, "TOKEN")
		r.step()
		if got := r.statuses(tokens...); got[bursar.WithdrawalBroadcast] != 7 {
			t.Errorf("of one currency %v are taken up", got)
		}
		others := r.orders(12, "OTHER")
		r.blocks(1)
		one, two := r.statuses(tokens...)[bursar.WithdrawalBroadcast], r.statuses(others...)[bursar.WithdrawalBroadcast]
		if one != 11 && one != 10 || two != 4 && two != 3 || one+two != 14 {
			t.Errorf("with the next block %d of the first and %d of the second are sent", one, two)
		}
		r.settle()
	})
}

// If only one transaction may be in progress, the currencies take turns, and so do payments and gas.
func TestWithOnePlaceEachCurrencyHasItsTurn(t *testing.T) {
	config := numbered
	config.MaxPending = 1
	each(t, config, func(t *testing.T, r *harness) {
		r.funded()
		list := append(r.orders(6, "COIN"), append(r.orders(6, "TOKEN"), r.orders(6, "OTHER")...)...)
		w := r.walletOf(1, "TOKEN")
		r.give("TOKEN", w.Address, 5_000) // its sweep needs gas
		r.chain.Mine(3)
		gassed := false
		for range 12 {
			r.step()
			if n := r.underWay(chain.KindWithdrawal) + r.underWay(chain.KindGasTopUp); n > 1 {
				t.Errorf("%d are under way", n)
			}
			gassed = gassed || r.underWay(chain.KindGasTopUp) > 0
			r.chain.Mine(1)
		}
		for i := range 3 {
			if got := r.statuses(list[6*i : 6*i+6]...); got[bursar.WithdrawalQueued] == 6 {
				t.Errorf("in 12 blocks nothing of %s was paid", list[6*i].Currency)
			}
		}
		if !gassed {
			t.Error("in 12 blocks no gas was sent")
		}
		r.settle()
	})
}

// Of ten places for the nonces of the hot wallet two are for gas: that many top-ups are in progress, and one that is
// not needed any more takes no place from another.
func TestTopUpsHaveTheirOwnPlaces(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		r.restart()
		// From now on, every fourth step begins with sweeps, which request gas before the top-ups have their turn.
		for range 3 {
			r.step()
		}
		r.jam(6)
		nobody := r.chain.Named("nobody")
		pointless := chain.TxRequest{ID: r.ids.Next(), Kind: chain.KindGasTopUp, From: r.hot,
			Change: chain.Source{Base: nobody}, MaxFee: r.sender.MaxFee,
			Payments: []chain.Payment{{Address: bursar.Address{Base: nobody}, Amount: bursar.Units(1)}}}
		r.do(func(tx *store.Tx) error {
			return outgoing.Insert(ctx, tx, r.chain.Capabilities().ID, pointless, "COIN")
		})
		r.trouble = true
		node := r.record()
		for range 4 {
			r.check(r.sender.Step(ctx, r.lease))
			if n := r.underWay(chain.KindGasTopUp); n != 2 {
				t.Errorf("%d top-ups are under way", n)
			}
		}
		if got := r.spendNow(pointless.ID); got.Status != bursar.OutgoingAbandoned || got.Error != "" {
			t.Errorf("what is pointless is %s: %q", got.Status, got.Error)
		}
		if n := len(node.sent); n != 2 {
			t.Errorf("%d are sent", n)
		}
		r.blocksWithoutSweeps(20)
		if open := r.open(); len(open) > 0 {
			t.Errorf("open are %d", len(open))
		}
	})
}

// Of payments that an adapter refuses for an unforeseen reason, no more are assigned than one currency has places, and
// one step tries to build eight of them. Others are paid meanwhile.
func TestFailedBuildsOfAStepAreBounded(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.funded()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		node := r.record()
		node.build = func(request chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
			if request.Payments[0].Contract == token.Contract {
				return chain.UnsignedTx{}, errors.New("the issuer has frozen it")
			}
			return unsigned, err
		}
		r.trouble = true
		stuck := r.orders(30, "TOKEN")
		for range 5 {
			node.since()
			r.step()
			if n := len(node.built); n > 8 {
				t.Errorf("one step drafts %d", n)
			}
		}
		if n := len(r.open()); n != 10 {
			t.Errorf("%d are taken up", n)
		}
		tried := map[bursar.ID]bool{}
		for range 3 {
			node.since()
			r.step()
			for _, request := range node.built {
				tried[request.ID] = true
			}
		}
		if len(tried) != 10 {
			t.Errorf("in three steps %d are built", len(tried))
		}
		other := r.orders(3, "OTHER")
		r.step()
		if got := r.statuses(other...); got[bursar.WithdrawalBroadcast] != 3 {
			t.Errorf("the others are %v", got)
		}
		r.sender.Chain = r.chain
		r.settle()
		if got := r.statuses(stuck...); got[bursar.WithdrawalConfirmed] != 30 {
			t.Errorf("in the end they are %v", got)
		}
	})
}

// However many transactions are in progress, each step handles some of them, goes on behind those in the next step, and
// begins again at the end.
func TestEveryTransactionInProgressIsReached(t *testing.T) {
	config := numbered
	config.MaxPending = 120
	each(t, config, func(t *testing.T, r *harness) {
		const n, most = 70, 64
		r.fund()
		r.settle()
		for range n {
			r.order(1_000, r.chain.Named("outside"))
		}
		r.step()
		r.step()
		if got := r.underWay(chain.KindWithdrawal); got != n {
			t.Fatalf("%d are sent", got)
		}
		r.chain.SetRate(1000)
		r.chain.Mine(1)
		r.catchUp()
		node := r.record()
		r.must(r.sender.Step(ctx, r.lease))
		if len(node.sent) > most || len(node.sent) == 0 {
			t.Errorf("one step sends %d again", len(node.sent))
		}
		r.must(r.sender.Step(ctx, r.lease))
		slices.Sort(node.sent)
		if all := len(slices.Compact(slices.Clone(node.sent))); all != n || len(node.sent) != n {
			t.Errorf("two steps send %d, of them %d again", len(node.sent), all)
		}
	})
}

// Each of two payments that no node accepts is sent once per step, also if one of them is new.
func TestARefusedTransactionIsSentOncePerStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		node := &sentNowhere{asked{Chain: r.chain}}
		tries := map[string]int{}
		r.sender.Chain = refusingAll{node, tries}
		r.trouble = true
		for range 3 {
			w := r.order(1_000_000, r.chain.Named("outside"))
			clear(tries)
			r.check(r.sender.Step(ctx, r.lease)) // builds the next one, and sends it
			r.check(r.sender.Step(ctx, r.lease))
			open := r.open()
			for _, p := range open {
				if n := tries[p.TxID]; p.TxID != r.now(w).TxID && n != 2 || n == 0 || n > 2 {
					t.Errorf("of %d that are open one is sent %d times in two steps", len(open), n)
				}
			}
		}
		r.sender.Chain = r.chain
		r.settle()
		r.must(r.audit())
	})
}

// refusingAll is a chain whose node accepts nothing; it counts what it is sent.
type refusingAll struct {
	*sentNowhere
	tries map[string]int
}

func (c refusingAll) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	c.tries[tx.TxID]++
	return c.sentNowhere.Broadcast(ctx, tx)
}

// A step in which nothing waits takes no lock.
func TestAStepWithoutWorkLocksNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, _ store.Point, query string) error {
			if strings.Contains(query, "holder = $2 AND token = $3") {
				t.Error("a step locks its chain though nothing is to do")
			}
			return nil
		}})
		r.must(r.sender.Step(ctx, r.lease))
	})
}
