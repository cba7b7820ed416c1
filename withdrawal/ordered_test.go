package withdrawal_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// signs gives Ann a key, and returns what orders with it.
func (d *harness) signs() func(n byte, units uint64, to string) withdrawal.Request {
	d.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))
	public, err := orderkey.New(key.Public())
	d.Must(err)
	d.Do(func(tx *store.Tx) error {
		if err := tx.Settings().NotePolicy(ctx, store.PolicyText{Instance: "I", Orders: true}); err != nil {
			return err
		}
		return tx.OrderKeys().Insert(ctx, bursar.OrderKey{AccountID: ann, ID: public.ID(), Name: "shop",
			Public: public.String(), CreatedAt: tx.Now(), UsableFrom: tx.Now()})
	})
	return func(n byte, units uint64, to string) withdrawal.Request {
		address, err := d.node.ParseAddress(to)
		d.Must(err)
		text := approval.Order{Instance: "I", Account: ann, ID: bursar.ID{7, n}, Chain: bursar.Bitcoin, To: address,
			Units: bursar.Units(units), Created: d.clock.Now(), Expires: d.clock.Now().Add(time.Hour)}.Text()
		signature, err := client.SignOrder(key, text)
		d.Must(err)
		r := d.order(units, to)
		r.Order = withdrawal.Order{Text: text, Signature: signature}
		return r
	}
}

// However often and however concurrently an order comes, it is one withdrawal, whose money is held once.
func TestAnOrderIsOneWithdrawal(t *testing.T) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.Reused, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			if name == "postgres" && testing.Short() {
				t.Skip("PostgreSQL is left out by -short")
			}
			d := newHarnessOn(t, url(t))
			r := d.signs()(1, 1000, d.node.Named("outside"))
			done := make([]int, 16)
			got := make([]bursar.Withdrawal, len(done))
			var group sync.WaitGroup
			for i := range done {
				group.Go(func() {
					mine := r
					mine.Done = func(_ context.Context, _ *store.Tx, _ bursar.Withdrawal) error { done[i]++; return nil }
					for {
						var err error
						if got[i], err = d.orders.Request(ctx, mine); !bursartest.IsCode(err, bursar.CodeUnavailable) {
							if err != nil {
								t.Errorf("request %d: %v", i, err)
							}
							return
						}
					}
				})
			}
			group.Wait()
			for i, w := range got {
				if w.ID != got[0].ID || done[i] == 0 {
					t.Errorf("request %d: got %s, written down %d times, want %s", i, w.ID, done[i], got[0].ID)
				}
			}
			d.View(func(tx *store.Tx) error {
				list, err := tx.Withdrawals().List(ctx, ann, store.Page{Limit: 10})
				if len(list) != 1 {
					t.Errorf("got %d withdrawals, want one", len(list))
				}
				return err
			})
		})
	}
}

// An order is for its payment alone, also where the payment stays within the service.
func TestAnInternalTransferNeedsAnOrderToo(t *testing.T) {
	d := newHarness(t)
	order, to := d.signs(), d.wallet(bob, "COIN", "bob", 0).Address.Base
	if _, err := d.ask(1000, to); !bursartest.IsCode(err, bursar.CodeOrderSignatureRequired) {
		t.Errorf("unsigned: got %v, want %s", err, bursar.CodeOrderSignatureRequired)
	}
	wrong := order(1, 1000, to)
	wrong.Amount = native.Exact(bursar.Units(2000))
	if _, err := d.orders.Request(ctx, wrong); !bursartest.IsCode(err, bursar.CodeInvalidOrder) ||
		!strings.Contains(err.Error(), "1000 units") {
		t.Errorf("another amount: got %v, want %s", err, bursar.CodeInvalidOrder)
	}
	w, err := d.orders.Request(ctx, order(1, 1000, to))
	d.Must(err)
	if w.Status != bursar.WithdrawalConfirmed {
		t.Errorf("it is %s, want it paid at once", w.Status)
	}
	if _, err := d.orders.Request(ctx, order(1, 2000, to)); !bursartest.IsCode(err, bursar.CodeIdempotencyConflict) {
		t.Errorf("another order under its ID: got %v, want %s", err, bursar.CodeIdempotencyConflict)
	}
}

// An order that came before is not the payment of another reference: its payee would wait for money that nobody sent.
func TestAnOrderIsOfOneReference(t *testing.T) {
	d := newHarness(t)
	r := d.signs()(1, 1000, d.node.Named("outside"))
	r.Reference = "payout 1"
	first, err := d.orders.Request(ctx, r)
	d.Must(err)
	other := r
	other.Reference = "payout 2"
	_, err = d.orders.Request(ctx, other)
	d.refused("another reference", err, bursar.CodeIdempotencyConflict, "reference")
	results, err := d.orders.Together(ctx, []withdrawal.Request{other})
	d.Must(err)
	d.refused("another reference in a batch", results[0].Err, bursar.CodeIdempotencyConflict, "reference")
	other.Reference = ""
	for name, same := range map[string]withdrawal.Request{"the same": r, "none": other} {
		if w, err := d.orders.Request(ctx, same); err != nil || w.ID != first.ID {
			t.Errorf("%s reference gave %s, %v; want %s", name, w.ID, err, first.ID)
		}
	}
}

// Of two orders under one ID in the same batch one is taken; the other comes again, and is then refused or the same.
func TestOneBatchTakesAnOrderOnce(t *testing.T) {
	d := newHarness(t)
	order, to := d.signs(), d.node.Named("outside")
	results, err := d.orders.Together(ctx, []withdrawal.Request{order(1, 1000, to), order(1, 1000, to), order(1, 2000, to),
		order(2, 3000, to)})
	d.Must(err)
	for i, want := range []bursar.ErrorCode{"", bursar.CodeUnavailable, bursar.CodeUnavailable, ""} {
		if got := results[i].Err; want == "" && got != nil || want != "" && !bursartest.IsCode(got, want) {
			t.Errorf("request %d: got %v, want %q", i, got, want)
		}
	}
	results, err = d.orders.Together(ctx, []withdrawal.Request{order(1, 1000, to), order(2, 1000, to)})
	d.Must(err)
	if results[0].Err != nil || results[0].Value.Amount != bursar.Units(1000) {
		t.Errorf("the same again: got %+v, want the withdrawal of before", results[0])
	}
	if !bursartest.IsCode(results[1].Err, bursar.CodeIdempotencyConflict) {
		t.Errorf("another again: got %v, want %s", results[1].Err, bursar.CodeIdempotencyConflict)
	}
}

// A payment within the service waits for an operator, and its order expires: it is approved no more, as the signer
// would refuse it outside.
func TestAnExpiredOrderIsNotApproved(t *testing.T) {
	for _, where := range []string{"inside", "outside"} {
		t.Run(where, func(t *testing.T) {
			d := newHarness(t)
			to := d.node.Named("outside")
			if where == "inside" {
				to = d.wallet(bob, "COIN", "bob", 0).Address.Base
			}
			order := d.signs()
			w, err := d.orders.Request(ctx, order(1, 50_000_001, to))
			d.Must(err)
			if w.Status != bursar.WithdrawalPendingApproval {
				t.Fatalf("it is %s, want it to wait for an operator", w.Status)
			}
			d.clock.Advance(time.Hour)
			if _, err := d.orders.Approve(ctx, w.ID); !bursartest.IsCode(err, bursar.CodeOrderExpired) {
				t.Errorf("approved after its time: got %v, want %s", err, bursar.CodeOrderExpired)
			}
			if got := d.current(w).Status; got != bursar.WithdrawalPendingApproval {
				t.Errorf("it is %s, want it to wait", got)
			}
			if _, err := d.orders.Reject(ctx, w.ID, "too late"); err != nil {
				t.Errorf("reject: %v, want it refunded", err)
			}
		})
	}
}
