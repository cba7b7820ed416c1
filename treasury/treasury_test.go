package treasury_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/treasury"
	"github.com/bursar/bursar/withdrawal"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// fixture is a treasury over a simulated chain, with 5 COIN of a customer, 2 of capital, 0.1 of fees and 0.3 of network
// fees paid.
type fixture struct {
	*testing.T
	bursartest.Database
	treasury *treasury.Service
	orders   *withdrawal.Service
	cold     bursar.Address
}

func each(t *testing.T, test func(p *fixture)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(newFixture(t, db)) })
}

func newFixture(t *testing.T, db *store.DB) *fixture {
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})
	native := bursar.Currency{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8, Minimum: bursar.Units(1),
		WithdrawalMinimum: bursar.Units(1)}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	p := &fixture{T: t, Database: bursartest.Over(t, db), cold: bursar.Address{Base: node.Named("cold")}}
	p.Must(err)
	p.orders = withdrawal.NewService(withdrawal.Config{DB: db,
		Chains:   map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: node},
		Hot:      map[bursar.ChainID]string{bursar.Bitcoin: "hot"},
		Registry: registry, IDs: p.IDs, Log: slog.New(slog.DiscardHandler)})
	p.treasury = &treasury.Service{DB: db, Registry: registry,
		Pay: func(ctx context.Context, o treasury.Request, address string,
			fund, done func(context.Context, *store.Tx, bursar.Withdrawal) error) (bursar.Withdrawal, error) {
			return p.orders.Request(ctx, withdrawal.Request{Account: treasury.Account, Currency: o.Currency, Amount: o.Amount,
				Address: address, Fund: fund, Done: done})
		}}
	at := db.Now()
	deposit := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "COIN",
		Amount: bursar.Units(500_000_000), Fee: bursar.Units(10_000_000)}
	capital := bursar.Deposit{ID: bursar.ID{3}, Purpose: bursar.ForOperatorFunds, Currency: "COIN",
		Amount: bursar.Units(200_000_000)}
	p.Must(p.treasury.Open(ctx))
	p.Do(func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Bitcoin); err != nil {
			return err
		}
		_, _, err := tx.Destinations().Insert(ctx,
			bursar.Destination{ID: bursar.ID{4}, AccountID: treasury.Account, Family: "bitcoin", Currency: "COIN",
				Address: p.cold, Label: "cold",
				CreatedAt: at, UsableFrom: at.Add(-time.Hour)})
		if err != nil {
			return err
		}
		return tx.Ledger().Post(ctx, ledger.DepositCredited(deposit, at),
			ledger.TransferReceived(capital, ledger.Capital, at),
			ledger.NetworkFee("bitcoin:a", 0, "COIN", bursar.Units(30_000_000), at))
	})
	return p
}

func (p *fixture) take(amount, to string) (bursar.Withdrawal, error) {
	return p.treasury.Withdraw(ctx, treasury.Request{Currency: "COIN", Amount: amount, To: to, Reason: "rent",
		Actor: "ann"})
}

func (p *fixture) free() bursar.Amount {
	p.Helper()
	list, err := p.treasury.Show(ctx)
	p.Must(err)
	return list[0].Free
}

func refused(err error, code bursar.ErrorCode) bool {
	var refusal *bursar.Error
	return errors.As(err, &refusal) && refusal.Code == code
}

// Operator funds are withdrawn to a listed destination, booked, and recorded with who requested it and why; not a unit
// more.
func TestTheOperatorWithdrawsOperatorFunds(t *testing.T) {
	each(t, func(p *fixture) {
		if got := p.free(); got != bursar.Units(180_000_000) {
			t.Fatalf("%s units are free, want %v", got, bursar.Units(180_000_000))
		}
		if _, err := p.take("1.80000001", "cold"); !refused(err, bursar.CodeInsufficientBalance) {
			t.Errorf("more than the operator's own: %v, want insufficient_balance", err)
		}
		w, err := p.take("1.5", "cold")
		p.Must(err)
		if w.Status != bursar.WithdrawalQueued || w.Address != p.cold || w.AccountID != treasury.Account {
			t.Errorf("the withdrawal is %+v, want it queued to %v from the treasury", w, p.cold)
		}
		if got := p.free(); got != bursar.Units(30_000_000) {
			t.Errorf("%s units are free afterwards, want 30000000", got)
		}
		p.Do(func(tx *store.Tx) error {
			orders, err := tx.TreasuryOrders().List(ctx, 10)
			if len(orders) != 1 || orders[0].ID != w.ID || orders[0].Actor != "ann" || orders[0].Reason != "rent" {
				t.Errorf("recorded is %+v, want the one order of ann with reason rent", orders)
			}
			owed, _ := tx.Custody().LiabilitySum(ctx, "COIN")
			if owed != bursar.Units(640_000_000) { // the customer's 4.9 and the treasury's 1.5
				t.Errorf("%s units are owed, want 640000000", owed)
			}
			return err
		})
	})
}

// A withdrawal is refused to an unlisted destination, without a reason, or while the list is switched off.
func TestOnlyListedDestinations(t *testing.T) {
	each(t, func(p *fixture) {
		if _, err := p.take("1", "somewhere"); err == nil {
			t.Error("an address that is not listed was paid, want a refusal")
		}
		if _, err := p.treasury.Withdraw(ctx, treasury.Request{Currency: "COIN", Amount: "1", To: "cold"}); err == nil {
			t.Error("a withdrawal without a reason was accepted, want a refusal")
		}
		p.Do(func(tx *store.Tx) error {
			return tx.DestinationLists().Set(ctx, treasury.Account, tx.Now().Add(-time.Hour))
		})
		if _, err := p.take("1", "cold"); !refused(err, bursar.CodeDestinationRefused) {
			t.Errorf("with the list off: %v", err)
		}
		if got := p.free(); got != bursar.Units(180_000_000) {
			t.Errorf("%s units are free, want %v", got, bursar.Units(180_000_000))
		}
	})
}

// Concurrent withdrawals together never exceed the free funds.
func TestConcurrentWithdrawalsDoNotExceedTheFreeFunds(t *testing.T) {
	each(t, func(p *fixture) {
		results := make(chan error, 8)
		for range cap(results) {
			go func() {
				_, err := p.take("0.5", "cold")
				results <- err
			}()
		}
		taken := 0
		for range cap(results) {
			switch err := <-results; {
			case err == nil:
				taken++
			case !refused(err, bursar.CodeInsufficientBalance):
				t.Error(err)
			}
		}
		if got := p.free(); taken != 3 || got != bursar.Units(30_000_000) {
			t.Errorf("%d were taken, %s units are left, want 3 and %v", taken, got, bursar.Units(30_000_000))
		}
	})
}

// The fees that are set aside for pending transactions are not free, and what a failed withdrawal returned is used
// first.
func TestPendingFeesAreSetAside(t *testing.T) {
	each(t, func(p *fixture) {
		p.Do(func(tx *store.Tx) error {
			s := bursar.OutgoingTx{ID: bursar.ID{9}, Chain: bursar.Bitcoin, Kind: "sweep", Currency: "COIN", Base: "x",
				Request: []byte("{}")}
			if _, err := tx.Outgoing().Insert(ctx, s); err != nil {
				return err
			}
			s.Status = bursar.OutgoingNew
			if err := tx.Outgoing().SetStatus(ctx, s, bursar.OutgoingReserved); err != nil {
				return err
			}
			return tx.Outgoing().SetOwnFee(ctx, s.ID, bursar.Units(20_000_000))
		})
		if got := p.free(); got != bursar.Units(160_000_000) {
			t.Errorf("%s units are free besides the fee of a sweep, want %v", got, bursar.Units(160_000_000))
		}
		w, err := p.take("1.6", "cold")
		p.Must(err)
		_, err = p.orders.Cancel(ctx, w.ID)
		p.Must(err)
		if _, err := p.take("1.6", "cold"); err != nil {
			t.Errorf("what came back cannot be taken again: %v", err)
		}
	})
}

// Funds that a failed withdrawal returned are available only if they were not lost in the meantime: customers come
// first.
func TestReturnedFundsMayBeLost(t *testing.T) {
	each(t, func(p *fixture) {
		w, err := p.take("1.5", "cold")
		p.Must(err)
		_, err = p.orders.Cancel(ctx, w.ID)
		p.Must(err)
		p.Do(func(tx *store.Tx) error { // 0.3 are free, and 1.0 of what was returned is lost with them
			return tx.Ledger().Post(ctx, ledger.SweepShort("s", 0, "COIN", bursar.Units(130_000_000), tx.Now()))
		})
		if _, err := p.take("0.50000001", "cold"); !refused(err, bursar.CodeInsufficientBalance) {
			t.Errorf("more than the operator has left: %v", err)
		}
		if _, err := p.take("0.5", "cold"); err != nil {
			t.Errorf("what is left of the operator's own: %v", err)
		}
		if _, err := p.take("0.1", "cold"); !refused(err, bursar.CodeInsufficientBalance) {
			t.Errorf("what customers are owed was taken: %v", err)
		}
		p.Do(func(tx *store.Tx) error {
			own, err := tx.OperatorFunds().Get(ctx, "COIN")
			if own.Short != bursar.Units(100_000_000) {
				t.Errorf("the operator is short by %s, want 100000000", own.Short)
			}
			return err
		})
	})
}

// A withdrawal locks the chain before the treasury's account, as the follower and the sender do; otherwise they would
// deadlock.
func TestTheChainIsLockedBeforeTheAccount(t *testing.T) {
	p := newFixture(t, storetest.Open(t, storetest.Postgres(t)))
	raw, err := sql.Open("pgx", storetest.URL(p.DB))
	p.Must(err)
	defer raw.Close()
	taken := func(row string) bool {
		var one int
		err := raw.QueryRow("SELECT 1 FROM " + row + " FOR UPDATE NOWAIT").Scan(&one)
		return err != nil && strings.Contains(err.Error(), "55P03") // lock_not_available
	}
	pay, asked := p.treasury.Pay, false
	p.treasury.Pay = func(ctx context.Context, o treasury.Request, address string,
		fund, done func(context.Context, *store.Tx, bursar.Withdrawal) error,
	) (bursar.Withdrawal, error) {
		return pay(ctx, o, address, func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
			asked = true
			if !taken("accounts WHERE name = 'treasury'") || !taken("chains WHERE chain = 'bitcoin'") {
				t.Error("the account is locked before the chain")
			}
			return fund(ctx, tx, w)
		}, done)
	}
	_, err = p.take("0.5", "cold")
	p.Must(err)
	if !asked || taken("chains WHERE chain = 'bitcoin'") {
		t.Error("nothing was funded, or the chain stays locked")
	}
}

// A treasury that nobody has opened has no destination. A rehearsal says so too, and not that all would be done.
func TestATreasuryWithoutDestinationsPaysNothing(t *testing.T) {
	t.Parallel()
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8,
		Minimum: bursar.Units(1), WithdrawalMinimum: bursar.Units(1)}})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		db.Witness(func(context.Context, *store.Tx) error { return nil })
		db.Rehearse(errors.New("it would be done"))
		_, err := (&treasury.Service{DB: db, Registry: registry}).Withdraw(ctx, treasury.Request{Currency: "COIN",
			Amount: "1", To: "cold", Reason: "rent"})
		if !refused(err, bursar.CodeDestinationRefused) {
			t.Errorf("got %v, want destination_refused", err)
		}
	})
}
