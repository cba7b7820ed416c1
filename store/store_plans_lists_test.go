package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// crossed calls f with every combination of so many choices, which it names by their numbers.
func crossed(f func(name string, pick []int), choices ...int) {
	pick := make([]int, len(choices))
	for {
		f(fmt.Sprint(pick), pick)
		i := 0
		for ; i < len(pick); i++ {
			if pick[i]++; pick[i] < choices[i] {
				break
			}
			pick[i] = 0
		}
		if i == len(pick) {
			return
		}
	}
}

// period is one of the periods that a list may be of.
func period(pick int) (from, to time.Time) {
	if pick == 0 {
		return from, to
	}
	return today, today
}

var currencies = []bursar.CurrencyCode{"", "BTC"}

func depositLists() (list []read) {
	lookUps := []store.DepositFilter{{}, {TxIDs: []string{"a"}, Chains: []bursar.ChainID{bursar.Bitcoin}},
		{Wallets: []int64{1, 2}}}
	statuses := []bursar.DepositStatus{"", bursar.DepositPending, bursar.DepositConfirmed}
	crossed(func(name string, p []int) {
		f := lookUps[p[0]]
		f.Status, f.Currency = statuses[p[1]], currencies[p[2]]
		f.From, f.To = period(p[3])
		list = append(list, reading("deposits "+name, func(ctx context.Context, tx *store.Tx) (any, error) {
			found, _, err := tx.Deposits().Select(ctx, someone, f, aPage)
			return found, err
		}))
	}, len(lookUps), len(statuses), len(currencies), 2)
	return list
}

func withdrawalLists() (list []read) {
	lookUps := []store.WithdrawalFilter{{}, {Reference: "a"}, {TxIDs: []string{"a"}},
		{Addresses: []bursar.Address{{Base: "a"}}}}
	statuses := []bursar.WithdrawalStatus{"", bursar.WithdrawalFailed, bursar.WithdrawalConfirmed}
	crossed(func(name string, p []int) {
		f := lookUps[p[0]]
		f.Status, f.Currency = statuses[p[1]], currencies[p[2]]
		f.From, f.To = period(p[3])
		list = append(list, reading("withdrawals "+name, func(ctx context.Context, tx *store.Tx) (any, error) {
			found, _, err := tx.Withdrawals().Select(ctx, someone, f, aPage)
			return found, err
		}))
	}, len(lookUps), len(statuses), len(currencies), 2)
	return list
}

func walletLists() (list []read) {
	lookUps := []store.WalletFilter{{}, {Metadata: "a"}, {Numbers: []int64{1, 2}}}
	crossed(func(name string, p []int) {
		f := lookUps[p[0]]
		f.Currency = currencies[p[1]]
		f.From, f.To = period(p[2])
		list = append(list, reading("wallets "+name, func(ctx context.Context, tx *store.Tx) (any, error) {
			found, _, err := tx.Wallets().Select(ctx, someone, f, aPage)
			return found, err
		}))
	}, len(lookUps), len(currencies), 2)
	return list
}

func chargeLists() (list []read) {
	yes, no := true, false
	statuses := []bursar.ChargeStatus{"", bursar.ChargeOpen, bursar.ChargePaid, bursar.ChargeExpired}
	attention := []*bool{nil, &yes, &no}
	labels := []bursar.ChargeLabel{"", bursar.LabelOver}
	lookUps := []store.ChargeFilter{{}, {Reference: "a"}, {Metadata: "a"}}
	crossed(func(name string, p []int) {
		f := lookUps[p[0]]
		f.Status, f.Attention, f.Label = statuses[p[1]], attention[p[2]], labels[p[3]]
		f.Currency = currencies[p[4]]
		f.From, f.To = period(p[4])
		list = append(list, reading("charges "+name, func(ctx context.Context, tx *store.Tx) (any, error) {
			if !f.SumOnly() {
				if _, _, err := tx.Charges().Select(ctx, someone, f, aPage); err != nil {
					return nil, err
				}
			}
			found, _, err := tx.Invoices().List(ctx, someone, f, aPage)
			return found, err
		}))
	}, len(lookUps), len(statuses), len(attention), len(labels), len(currencies))
	return list
}

func eventLists() (list []read) {
	statuses := append([]string{""}, store.DeliveryStates()...)
	kinds := []bursar.EventKind{"", bursar.EventDeposit}
	crossed(func(name string, p []int) {
		f := store.EventFilter{Status: statuses[p[0]], Kind: kinds[p[1]]}
		f.From, f.To = period(p[2])
		list = append(list, reading("events "+name, func(ctx context.Context, tx *store.Tx) (any, error) {
			found, _, err := tx.Deliveries().Select(ctx, someone, f, aPage)
			return found, err
		}))
	}, len(statuses), len(kinds), 2)
	return list
}

func lineLists() (list []read) {
	kinds := []ledger.Kind{"", ledger.KindDeposit}
	crossed(func(name string, p []int) {
		q := store.LineQuery{Accounts: customers, Asset: currencies[p[0]], Kind: kinds[p[1]]}
		if p[2] > 0 {
			q.Since, q.Until = today, today.Add(24*time.Hour)
		}
		list = append(list, read{"lines " + name, func(ctx context.Context, tx *store.Tx) error {
			if _, _, err := tx.Statements().Select(ctx, q, aPage); err != nil {
				return err
			}
			_, _, err := tx.Statements().SelectAfter(ctx, q, aPage)
			return err
		}})
	}, len(currencies), len(kinds), 2)
	return list
}

// Every combination of what a list may be asked for is served by an index on both databases, with what decides how far
// a page looks.
func TestEveryFilterOfEveryListHasItsIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		plans := storetest.NewPlans(t, db)
		for _, of := range [][]read{depositLists(), withdrawalLists(), walletLists(), chargeLists(), eventLists(),
			lineLists()} {
			for _, r := range of {
				err := plans.DB.View(t.Context(), func(tx *store.Tx) error { return r.of(t.Context(), tx) })
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Fatalf("%s: %v", r.name, err)
				}
				plans.Name(r.name)
			}
		}
		plans.Check()
		plans.CheckWithin("deposits_of_account", "currency", "seen_at")
		plans.CheckWithin("withdrawals_of_account", "currency", "created_at")
	})
}
