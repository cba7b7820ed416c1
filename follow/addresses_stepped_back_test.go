package follow_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// stepBack changes the database without the running process, as a failover does that loses commits.
func stepBack(f *followtest.Harness, statements ...string) {
	f.T.Helper()
	url := storetest.AsOwner(storetest.URL(f.DB))
	driver, source := "pgx", url
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		driver, source = "sqlite", file
	}
	raw, err := sql.Open(driver, source)
	f.Must(err)
	defer raw.Close()
	for _, statement := range statements {
		_, err := raw.Exec(statement)
		f.Must(err)
	}
}

func wantForgotten(f *followtest.Harness, txID string) {
	f.T.Helper()
	var forgotten *follow.ForgottenError
	_, err := f.Step(ctx, f.Lease)
	if !errors.As(err, &forgotten) || forgotten.TxID != txID || !strings.Contains(err.Error(), txID+", which was ours") {
		f.T.Fatalf("the step returned %v, want that %s was ours", err, txID)
	}
}

// If the database forgets a payment that the running process still has as its own, the block that holds it is read
// again with what the database knows now: an external spend from our address.
func TestAPaymentThatTheDatabaseForgotIsSeenAgain(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.SetHot(f.Sim.Named("hot"))
		f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: f.Hot}, Amount: bursar.Units(1_000_000_000)})
		mine(f, 3)
		somebody := bursar.Address{Base: f.Sim.Named("somebody")}
		txID := f.Sim.ExternalSpend(f.Hot, chain.Payment{Address: somebody, Amount: bursar.Units(500)})
		sign(f, 1, txID)
		f.Must(f.Watch.Sync(ctx))
		stepBack(f, `DELETE FROM outgoing_versions`, `DELETE FROM outgoing_txs`)
		f.Pay(5000)
		f.Sim.Mine(1)
		wantForgotten(f, txID)
		f.Want("block 3, 0 credited, map[], 0 events")
		f.CatchUp()
		f.Want("block 4, 0 credited, map[pending:1], 0 events")
		f.WantAlarm("external_spend", txID)
	})
}

// If memory has a transaction of others as ours, which is very rare, the database does not know it even after the block
// was read again, and the block is recorded without it. In other blocks it is checked again.
func TestATransactionThatOnlyMemoryHasAsOursIsNotOurs(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		taken := func(b *chain.Block) { b.Included = []chain.Inclusion{{TxID: "theirs"}, {TxID: "theirs too"}} }
		f.Chain = scripted{f.Sim, map[uint64]func(b *chain.Block){2: taken, 3: taken}}
		f.Pay(5000)
		f.Sim.Mine(2)
		for _, height := range []uint64{2, 3} {
			wantForgotten(f, "theirs")
			wantForgotten(f, "theirs too")
			f.CatchUp()
			if got := cursor(f); got != height {
				t.Fatalf("block %d is recorded, want %d", got, height)
			}
			f.Sim.Mine(1)
		}
		f.CatchUp()
		f.Want("block 4, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

// If the database forgets a wallet and gives its number out again, the new wallet is known from when a recovery begins,
// and the old one is not.
func TestAWalletWhoseNumberIsGivenOutAgainIsPaid(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		mine(f, 3)
		old := bursar.Wallet{ID: bursar.ID{8}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("old")}}
		f.AddWallet(&old, nil)
		f.Must(f.Watch.Sync(ctx))
		forget(f, old)
		fresh := bursar.Wallet{ID: bursar.ID{9}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("fresh")}}
		f.AddWallet(&fresh, nil)
		if fresh.Number != old.Number {
			t.Fatalf("the fresh wallet has number %d, the old one had %d", fresh.Number, old.Number)
		}
		beginRecovery(f)
		f.Sim.Pay(chain.Payment{Address: fresh.Address, Amount: bursar.Units(9000)})
		mine(f, 3)
		f.Want("block 6, 9000 credited, map[], 1 events")
		if f.Watch.Pays(old.Address.Base) {
			t.Error("the old wallet is still watched")
		}
	})
}

// forget makes the database forget its newest wallet.
func forget(f *followtest.Harness, w bursar.Wallet) {
	f.T.Helper()
	stepBack(f, `DELETE FROM wallets WHERE base = '`+w.Address.Base+`'`,
		`UPDATE counters SET next = next - 1 WHERE name = 'wallets'`)
}

// Windows that were read ahead with what was known before a recovery began are read again with what the database knows
// then.
func TestWindowsReadBeforeARecoveryAreReadAgain(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		mine(f, 3)
		old := bursar.Wallet{ID: bursar.ID{8}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("old")}}
		f.AddWallet(&old, nil)
		f.Must(f.Watch.Sync(ctx))
		forget(f, old)
		fresh := bursar.Wallet{ID: bursar.ID{9}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("fresh")}}
		f.AddWallet(&fresh, nil)
		f.Sim.Mine(100)
		f.Sim.Pay(chain.Payment{Address: fresh.Address, Amount: bursar.Units(9000)})
		f.Sim.Mine(297)
		w := watchCalls(f)
		w.gate = make(chan struct{})
		f.Chain = w
		stop := run(f)
		<-w.heads
		release := holdUntil(f, func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, bursar.Ethereum, "the database failed over")
		})
		close(w.gate)
		for range 4 { // one is being recorded, three are read with what memory knows
			<-w.afters
		}
		release()
		reach(f, w, "block 400, 9000 credited, map[], 1 events")
		stop()
	})
}

// holdUntil keeps the database from recording until it is released, and runs a function in the same moment.
func holdUntil(f *followtest.Harness, last func(tx *store.Tx) error) (release func()) {
	held, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- f.DB.Do(ctx, func(tx *store.Tx) error {
			if _, err := tx.Chains().Lock(ctx, bursar.Ethereum); err != nil {
				return err
			}
			close(held)
			<-done
			return last(tx)
		})
	}()
	<-held
	return func() {
		close(done)
		f.Must(<-ended)
	}
}
