package charge_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
)

// A charge whose payment was reorged out after its credit is unpaid again, with an event; when the payment comes back
// it pays again, also after the end, with an event again. The money is credited once in total.
func TestAPaidChargeLosesItsPayment(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, 2*time.Minute)
		hash := r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 0, 1)
		r.reorg(bursar.Bitcoin, 3, hash)
		r.is(c, false, true, 0, 0)
		r.holds("BTC", 0)
		events := r.heard("paid", "deposit_reversed")
		if e := events[1]; e.Type != "charge" || e.Charge.ChargeID != c.ID.String() ||
			e.Deposit.DepositID != events[0].Deposit.DepositID || e.Deposit.Status != "reversed" ||
			e.EventID == events[0].EventID {
			t.Errorf("reversed is %+v", e)
		}
		r.clock.Set(started.Add(time.Hour))
		r.chains[bursar.Bitcoin].Restore(hash)
		r.mine(bursar.Bitcoin, 2)
		r.is(c, false, false, 0, 0) // awaited again
		r.mine(bursar.Bitcoin, 1)
		r.is(c, true, false, 0, 1)
		r.holds("BTC", 99_000)
		events = r.heard("paid", "deposit_reversed", "paid")
		if events[2].EventID == events[0].EventID || events[2].Deposit.DepositID != events[0].Deposit.DepositID {
			t.Errorf("paid again is %+v", events[2])
		}
		if frozen := r.frozen(); frozen != "" {
			t.Errorf("the account is still frozen: %s, want none", frozen)
		}
	})
}

func (r *harness) frozen() (reason string) {
	r.t.Helper()
	r.must(r.DB.View(ctx, func(tx *store.Tx) error {
		a, err := tx.Accounts().Get(ctx, r.account)
		reason = a.Frozen
		return err
	}))
	return reason
}

// Where another credited deposit is large enough and in time, the charge stays paid, by that one, with an event.
func TestAnotherPaymentTakesItsPlace(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.pay(c, 99_999)
		r.mine(bursar.Bitcoin, 1)
		inside := r.transfer(c, 150_000) // the oldest that is enough: it pays
		r.mine(bursar.Bitcoin, 1)
		hash := r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3300, 3)
		r.heard("paid", "deposit", "deposit")
		r.reorg(bursar.Bitcoin, 3, hash) // a payment that did not pay leaves
		r.is(c, true, false, 3300, 2)
		r.heard("paid", "deposit", "deposit", "deposit_reversed")

		d := r.charge("BTC", 100_000, time.Hour)
		first := r.pay(d, 100_000)
		r.mine(bursar.Bitcoin, 3)
		second := r.transfer(d, 100_000)
		r.reorg(bursar.Bitcoin, 3, first)
		r.is(d, true, false, 3360, 1)
		events := r.events()
		last := events[len(events)-1]
		if last.Event != "paid" || last.Deposit.HashID != second || last.Charge.ChargeID != d.ID.String() ||
			second == inside {
			t.Errorf("the last event is %+v", last)
		}
		if before := events[len(events)-2]; before.Event != "deposit_reversed" || before.Deposit.HashID != first {
			t.Errorf("the event before is %+v, want %q and %v", before, "deposit_reversed", first)
		}
	})
}

// Of two reorged-out payments the first to come back pays the charge again; the event of the other is that of a
// deposit.
func TestTheFirstPaymentToComeBackPaysTheCharge(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		first := r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.reorg(bursar.Bitcoin, 3, first)
		r.is(c, false, false, 3420, 0)
		second := r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3180, 1)
		r.chains[bursar.Bitcoin].Restore(first)
		r.mine(bursar.Bitcoin, 3)
		r.is(c, true, false, 3000, 2)
		events := r.heard("paid", "deposit_reversed", "paid", "deposit")
		if events[2].Deposit.HashID != second || events[3].Deposit.HashID != first {
			t.Errorf("the events are %+v, want %v and %v", events, second, first)
		}
		r.holds("BTC", 198_000)
	})
}

// Both payments of one block are reorged out with it: neither replaces the other.
func TestTwoPaymentsAreReorgedOutTogether(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		hash := r.pay(c, 100_000, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.reorg(bursar.Bitcoin, 3, hash)
		r.is(c, false, false, 3420, 0)
		r.heard("paid", "deposit", "deposit_reversed", "deposit_reversed")
		r.holds("BTC", 0)
	})
}

// history is random payments to charges, in time and late, large enough and not, on chains with reorganisations.
type history struct {
	*harness
	random  *rand.Rand
	charges []bursar.Charge
	sent    []string
	dropped []string
}

func (h *history) act() {
	bitcoin := h.chains[bursar.Bitcoin]
	switch n := h.random.IntN(20); {
	case n < 3:
		h.charges = append(h.charges, h.charge("BTC", 100_000, time.Duration(1+h.random.IntN(16))*time.Minute))
	case n < 9 && len(h.charges) > 0:
		amounts := []uint64{99_999, 100_000, 60_000, 300_000}
		c, units := h.recent(), []uint64{}
		for range 1 + h.random.IntN(2) {
			units = append(units, amounts[h.random.IntN(len(amounts))])
		}
		h.sent = append(h.sent, h.pay(c, units...))
	case n < 11 && len(h.charges) > 0:
		h.transfer(h.recent(), 100_000)
	case n < 13 && h.height(bursar.Bitcoin) > 6:
		h.drop(1 + h.random.IntN(5))
	case n < 14:
		bitcoin.Restore(h.dropped...)
		h.dropped = nil
	default:
		h.mine(bursar.Bitcoin, 1)
	}
}

// recent returns one of the newest charges.
func (h *history) recent() bursar.Charge {
	return h.charges[len(h.charges)-1-h.random.IntN(min(len(h.charges), 4))]
}

func (h *history) drop(depth int) {
	var drop []string
	for _, id := range h.sent {
		ref, err := h.chains[bursar.Bitcoin].Find(ctx, id)
		if err == nil && ref.Height+uint64(depth) > h.height(bursar.Bitcoin) && h.random.IntN(2) == 0 {
			drop = append(drop, id)
		}
	}
	h.reorg(bursar.Bitcoin, depth, drop...)
	h.dropped = append(h.dropped, drop...)
}

// evaluate checks every charge: it is paid if and only if a credited deposit reaches its minimum and was seen before
// its end. The receiver, who counts the events, knows the same.
func (h *history) evaluate() error {
	notified := map[string]string{} // the deposit by which a charge counts as paid
	for _, e := range h.events() {
		switch {
		case e.Event == "paid" && notified[e.Charge.ChargeID] != "":
			return fmt.Errorf("charge %s was notified as paid twice", e.Charge.ChargeID)
		case e.Event == "paid":
			notified[e.Charge.ChargeID] = e.Deposit.DepositID.String()
		case e.Event == "deposit_reversed" && notified[e.Charge.ChargeID] == e.Deposit.DepositID.String():
			delete(notified, e.Charge.ChargeID)
		}
	}
	for _, c := range h.charges {
		var now bursar.Charge
		var deposits []bursar.Deposit
		err := h.DB.View(ctx, func(tx *store.Tx) (err error) {
			if now, err = tx.Charges().Get(ctx, h.account, c.ID); err != nil {
				return err
			}
			deposits, err = tx.Charges().CreditedDeposits(ctx, c.Number)
			return err
		})
		if err != nil {
			return err
		}
		payable, by := false, false
		for _, d := range deposits {
			enough := !d.Amount.Less(c.Minimum) && d.SeenAt.Before(c.Expires)
			payable, by = payable || enough, by || enough && d.ID == now.PaidBy
		}
		if now.Paid() != payable || payable != by || payable != (notified[c.ID.String()] == now.PaidBy.String()) ||
			len(now.Deposits) != len(deposits) {
			return fmt.Errorf("charge %+v with deposits %+v was notified as paid by %q", now, deposits, notified[c.ID.String()])
		}
	}
	return nil
}

func TestRandomHistoriesOfCharges(t *testing.T) {
	seeds := 4
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bursartest.EachURL(t, func(t *testing.T, url string) {
				h := &history{harness: newHarness(t, url), random: rand.New(rand.NewPCG(uint64(seed), 3))}
				for range 150 {
					h.act()
					if err := h.evaluate(); err != nil {
						t.Fatal(err)
					}
				}
				heard := map[string]int{}
				for _, e := range h.events() {
					heard[e.Event]++
				}
				if heard["paid"] < 5 || heard["deposit"] < 5 || heard["deposit_reversed"] < 5 {
					t.Errorf("this history has %v, want at least 5", heard)
				}
			})
		})
	}
}

// A block that brought a charge many payments is rolled back: the charge changes once, and is read once.
func TestManyPaymentsOfOneBlockLeaveTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		var hashes []string
		for range 4 {
			hashes = append(hashes, r.send(d, "BTC", "BTC", 25_000))
		}
		hashes = append(hashes, r.send(d, "BTC", "BTC", 10)) // too small
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		version := r.view(d).Version
		r.reorg(bursar.Bitcoin, 3, hashes...)
		if v := r.shows(d, "open reversed !"); v.Version != version+1 || v.Received != "0.00000000" {
			t.Errorf("version %d follows %d with %s received, want %d and nothing", v.Version, version, v.Received, version+1)
		}
		r.heardOf("paid", "reversed", "attention")
	})
}
