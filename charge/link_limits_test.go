package charge_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
)

// taken visits a link from a list of networks until none of them is let in, and returns how many charges were made.
func (r *harness) taken(l bursar.PaymentLink, networks func(i int) string, most int) int {
	r.t.Helper()
	for i := range most {
		if _, err := r.Charges.FromLink(ctx, charge.Visit{Token: l.Token, From: netip.MustParsePrefix(networks(i))}); err !=
			nil {
			r.refuses(err, bursar.CodeRateLimited, "")
			return i
		}
	}
	return most
}

// One client cannot take all of a link's open charges, neither from one address nor from all that it has: others still
// pay by the link, and the client too, once its charges have had their time.
func TestOneNetworkDoesNotBlockALink(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"], r.prices.rates["ETH"] = "50000", "2000"
		l := r.link(nil)
		same := func(at string) func(int) string { return func(int) string { return at } }
		for what, c := range map[string]struct {
			networks func(i int) string
			most     int
		}{
			"an address of IPv4": {same("192.0.2.1/32"), 10},
			"a /64 of IPv6":      {same("2001:db8:1::/64"), 10},
			"a /48 of IPv6":      {func(i int) string { return fmt.Sprintf("2001:db8:2:%x::/64", i) }, 100},
		} {
			if got := r.taken(l, c.networks, c.most+1); got != c.most {
				t.Errorf("%s takes %d open charges, want %d", what, got, c.most)
			}
		}
		if r.taken(l, same("192.0.2.2/32"), 1) != 1 || r.taken(l, same("2001:db8:3::/64"), 1) != 1 {
			t.Error("another client pays nothing by the link, want its charge")
		}
		r.clock.Set(started.Add(11 * time.Minute))
		if got := r.taken(l, same("192.0.2.1/32"), 11); got != 10 {
			t.Errorf("after their end the client takes %d open charges, want 10", got)
		}
	})
}

// Of a link with few uses one client takes half.
func TestOneNetworkDoesNotTakeEveryUse(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"], r.prices.rates["ETH"] = "50000", "2000"
		for uses, want := range map[int64]int{1: 1, 5: 3} {
			l := r.link(func(n *charge.NewLink) { n.MaxUses = uses })
			got := r.taken(l, func(i int) string { return fmt.Sprintf("198.51.%d.7/32", i) }, 5)
			if got != want {
				t.Errorf("of a link with %d uses one client takes %d, want %d", uses, got, want)
			}
		}
	})
}

// From where a charge was made is forgotten once it has had its time.
func TestVisitsAreForgotten(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"], r.prices.rates["ETH"] = "50000", "2000"
		l := r.link(nil)
		if got := r.taken(l, func(int) string { return "192.0.2.1/32" }, 3); got != 3 {
			t.Fatalf("%d charges were made, want 3", got)
		}
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{9 * time.Minute, 3}, {10 * time.Minute, 0}} {
			var left []store.Visitor
			r.clock.Set(started.Add(c.after))
			r.do(func(tx *store.Tx) error { return tx.PaymentLinks().ForgetVisits(ctx, 100) })
			r.do(func(tx *store.Tx) (err error) {
				left, err = tx.PaymentLinks().Visitors(ctx, l.ID, started, 100)
				return err
			})
			if len(left) != c.want {
				t.Errorf("after %s %d visits are left, want %d", c.after, len(left), c.want)
			}
		}
	})
}
