package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
)

// every is all optional events.
func every(t *charge.Terms) { t.Events = bursar.InvoiceEvents() }

func TestTwoPartsAddUp(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(every)
		if v := r.shows(d, "open"); v.Required.Amount != "0.00100000" || v.Due != "0.00100000" || v.Version != 1 ||
			v.Address != *v.Options[0].Address || *v.Options[0].Due != "0.00100000" {
			t.Fatalf("a new charge is %+v", v)
		}
		r.send(d, "BTC", "BTC", 40_000)
		r.mine(bursar.Bitcoin, 1)
		if v := r.shows(d, "open"); v.Pending != "0.00040000" || v.Due != "0.00060000" || v.Received != "0.00000000" {
			t.Fatalf("a part in a block makes it %+v, want %q and %q and %q", v, "0.00040000", "0.00060000", "0.00000000")
		}
		r.mine(bursar.Bitcoin, 2)
		if v := r.shows(d, "open partial"); v.Received != "0.00040000" || *v.Options[0].Due != "0.00060000" {
			t.Fatalf("a part makes it %+v, want %q and %q", v, "0.00040000", "0.00060000")
		}
		r.send(d, "BTC", "BTC", 60_000)
		r.mine(bursar.Bitcoin, 1)
		r.shows(d, "confirming partial")
		r.clock.Set(started.Add(2 * time.Hour)) // its money was seen in time
		r.shows(d, "confirming partial")
		r.mine(bursar.Bitcoin, 2)
		if v := r.shows(d, "paid"); !v.Paid || v.Expired || len(v.DepositIDs) != 2 || v.Due != "0.00000000" {
			t.Fatalf("both parts make it %+v", v)
		}
		r.holds("BTC", 99_000)
		r.heardOf("pending", "partial", "pending", "paid")
	})
}

// What an invoice sends without being asked.
func TestTheEventsThatAreAlwaysSent(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.send(d, "BTC", "BTC", 40_000)
		r.mine(bursar.Bitcoin, 3)
		r.send(d, "BTC", "BTC", 60_000)
		r.mine(bursar.Bitcoin, 3)
		r.send(d, "BTC", "BTC", 1000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid over !")
		charges := r.heardOf("paid", "attention")
		if charges[0].Version >= charges[1].Version || charges[1].Over != "0.00001000" {
			t.Errorf("the events are %+v, want less than %v and %q", charges, charges[1].Version, "0.00001000")
		}
		r.must(r.resolve(d, 2, bursar.ResolveCredit))
		r.shows(d, "paid over")
		if err := refusal(r.resolve(d, 2, bursar.ResolveAccept)); err == nil || err.Code != bursar.CodeAlreadyResolved {
			t.Errorf("a second resolution: %v, want already_resolved", err)
		}
		before := r.view(d).Version
		r.must(r.resolve(d, 2, bursar.ResolveCredit)) // the same one
		if after := r.view(d).Version; after != before {
			t.Errorf("the same resolution makes version %d, want %d", after, before)
		}
		if err := refusal(r.resolve(d, 0, bursar.ResolveCredit)); err == nil || err.Code != bursar.CodeChargeClosed {
			t.Errorf("a payment that is in order: %v, want charge_closed", err)
		}
	})
}

// Late money is credited, waits for a person, and may be accepted.
func TestLateMoneyIsDecided(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute; every(t) })
		r.mine(bursar.Bitcoin, 2)
		if v := r.shows(d, "expired"); v.Version != 2 || !v.Expired {
			t.Fatalf("an expired charge is %+v, want version 2", v)
		}
		if n, err := r.Charges.Turn(ctx); n != 1 || err != nil {
			t.Fatalf("%d turn, %v, want 1", n, err)
		}
		if n, err := r.Charges.Turn(ctx); n != 0 || err != nil || r.view(d).Version != 2 {
			t.Fatalf("%d turn again, %v, want none", n, err)
		}
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "expired late !")
		r.holds("BTC", 99_000)
		r.must(r.resolve(d, 0, bursar.ResolveAccept))
		r.shows(d, "paid late marked")
		r.heardOf("expired", "pending", "late", "attention", "paid")
	})
}

func TestLateMoneyCountsWhereThatWasAsked(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life, t.Late = 2*time.Minute, bursar.HandlingAccept })
		r.mine(bursar.Bitcoin, 2)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid late")
		r.heardOf("paid", "late")
	})
}

func TestToleranceCountsBothWays(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) {
			t.Tolerance.Under = charge.Tolerance{Millionths: 100_000, HasShare: true, Amount: "0.00001"} // the smaller counts
			t.Tolerance.Over = charge.Tolerance{Millionths: 20_000, HasShare: true}
		})
		if v := r.view(d); v.Tolerance.Under != "0.00001000" || v.Tolerance.Over != "0.00002000" {
			t.Fatalf("the tolerance is %+v, want %q and %q", v.Tolerance, "0.00001000", "0.00002000")
		}
		r.send(d, "BTC", "BTC", 98_999)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "open partial")
		r.send(d, "BTC", "BTC", 3001)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		short := r.sum(func(t *charge.Terms) { t.Tolerance.Under = charge.Tolerance{Amount: "0.00001"} })
		r.send(short, "BTC", "BTC", 99_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(short, "paid tolerated")
	})
}

// A payment that is reorged out unmakes what it made, and makes it again when it comes back.
func TestAPaidSumIsReorgedOutAndComesBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life = 10 * time.Minute })
		hash := r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		r.reorg(bursar.Bitcoin, 3, hash)
		r.shows(d, "open reversed !")
		r.clock.Set(started.Add(time.Hour))
		r.shows(d, "expired reversed !")
		r.chains[bursar.Bitcoin].Restore(hash)
		r.mine(bursar.Bitcoin, 1)
		r.shows(d, "confirming") // it was seen in time, the first time
		r.mine(bursar.Bitcoin, 2)
		r.shows(d, "paid")
		r.heardOf("paid", "reversed", "attention", "paid")
		r.holds("BTC", 99_000)
	})
}

func TestACancelledChargeIsStillWatched(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(every)
		r.clock.Set(started.Add(30 * time.Second))
		_, err := r.Charges.Cancel(ctx, r.change(d))
		r.must(err)
		again, err := r.Charges.Cancel(ctx, r.change(d))
		if err != nil || again.Recorded.Version != 2 {
			t.Fatalf("cancelled again it is of version %d, %v, want 2", again.Recorded.Version, err)
		}
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "cancelled late !")
		r.holds("BTC", 99_000)
		r.heardOf("cancelled", "pending", "late", "attention")
		paid := r.sum(nil)
		r.send(paid, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 1)
		_, err = r.Charges.Cancel(ctx, r.change(paid))
		if got := refusal(err); got == nil || got.Code != bursar.CodeChargeClosed {
			t.Errorf("a charge that is being paid: %v, want charge_closed", err)
		}
	})
}

// A reference names one charge: again it returns the first, and for another request it is refused.
func TestAReferenceNamesOneCharge(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		order := func(hash string) func(*charge.Terms) {
			return func(t *charge.Terms) { t.Reference, t.Hash = "order 7", []byte(hash) }
		}
		first := r.sum(order("a"))
		if second := r.sum(order("a")); second.ID != first.ID {
			t.Errorf("the same order makes %s, want %s", second.ID, first.ID)
		}
		_, err := r.Charges.CreateSum(ctx, charge.Terms{Account: r.account, Reference: "order 7", Hash: []byte("b")})
		if got := refusal(err); got == nil || got.Code != bursar.CodeIdempotencyConflict || got.Field != "reference" {
			t.Errorf("another order: %v, want idempotency_conflict", err)
		}
		other := r.sum(func(t *charge.Terms) { t.Account, t.Reference, t.Hash = r.payer, "order 7", []byte("b") })
		if other.ID == first.ID {
			t.Error("another account gets the charge")
		}
	})
}

// Requests with one reference at the same time make one charge.
func TestOneReferenceAtTheSameTime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		ids := make(chan bursar.ID)
		for range 8 {
			go func() {
				d, err := r.Charges.CreateSum(ctx, charge.Terms{Account: r.account, Reference: "order", Hash: []byte("a"),
					Currencies: []bursar.CurrencyCode{"BTC"}, Unit: "BTC", Amount: "0.001", Webhook: "https://receiver.example"})
				if err != nil {
					t.Error(err)
				}
				ids <- d.ID
			}()
		}
		made := map[bursar.ID]bool{}
		for range 8 {
			made[<-ids] = true
		}
		if len(made) != 1 {
			t.Errorf("%d charges are made, want 1", len(made))
		}
	})
}

// A transfer of another customer pays too.
func TestATransferInsidePaysASum(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.transfer(bursar.Charge{Address: d.Options[0].Address}, 40_000)
		r.shows(d, "open partial")
		r.transfer(bursar.Charge{Address: d.Options[0].Address}, 60_000)
		r.shows(d, "paid")
		r.heardOf("paid")
	})
}

// The list shows charges of both rules, and filters them by what they are now.
func TestTheListFilters(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		single := r.charge("BTC", 100_000, time.Hour)
		short := r.sum(func(t *charge.Terms) { t.Life, t.Reference = 4*time.Minute, "short" })
		r.send(short, "BTC", "BTC", 50_000)
		open := r.sum(nil)
		r.mine(bursar.Bitcoin, 3)
		yes, no := true, false
		check := func(name string, f store.ChargeFilter, want ...bursar.ID) {
			t.Helper()
			list, _, err := r.Charges.Search(ctx, r.account, f, page)
			r.must(err)
			var got []bursar.ID
			for _, found := range list {
				if found.Single != nil {
					got = append(got, found.Single.ID)
				} else {
					got = append(got, found.Sum.ID)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s: got %v, want %v", name, got, want)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%s: got %v, want %v", name, got, want)
				}
			}
		}
		check("all", store.ChargeFilter{}, open.ID, short.ID, single.ID)
		check("open", store.ChargeFilter{Status: bursar.ChargeOpen}, open.ID, short.ID)
		check("attention", store.ChargeFilter{Attention: &yes})
		check("partial", store.ChargeFilter{Label: bursar.LabelPartial}, short.ID)
		r.clock.Set(started.Add(5 * time.Minute))
		for range 2 { // before and after it is recorded
			check("open", store.ChargeFilter{Status: bursar.ChargeOpen}, open.ID)
			check("expired", store.ChargeFilter{Status: bursar.ChargeExpired}, short.ID)
			check("attention", store.ChargeFilter{Attention: &yes}, short.ID)
			check("no attention", store.ChargeFilter{Attention: &no}, open.ID)
			_, err := r.Charges.Turn(ctx)
			r.must(err)
		}
		check("reference", store.ChargeFilter{Reference: "short"}, short.ID)
		check("currency", store.ChargeFilter{Currency: "BTC"}, open.ID, short.ID, single.ID)
		check("another currency", store.ChargeFilter{Currency: "XRP"})
		check("to", store.ChargeFilter{To: started})
		check("from", store.ChargeFilter{From: started}, open.ID, short.ID, single.ID)
	})
}
