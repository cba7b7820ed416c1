package charge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
)

// A list has what its filter says of now, whether or not anything has recorded that a charge has expired; since when a
// charge waits is shown too.
func TestFiltersSayWhatIsNow(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		names := map[bursar.ID]string{}
		short := func(name string, units uint64, end func(bursar.InvoiceDetail)) {
			d := r.sum(func(t *charge.Terms) { t.Life = 10 * time.Minute })
			names[d.ID] = name
			if units > 0 {
				r.send(d, "BTC", "BTC", units)
				r.mine(bursar.Bitcoin, 1)
			}
			if end != nil {
				end(d)
			}
		}
		short("empty", 0, nil)
		short("part", 50_000, nil)
		short("paid", 100_000, nil)
		short("over", 150_000, nil)
		short("cancelled", 0, func(d bursar.InvoiceDetail) {
			_, err := r.Charges.Cancel(ctx, r.change(d))
			r.must(err)
		})
		r.mine(bursar.Bitcoin, 2)
		list := func(f store.ChargeFilter) (found []string) {
			got, _, err := r.Charges.Search(ctx, r.account, f, store.Page{Limit: 10})
			r.must(err)
			for _, c := range got {
				found = append(found, names[c.Sum.ID])
			}
			slices.Reverse(found)
			return found
		}
		yes, no := true, false
		check := func(expired bool) {
			t.Helper()
			for i, c := range []struct {
				filter        store.ChargeFilter
				before, after []string
			}{
				{store.ChargeFilter{Status: bursar.ChargeOpen}, []string{"empty", "part"}, nil},
				{store.ChargeFilter{Status: bursar.ChargeExpired}, nil, []string{"empty", "part"}},
				{store.ChargeFilter{Attention: &yes}, []string{"over"}, []string{"part", "over"}},
				{store.ChargeFilter{Attention: &no}, []string{"empty", "part", "paid", "cancelled"},
					[]string{"empty", "paid", "cancelled"}},
				{store.ChargeFilter{Attention: &yes, Status: bursar.ChargeExpired}, nil, []string{"part"}},
				{store.ChargeFilter{Attention: &no, Status: bursar.ChargeExpired}, nil, []string{"empty"}},
				{store.ChargeFilter{Label: bursar.LabelPartial}, []string{"part"}, []string{"part"}},
			} {
				want := c.before
				if expired {
					want = c.after
				}
				if got := list(c.filter); !slices.Equal(got, want) {
					t.Errorf("filter %d after the end %v: %v, want %v", i, expired, got, want)
				}
			}
		}
		check(false)
		r.clock.Set(started.Add(time.Hour))
		check(true)
		for {
			n, err := r.Charges.Turn(ctx)
			if r.must(err); n == 0 {
				break
			}
		}
		check(true)
	})
}

// Since when a charge waits for its client does not change while it does.
func TestSinceWhenAChargeWaits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.send(d, "BTC", "BTC", 150_000)
		r.mine(bursar.Bitcoin, 3)
		since := r.clock.Now()
		r.send(d, "BTC", "BTC", 150_000)
		r.mine(bursar.Bitcoin, 3)
		if v := r.shows(d, "paid over !"); v.AttentionSince == nil || !v.AttentionSince.Equal(since) {
			t.Fatalf("it waits since %v, want %v", v.AttentionSince, since)
		}
		var q store.Queue
		r.do(func(tx *store.Tx) (err error) { q, err = tx.Queues().WaitingCharges(ctx); return err })
		if q.Waiting != 1 || !q.Oldest.Equal(since) {
			t.Errorf("the queue is %+v, want one since %v", q, since)
		}
		r.must(r.resolve(d, 0, bursar.ResolveCredit))
		r.must(r.resolve(d, 1, bursar.ResolveCredit))
		if v := r.view(d); v.AttentionSince != nil {
			t.Errorf("once it is resolved it waits since %v, want null", v.AttentionSince)
		}
	})
}
