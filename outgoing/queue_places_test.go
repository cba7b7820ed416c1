package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// underWay counts the open outgoing transactions of a kind that are built or sent and in no block.
func (r *harness) underWay(kind chain.Kind) (n int) {
	r.T.Helper()
	for _, p := range r.Open() {
		if p.Kind == string(kind) && p.Status != bursar.OutgoingNew && p.Height == 0 {
			n++
		}
	}
	return n
}

// orders requests a number of withdrawals of one unit each.
func (r *harness) orders(n int, code bursar.CurrencyCode) (list []bursar.Withdrawal) {
	r.T.Helper()
	for i := range n {
		list = append(list, r.OrderOf(0, code, 1_000, r.Chain.Named(fmt.Sprint(code, i))))
	}
	return list
}

// funded gives account 0 and the hot wallet all three currencies.
func (r *harness) funded() {
	r.T.Helper()
	r.WithTokens()
	r.Fund()
	for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
		r.Give(code, bursar.Address{Base: r.Hot.Base}, 1_000_000)
		r.Give(code, r.WalletOf(0, code).Address, 1_000_000)
	}
	r.Settle()
}

// On a UTXO chain no place is kept for gas: of ten places, one is for refunds and the others are for withdrawals, and
// each step takes one.
func TestOfUTXOsAllPlacesButOneAreForWithdrawals(t *testing.T) {
	config := bursartest.UTXOModel
	config.MaxPayments = 1
	each(t, config, func(t *testing.T, r *harness) {
		r.Step()
		for range 14 {
			r.Pay(r.Wallet(0).Address, 30_000_000)
		}
		r.Chain.Mine(3)
		r.Step()
		for i := range 14 {
			r.Order(1_000_000, r.Chain.Named(fmt.Sprint(i)))
		}
		r.Step()
		if got := r.underWay(chain.KindWithdrawal); got != 1 {
			t.Errorf("after one step %d are under way, want 1", got)
		}
		for range 12 {
			r.Step()
		}
		if got := r.underWay(chain.KindWithdrawal); got != 9 || len(r.Open()) != 9 {
			t.Errorf("after more steps %d are under way, and %d open, want 9 and 9", got, len(r.Open()))
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// One currency has all places if no other one waits, and places in use are kept when a second currency waits.
func TestPlacesGoToTheCurrenciesThatWait(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.funded()
		tokens := r.orders(12, "TOKEN")
		r.Step()
		if got := r.statuses(tokens...); got[bursar.WithdrawalBroadcast] != 7 {
			t.Errorf("of one currency %v are taken up, want 7", got)
		}
		others := r.orders(12, "OTHER")
		r.Blocks(1)
		one, two := r.statuses(tokens...)[bursar.WithdrawalBroadcast], r.statuses(others...)[bursar.WithdrawalBroadcast]
		if one != 11 && one != 10 || two != 4 && two != 3 || one+two != 14 {
			t.Errorf("with the next block %d of the first and %d of the second are sent", one, two)
		}
		r.Settle()
	})
}

// If only one transaction may be in progress, the currencies take turns, and so do payments and gas.
func TestWithOnePlaceEachCurrencyHasItsTurn(t *testing.T) {
	config := bursartest.Numbered
	config.MaxPending = 1
	each(t, config, func(t *testing.T, r *harness) {
		r.funded()
		list := append(r.orders(6, "COIN"), append(r.orders(6, "TOKEN"), r.orders(6, "OTHER")...)...)
		w := r.WalletOf(1, "TOKEN")
		r.Give("TOKEN", w.Address, 5_000) // its sweep needs gas
		r.Chain.Mine(3)
		gassed := false
		for range 12 {
			r.Step()
			if n := r.underWay(chain.KindWithdrawal) + r.underWay(chain.KindGasTopUp); n > 1 {
				t.Errorf("%d are under way, want at most 1", n)
			}
			gassed = gassed || r.underWay(chain.KindGasTopUp) > 0
			r.Chain.Mine(1)
		}
		for i := range 3 {
			if got := r.statuses(list[6*i : 6*i+6]...); got[bursar.WithdrawalQueued] == 6 {
				t.Errorf("in 12 blocks nothing of %s was paid", list[6*i].Currency)
			}
		}
		if !gassed {
			t.Error("in 12 blocks no gas was sent")
		}
		r.Settle()
	})
}

// Of ten places for the nonces of the hot wallet two are for gas: that many top-ups are in progress, and one that is
// not needed any more takes no place from another.
func TestTopUpsHaveTheirOwnPlaces(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		r.Restart()
		// From now on, every fourth step begins with sweeps, which request gas before the top-ups have their turn.
		for range 3 {
			r.Step()
		}
		r.jam(6)
		nobody := r.Chain.Named("nobody")
		pointless := chain.TxRequest{ID: r.IDs.Next(), Kind: chain.KindGasTopUp, From: r.Hot,
			Change: chain.Source{Base: nobody}, MaxFee: r.Sender.MaxFee,
			Payments: []chain.Payment{{Address: bursar.Address{Base: nobody}, Amount: bursar.Units(1)}}}
		r.Do(func(tx *store.Tx) error {
			return outgoing.Insert(ctx, tx, r.Chain.Capabilities().ID, pointless, "COIN")
		})
		r.Trouble = true
		node := r.record()
		for range 4 {
			r.Check(r.Sender.Step(ctx, r.Lease))
			if n := r.underWay(chain.KindGasTopUp); n != 2 {
				t.Errorf("%d top-ups are under way, want 2", n)
			}
		}
		if got := r.spendNow(pointless.ID); got.Status != bursar.OutgoingAbandoned || got.Error != "" {
			t.Errorf("what is pointless is %s: %q, want %s and \"\"", got.Status, got.Error, bursar.OutgoingAbandoned)
		}
		if n := len(node.sent); n != 2 {
			t.Errorf("%d are sent, want 2", n)
		}
		r.blocksWithoutSweeps(20)
		if open := r.Open(); len(open) > 0 {
			t.Errorf("open are %d, want none", len(open))
		}
	})
}
