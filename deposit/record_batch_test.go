package deposit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// transactions keeps the statements of each transaction that was committed.
type transactions struct {
	now       []string
	committed [][]string
}

func (t *transactions) before(_ context.Context, at store.Point, query string) error {
	switch at {
	case store.Beginning:
		t.now = nil
	case store.Running:
		t.now = append(t.now, strings.Join(strings.Fields(query), " "))
	case store.Committed:
		t.committed = append(t.committed, t.now)
	}
	return nil
}

// with returns the transactions that made a statement which begins so.
func (t *transactions) with(prefix string) (found [][]string) {
	for _, statements := range t.committed {
		if slices.ContainsFunc(statements, func(s string) bool { return strings.HasPrefix(s, prefix) }) {
			found = append(found, statements)
		}
	}
	return found
}

// A block is recorded, and what became final is credited, in the same number of statements whatever the number of
// deposits: to wallets and charges, to addresses of nobody's, too small ones, and some that are back after a reorg.
func TestABlockTakesAConstantNumberOfStatements(t *testing.T) {
	for _, model := range []bool{true, false} {
		var seen transactions
		s := followtest.Setting{UTXO: model, Hooks: store.Hooks{Before: seen.before}}
		t.Run(fmt.Sprintf("utxo=%t", model), func(t *testing.T) {
			followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
				if !f.DB.Postgres() {
					t.Skip("SQLite runs a prepared statement for each row: there is no way to and fro to save")
				}
				f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
					a, err := tx.Accounts().Get(ctx, f.Account)
					a.NotifyPending = true
					if err == nil {
						_, err = tx.Accounts().SetNotifications(ctx, a)
					}
					return err
				}))
				type counts struct{ record, again, credit int }
				var of []counts
				for _, n := range []int{3, 4, 40} {
					payTo(f, n)
					seen.committed = nil
					f.Sim.Mine(1)
					f.CatchUp()
					record := seen.with("INSERT INTO deposits")
					f.Sim.Reorg(1)
					seen.committed = nil
					f.CatchUp()
					again := seen.with("INSERT INTO deposits")
					seen.committed = nil
					f.Sim.Mine(3)
					f.CatchUp()
					credit := seen.with("INSERT INTO entries")
					if len(record) != 1 || len(again) != 1 || len(credit) != 1 {
						t.Fatalf("%d deposits are recorded in %d transactions, again in %d, and credited in %d; want one each", n,
							len(record), len(again), len(credit))
					}
					of = append(of, counts{len(record[0]), len(again[0]), len(credit[0])})
				}
				if of[1] != of[2] { // the first block makes the balances
					t.Errorf("4 deposits take %+v statements and 40 take %+v, want the same", of[1], of[2])
				}
			})
		})
	}
}

// payTo makes n wallets, some of them of charges, and pays to each; every fifth payment is too small, and for every
// sixth there is another one to an address that is of no wallet's currency.
func payTo(f *followtest.Harness, n int) {
	f.T.Helper()
	for i := range n {
		w := bursar.Wallet{ID: bursar.ID{4, byte(n), byte(i)}, Currency: "COIN",
			Address: bursar.Address{Base: f.Sim.Named(fmt.Sprintf("wallet %d of %d", i, n))}}
		f.AddWallet(&w, func(w *bursar.Wallet) { w.ForCharge = i%4 == 0 || i == 1 })
		if w.ForCharge {
			f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
				return tx.Charges().Insert(ctx, bursar.Charge{Number: w.Number, ID: w.ID, AccountID: f.Account,
					Minimum: bursar.Units(1000), Expires: tx.Now().Add(1 << 50)})
			}))
		}
		amount := bursar.Units(5000)
		if i%5 == 4 || i == 1 {
			amount = bursar.Units(10)
		}
		f.Sim.Pay(chain.Payment{Address: w.Address, Amount: amount})
		if i%6 == 0 && f.Sim.Capabilities().Model == chain.AccountModel {
			f.Sim.Pay(chain.Payment{Address: w.Address, Amount: amount, Contract: f.Sim.Named("token")})
		}
	}
}
