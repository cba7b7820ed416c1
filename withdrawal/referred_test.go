package withdrawal_test

import (
	"context"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// However often and however concurrently a reference is used for the same payment, it is one withdrawal, whose money is
// held once; a request is answered each time.
func TestAReferenceIsOneWithdrawal(t *testing.T) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.Reused,
		"postgres": storetest.ServicePostgres} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" && testing.Short() {
				t.Skip("PostgreSQL is left out by -short")
			}
			d := newHarnessOn(t, url(t))
			done := make([]int, 16)
			got := make([]bursar.Withdrawal, len(done))
			var group sync.WaitGroup
			for i := range done {
				r := d.order(1000, d.node.Named("outside"))
				r.Reference, r.Metadata = "payout 1", map[string]string{"order": "17"}
				r.Done = func(context.Context, *store.Tx, bursar.Withdrawal) error {
					done[i]++ // it may run again with its transaction
					return nil
				}
				group.Go(func() {
					for { // one that came in the same batch as the first asks again, as its error said
						var err error
						got[i], err = d.orders.Request(ctx, r)
						if refused, is := err.(*bursar.Error); is && refused.Code == bursar.CodeUnavailable {
							continue
						}
						if err != nil {
							t.Error(err)
						}
						return
					}
				})
			}
			group.Wait()
			for i, w := range got {
				if w.ID != got[0].ID || w.Reference != "payout 1" || w.Metadata != `{"order":"17"}` || done[i] == 0 {
					t.Errorf("request %d got %+v, answered %d times; want %s", i, w, done[i], got[0].ID)
				}
			}
			if n := d.count(); n != 1 {
				t.Errorf("%d withdrawals are there, want 1", n)
			}
		})
	}
}

// Another payment under a reference is refused; another account has its own references, and an empty one is none.
func TestAReferenceIsForOnePayment(t *testing.T) {
	d := newHarness(t)
	r := d.order(1000, d.node.Named("outside"))
	r.Reference = "payout 1"
	first, err := d.orders.Request(ctx, r)
	d.Must(err)
	for name, change := range map[string]func(){
		"amount":   func() { r.Amount = "0.00001001" },
		"address":  func() { r.Address = d.node.Named("another") },
		"metadata": func() { r.Metadata = map[string]string{"order": "17"} },
		"currency": func() { r.Currency = "TOKEN" },
	} {
		before := r
		change()
		_, err := d.orders.Request(ctx, r)
		d.refused("another "+name, err, bursar.CodeIdempotencyConflict, "")
		r = before
	}
	d.currency(func(c *bursar.Currency) { c.WithdrawalMinimum = bursar.Units(5000) })
	again, err := d.orders.Request(ctx, r) // whatever has changed since
	d.Must(err)
	if again.ID != first.ID {
		t.Errorf("the same reference gives %s, want %s", again.ID, first.ID)
	}
	theirs := r
	theirs.Account = bob
	_, err = d.orders.Request(ctx, theirs)
	d.refused("another account's, which is evaluated by itself", err, bursar.CodeBelowMinimum, "")
	if n := d.count(); n != 1 {
		t.Errorf("%d withdrawals are there, want 1", n)
	}
}
