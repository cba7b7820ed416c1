package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// unspentFee is more than what a sweep leaves behind of the fee that it allowed for.
var unspentFee = bursar.Units(1_000_000)

// byClock runs a test on both databases, by a clock that the test moves.
func byClock(t *testing.T, config sim.Config, test func(t *testing.T, r *harness, c *clock)) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" && testing.Short() {
				t.Skip("PostgreSQL is left out by -short")
			}
			c := &clock{time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
			db, err := store.Open(ctx, store.Config{URL: url(t), Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			test(t, newHarness(t, db, config), c)
		})
	}
}

// A sweep that is drafted while the fee is above what it brings, or that a backend behind the others has no funds for,
// is not made then. Its address rests, and is swept without another deposit.
func TestASweepThatCannotBeMadeNowIsMadeLater(t *testing.T) {
	byClock(t, models["nonce"], func(t *testing.T, r *harness, c *clock) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 10_000_000)
		r.chain.Mine(2)
		r.step() // credited, and a sweep is ordered by the price of now
		if len(r.open()) != 1 {
			t.Fatalf("open are %+v", r.open())
		}
		r.chain.SetRate(1000)
		r.blocks(1)
		r.chain.SetRate(1)
		if len(r.open()) != 0 {
			t.Fatalf("open are %+v", r.open())
		}
		r.blocks(5)
		if len(r.open()) != 0 {
			t.Errorf("it does not rest: open are %+v", r.open())
		}
		c.jump(2 * time.Hour)
		r.blocks(5)
		if got := r.chain.Balance(w.Address.Base, ""); !got.Less(unspentFee) {
			t.Errorf("%s stay at the deposit address for ever", got)
		}
	})
}

// The next deposit ends the rest.
func TestADepositEndsARest(t *testing.T) {
	byClock(t, models["nonce"], func(t *testing.T, r *harness, _ *clock) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 10_000_000)
		r.chain.Mine(2)
		r.step()
		r.chain.SetRate(1000)
		r.blocks(1)
		r.chain.SetRate(1)
		r.pay(w.Address, 10_000_000)
		r.blocks(8)
		if got := r.chain.Balance(w.Address.Base, ""); !got.Less(unspentFee) {
			t.Errorf("%s stay at the deposit address", got)
		}
	})
}

// An address that the final block shows empty, against the books, is tried once and no more before its next deposit.
func TestAnEmptyAddressIsDueNoMore(t *testing.T) {
	byClock(t, numbered, func(t *testing.T, r *harness, c *clock) {
		token := r.withToken()
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		w := r.walletOf(0, token.Code)
		r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
		r.chain.Seize(token.Contract, w.Address.Base)
		r.trouble = true
		r.blocks(8)
		for range 3 {
			c.jump(2 * time.Hour)
			r.blocks(2)
		}
		var h store.Holding
		r.view(func(tx *store.Tx) (err error) {
			h, err = tx.Holdings().Current(ctx, r.chain.Capabilities().ID, w.Address.Base, token.Contract)
			return err
		})
		if h.Due || h.Amount.IsZero() || len(r.open()) != 0 {
			t.Errorf("the holding is %+v, open are %+v", h, r.open())
		}
	})
}

// A settled sweep whose block was reorged out leaves its address due: should it expire, another one is made.
func TestAReopenedSweepLeavesItsAddressDue(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		w := r.sweepToken(token, sim.Manners{})
		wantDue := func(when string, want bool) {
			t.Helper()
			r.view(func(tx *store.Tx) error {
				h, err := tx.Holdings().Current(ctx, r.chain.Capabilities().ID, w.Address.Base, token.Contract)
				if h.Due != want || h.Amount.IsZero() == want {
					t.Errorf("%s the holding is %+v", when, h)
				}
				return err
			})
		}
		wantDue("settled,", false)
		r.undo(r.sweepOf(w.Address.Base).TxID)
		r.catchUp()
		wantDue("while the sweep is in no block", true)
		r.settleAll()
		wantDue("settled again,", false)
	})
}
