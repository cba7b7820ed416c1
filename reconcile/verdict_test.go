package reconcile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

func registry(t *testing.T) *bursar.Registry {
	t.Helper()
	r, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// evaluated books entries, computes the verdict, raises its alarms, and returns it with the open alarms of a kind.
func evaluated(
	t *testing.T, db *store.DB, kind string, entries ...ledger.Entry,
) (v reconcile.Verdict, alarms []store.Alarm) {
	t.Helper()
	err := db.Do(ctx, func(tx *store.Tx) (err error) {
		if len(entries) > 0 {
			if err := tx.Ledger().Post(ctx, entries...); err != nil {
				return err
			}
		}
		if v, err = reconcile.Evaluate(ctx, tx, registry(t)); err != nil {
			return err
		}
		if err := v.Log(ctx, tx); err != nil {
			return err
		}
		alarms, err = tx.Alarms().OfKind(ctx, kind)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v, alarms
}

// Liabilities exceed custody as soon as network fees exceed operator funds: an alarm gives the amount in whole units,
// and closes once it is covered.
func TestUncovered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		at := db.Now()
		deposit := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "BTC",
			Amount: bursar.Units(700_000_000), Fee: bursar.Units(1_000_000)}
		if v, alarms := evaluated(t, db, reconcile.Uncovered, ledger.DepositCredited(deposit, at),
			ledger.NetworkFee("bitcoin:a", 0, "BTC", bursar.Units(1_000_000), at)); !v.OK() || len(alarms) > 0 {
			t.Fatalf("all is covered, and yet %+v, %+v", v.Problems, alarms)
		}
		v, alarms := evaluated(t, db, reconcile.Uncovered,
			ledger.NetworkFee("bitcoin:b", 0, "BTC", bursar.Units(60_000_000), at))
		if v.OK() || len(alarms) != 1 || !strings.Contains(alarms[0].Message,
			"liabilities exceed custody by 0.60000000 BTC: 6.99000000 BTC are owed, 6.39000000 BTC are held") {
			t.Fatalf("the verdict is %+v, the alarms %+v", v.Problems, alarms)
		}
		capital := bursar.Deposit{ID: bursar.ID{3}, Purpose: bursar.ForOperatorFunds, Currency: "BTC",
			Amount: bursar.Units(60_000_000)}
		v, alarms = evaluated(t, db, reconcile.Uncovered, ledger.TransferReceived(capital, ledger.Capital, at))
		if !v.OK() || len(alarms) > 0 {
			t.Fatalf("covered again, and yet %+v, %+v", v.Problems, alarms)
		}
	})
}

// What was paid beyond all that was received is uncovered too, as it is while custody is above zero.
func TestWhatIsOverdrawnIsUncovered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		at := db.Now()
		one := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(500_000_000)}
		out := bursar.Withdrawal{ID: bursar.ID{5}, AccountID: bursar.ID{2}, Currency: "BTC",
			Amount: bursar.Units(400_000_000)}
		v, alarms := evaluated(t, db, reconcile.Uncovered, ledger.DepositCredited(one, at), ledger.WithdrawalHeld(out, at),
			ledger.WithdrawalSettled(out, 0, at), ledger.DepositReversed(one, at))
		if v.OK() || len(alarms) != 1 || !strings.Contains(alarms[0].Message, "liabilities exceed custody by "+
			"4.00000000 BTC: 0.00000000 BTC are owed, and 4.00000000 BTC more were paid than received") {
			t.Fatalf("the verdict is %+v, the alarms %+v", v.Problems, alarms)
		}
		one.Reversals = 1
		if v, alarms := evaluated(t, db, reconcile.Uncovered, ledger.DepositCredited(one, at)); !v.OK() || len(alarms) > 0 {
			t.Errorf("credited again, and yet %+v, %+v", v.Problems, alarms)
		}
	})
}

// A customer below zero leaves the others' money uncovered: liabilities are what customers can withdraw, and are not
// lowered by it.
func TestACustomerBelowZeroCoversNobody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		at := db.Now()
		one := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(5)}
		other := bursar.Deposit{ID: bursar.ID{3}, AccountID: bursar.ID{4}, Currency: "BTC", Amount: bursar.Units(7)}
		out := bursar.Withdrawal{ID: bursar.ID{5}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(4)}
		v, _ := evaluated(t, db, reconcile.Uncovered, ledger.DepositCredited(one, at), ledger.DepositCredited(other, at),
			ledger.WithdrawalHeld(out, at),
			ledger.WithdrawalSettled(out, 0, at), ledger.DepositReversed(one, at))
		for _, p := range v.Lines {
			if p.Currency.Code == "BTC" && (p.Owed != bursar.Units(7) || p.Custody != bursar.Units(3) ||
				p.Uncovered != bursar.Units(4)) {
				t.Errorf("owed %s, held %s, uncovered %s", p.Owed, p.Custody, p.Uncovered)
			}
		}
	})
}

// The result of the last comparison with the chain is part of the verdict of every process.
func TestTheChainIsPartOfTheVerdict(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		err := db.Do(ctx, func(tx *store.Tx) error {
			return tx.Reconciliations().Put(ctx,
				store.Reconciliation{Currency: "BTC", Chain: bursar.Bitcoin, Height: 7, Custody: bursar.Units(150_000_000),
					OnChain: bursar.Units(100_000_000)})
		})
		if err != nil {
			t.Fatal(err)
		}
		v, _ := evaluated(t, db, reconcile.Differs)
		if len(v.Problems) != 1 || v.Problems[0].Kind != reconcile.Differs ||
			!strings.Contains(v.Problems[0].Message, "bitcoin holds 0.50000000 BTC less than the books expect at block 7") {
			t.Errorf("the problems are %+v", v.Problems)
		}
	})
}
