package treasury_test

import (
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

// Withdrawals never leave custody below liabilities: a customer below zero does not lower what others are owed, and
// free operator funds cover the difference.
func TestACustomerBelowZeroIsCoveredFirst(t *testing.T) {
	each(t, func(p *fixture) {
		at := p.DB.Now()
		d := bursar.Deposit{ID: bursar.ID{20}, AccountID: bursar.ID{21}, Currency: "COIN", Amount: bursar.Units(50_000_000)}
		w := bursar.Withdrawal{ID: bursar.ID{22}, AccountID: bursar.ID{21}, Currency: "COIN",
			Amount: bursar.Units(40_000_000)}
		p.Do(func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.DepositCredited(d, at), ledger.WithdrawalHeld(w, at),
				ledger.WithdrawalSettled(w, 0, at),
				ledger.DepositReversed(d, at))
		})
		if got := p.free(); got != bursar.Units(180_000_000-40_000_000) {
			t.Errorf("%s units are free beside a customer 0.4 below zero, want 140000000", got)
		}
		if _, err := p.take("1.40000001", "cold"); !refused(err, bursar.CodeInsufficientBalance) {
			t.Errorf("more than what is spare: %v, want insufficient_balance", err)
		}
		if _, err := p.take("1.4", "cold"); err != nil {
			t.Error(err)
		}
	})
}

// The fees of pending transactions, which are paid in the native asset, do not lower a token's free funds.
func TestFeesAreSetAsideOfTheNativeAsset(t *testing.T) {
	each(t, func(p *fixture) {
		capital := bursar.Deposit{ID: bursar.ID{23}, Purpose: bursar.ForOperatorFunds, Currency: "TOKEN",
			Amount: bursar.Units(70_000_000)}
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
			if err := tx.Outgoing().SetOwnFee(ctx, s.ID, bursar.Units(20_000_000)); err != nil {
				return err
			}
			return tx.Ledger().Post(ctx, ledger.TransferReceived(capital, ledger.Capital, tx.Now()))
		})
		token := bursar.Currency{Code: "TOKEN", Chain: bursar.Bitcoin, Contract: "token", Decimals: 8, Places: 8}
		registry, err := bursar.NewRegistry([]bursar.Currency{token})
		p.Must(err)
		p.treasury.Registry = registry
		list, err := p.treasury.Show(ctx)
		p.Must(err)
		if len(list) != 1 || list[0].Currency.Code != "TOKEN" || list[0].Free != bursar.Units(70_000_000) {
			t.Errorf("the treasury has %+v, want 70000000 free of TOKEN", list)
		}
	})
}

// The treasury shows where operator funds come from, what was withdrawn and what is pending.
func TestTheTreasuryShowsItsSources(t *testing.T) {
	each(t, func(p *fixture) {
		w, err := p.take("1.5", p.cold.String()) // by the address instead of its label
		if p.Must(err); w.Address != p.cold {
			t.Errorf("paid is %s, want %s", w.Address, p.cold)
		}
		list, err := p.treasury.Show(ctx)
		p.Must(err)
		want := treasury.Position{DepositFees: bursar.Units(10_000_000), OperatorFunds: bursar.Units(200_000_000),
			NetworkFees: bursar.Units(30_000_000),
			Drawings:    bursar.Units(150_000_000), SetAside: bursar.Units(150_000_000), Free: bursar.Units(30_000_000)}
		if len(list) != 1 || list[0].Currency.Code != "COIN" {
			t.Fatalf("it shows %+v, want COIN alone", list)
		}
		if list[0].Currency = want.Currency; !reflect.DeepEqual(list[0], want) {
			t.Errorf("it shows %+v, want %+v", list[0], want)
		}
		p.Do(func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.NetworkFee("bitcoin:b", 0, "COIN", bursar.Units(35_000_000), tx.Now()))
		})
		list, err = p.treasury.Show(ctx)
		if p.Must(err); list[0].Short != bursar.Units(5_000_000) || !list[0].Free.IsZero() {
			t.Errorf("it shows %+v, want it short by 5000000 with nothing free", list[0])
		}
	})
}
