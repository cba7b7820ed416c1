package withdrawal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// statements returns the statements of the transaction that records n requests of Ann's, each with an idempotency key:
// half of them to wallets of Bob's, half to outside addresses.
func (d *harness) statements(n int) (made []string) {
	d.Helper()
	to := d.wallet(bob, "COIN", fmt.Sprintf("wallet %d", n), 0)
	var requests []withdrawal.Request
	for i := range n {
		r := d.order(1000, to.Address.Base)
		if i%2 == 1 {
			r = d.order(1000, d.node.Named("outside"))
		}
		requests = append(requests, r)
	}
	writes := false
	d.points = func(at store.Point, query string) error {
		switch {
		case at == store.Beginning:
			made, writes = nil, false
		case at == store.Running:
			made = append(made, strings.Join(strings.Fields(query), " "))
			writes = writes || strings.HasPrefix(query, "INSERT")
		}
		return nil
	}
	results, err := d.orders.Together(ctx, requests)
	d.points = nil
	d.Must(err)
	for i, r := range results {
		d.Must(r.Err)
		if want := []bursar.WithdrawalStatus{bursar.WithdrawalConfirmed,
			bursar.WithdrawalQueued}[i%2]; r.Value.Status != want {
			d.Errorf("request %d of %d is %s, want %s", i, n, r.Value.Status, want)
		}
	}
	if !writes {
		d.Fatal("the transaction that records them was not seen")
	}
	return made
}

// A batch of withdrawals takes the same number of statements whatever its size.
func TestABatchTakesAConstantNumberOfStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	d := newHarnessOn(t, storetest.Postgres(t))
	d.statements(2) // creates the balances
	few, many := d.statements(4), d.statements(60)
	if len(few) != len(many) || len(many) > 16 {
		t.Errorf("4 requests take %d statements, 60 take %d:\n%s", len(few), len(many), strings.Join(many, "\n"))
	}
}

// In one batch each request is accepted or refused alone: what one holds is not there for the next, and a refused one
// to a wallet of the same service credits nobody from money that another one holds.
func TestRequestsOfOneBatchAreEvaluatedInOrder(t *testing.T) {
	d := newHarness(t)
	to := d.wallet(bob, "COIN", "bob's", 0)
	d.currency(func(c *bursar.Currency) { c.ApprovalAbove = bursar.Amount{} })
	results, err := d.orders.Together(ctx, []withdrawal.Request{
		d.order(600_000_000, to.Address.Base),
		d.order(600_000_000, to.Address.Base), // more than is left
		d.order(300_000_000, d.node.Named("outside")),
		d.order(100_000_000, to.Address.Base), // more than is left after the fees
		d.order(50_000_000, to.Address.Base),
	})
	d.Must(err)
	refused := []bool{false, true, false, true, false}
	var refusal *bursar.Error
	for i, r := range results {
		if is := errors.As(r.Err, &refusal) && refusal.Code == bursar.CodeInsufficientBalance; is != refused[i] {
			t.Errorf("request %d gives %v, want a refusal: %t", i, r.Err, refused[i])
		}
	}
	if got, want := d.sum(ledger.Available(bob)), bursar.Units(643_500_000); got != want { // 1 % is the deposit fee
		t.Errorf("Bob has %s, want %s", got, want)
	}
	if got, want := d.sum(ledger.Held(ann)), results[2].Value.Amount; got.Less(want) {
		t.Errorf("%s is held, want at least %s for the one to an outside address", got, want)
	}
	if n := d.count(); n != 3 {
		t.Errorf("%d withdrawals are recorded, want 3", n)
	}
}
