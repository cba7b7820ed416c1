package wallet_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

// A batch takes the same number of statements whatever its size: wallets and charges of many accounts, each with a
// receiver and an idempotency key of its own.
func TestABatchTakesAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	var made []string
	db := storetest.Open(t, storetest.Postgres(t)).As(time.Now, store.Hooks{
		Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running {
				made = append(made, strings.Join(strings.Fields(query), " "))
			}
			return nil
		}})
	c := newCounter(t, db, seedOf(t, 1))
	c.open()
	var accounts []bursar.ID
	must(t, db.Do(ctx, func(tx *store.Tx) error {
		for i := range byte(60) {
			accounts = append(accounts, bursar.ID{0: 9, 15: i + 1})
			if err := tx.Accounts().Insert(ctx, bursar.Account{ID: accounts[i], Name: "shop", CreatedAt: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	}))
	statements := func(n int) []string {
		var requests []wallet.New
		for i := range n {
			r := wallet.New{Account: accounts[i], Currency: "BTC", Webhook: fmt.Sprintf("https://shop.example/%d", i)}
			if i%2 == 1 {
				r.ChargeMinimum, r.ChargeLife = bursar.Units(1000), time.Hour
			}
			name := store.KeyName{Account: accounts[i], Name: fmt.Sprintf("%d of %d", i, n)}
			r.Done = func(_ context.Context, tx *store.Tx, _ bursar.Wallet) error {
				tx.IdempotencyKeys().Keep(name, []byte("hash"), store.Answer{Status: 200})
				return nil
			}
			requests = append(requests, r)
		}
		made = nil
		results, err := c.Together(ctx, requests)
		must(t, err)
		for i, r := range results {
			if r.Err != nil || r.Value.Address.Base == "" {
				t.Errorf("request %d of %d gives %+v, %v, want nil and not %q", i, n, r.Value, r.Err, "")
			}
		}
		return made
	}
	few, many := statements(4), statements(60)
	if len(few) != len(many) || len(many) > 10 {
		t.Errorf("4 wallets take %d statements, 60 take %d, want the same and at most 10:\n%s", len(few), len(many),
			strings.Join(many, "\n"))
	}
}
