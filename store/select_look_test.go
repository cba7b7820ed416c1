package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// longHistory is an account with as many deposits, withdrawals, wallets and charges as one page looks at several times.
const longHistory = 40

func longHistoryOf(t *testing.T, db *store.DB) {
	t.Helper()
	began := db.Now().Add(-longHistory * time.Hour)
	err := db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Accounts().Insert(ctx, bursar.Account{ID: shop, Name: "shop", CreatedAt: began}); err != nil {
			return err
		}
		first, err := tx.Wallets().TakeNumbers(ctx, longHistory)
		if err != nil {
			return err
		}
		for n := range int64(longHistory) {
			if err := oneOfEach(ctx, tx, first+n, n, began.Add(time.Duration(n)*time.Hour)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// oneOfEach records a wallet, a deposit to it, a withdrawal and a charge. Of ten one is in another currency, and one of
// another status.
func oneOfEach(ctx context.Context, tx *store.Tx, number, n int64, at time.Time) error {
	code := bursar.CurrencyCode("BTC")
	if n%10 == 3 {
		code = "LTC"
	}
	status, paid := bursar.WithdrawalConfirmed, bursar.ChargePaid
	if n%10 == 5 {
		status, paid = bursar.WithdrawalFailed, bursar.ChargeExpired
	}
	id := func(kind byte) bursar.ID { return bursar.ID{kind, byte(n)} }
	w := bursar.Wallet{Number: number, ID: id(2), AccountID: shop, Currency: code, Family: "bitcoin",
		Address: bursar.Address{Base: id(2).String()}, CreatedAt: at, Metadata: "all"}
	if err := tx.Wallets().Insert(ctx, []bursar.Wallet{w}); err != nil {
		return err
	}
	d := bursar.Deposit{ID: id(3), AccountID: shop, WalletID: w.ID, Purpose: bursar.ForWallet, Currency: code,
		Chain: "bitcoin", TxID: id(3).String(), Address: w.Address, SeenAt: at}
	if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d, Wallet: number}); err != nil {
		return err
	}
	err := tx.Withdrawals().Insert(ctx, "bitcoin", bursar.Withdrawal{ID: id(4), AccountID: shop, Currency: code,
		Status: status, CreatedAt: at, Address: bursar.Address{Base: "out"}})
	if err != nil {
		return err
	}
	return tx.Invoices().Insert(ctx, bursar.InvoiceDetail{Invoice: bursar.Invoice{Number: number, ID: id(5),
		AccountID: shop, Token: id(6), Request: []byte{}, Unit: bursar.Unit{Code: code, Decimals: 8, Places: 8},
		CreatedAt: at, Expires: at.Add(time.Hour), Metadata: "all",
		Recorded: bursar.InvoiceRecord{Version: 1, Status: paid}}})
}

// paged is a list of the account, by the numbers of its items.
type paged func(tx *store.Tx, page store.Page) (numbers []int64, next int64, err error)

func pagedBy[T any](list func(tx *store.Tx, page store.Page) ([]T, int64, error), number func(T) int64) paged {
	return func(tx *store.Tx, page store.Page) (numbers []int64, next int64, err error) {
		found, next, err := list(tx, page)
		for _, item := range found {
			numbers = append(numbers, number(item))
		}
		return numbers, next, err
	}
}

func pagedDeposits(f store.DepositFilter) paged {
	return pagedBy(func(tx *store.Tx, page store.Page) ([]bursar.Deposit, int64, error) {
		return tx.Deposits().Select(ctx, shop, f, page)
	}, func(d bursar.Deposit) int64 { return d.Number })
}

func pagedWithdrawals(f store.WithdrawalFilter) paged {
	return pagedBy(func(tx *store.Tx, page store.Page) ([]bursar.Withdrawal, int64, error) {
		return tx.Withdrawals().Select(ctx, shop, f, page)
	}, func(w bursar.Withdrawal) int64 { return w.Number })
}

func pagedWallets(f store.WalletFilter) paged {
	return pagedBy(func(tx *store.Tx, page store.Page) ([]bursar.Wallet, int64, error) {
		return tx.Wallets().Select(ctx, shop, f, page)
	}, func(w bursar.Wallet) int64 { return w.Number })
}

func pagedSums(f store.ChargeFilter) paged {
	return pagedBy(func(tx *store.Tx, page store.Page) ([]bursar.Invoice, int64, error) {
		return tx.Invoices().List(ctx, shop, f, page)
	}, func(v bursar.Invoice) int64 { return v.Number })
}

// Where no index has a filter, a page looks at a number of rows and no more, and the pages together are the list.
func TestAPageLooksAtABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		longHistoryOf(t, db)
		middle := db.Now().Add(-longHistory/2*time.Hour - time.Minute)
		no := false
		for name, c := range map[string]struct {
			list  paged
			want  int // items in all
			short bool
		}{
			"deposits":                   {pagedDeposits(store.DepositFilter{}), longHistory, false},
			"deposits of a currency":     {pagedDeposits(store.DepositFilter{Currency: "LTC"}), 4, true},
			"deposits of another status": {pagedDeposits(store.DepositFilter{Status: bursar.DepositPending}), 40, false},
			"deposits of none":           {pagedDeposits(store.DepositFilter{Status: bursar.DepositConfirmed}), 0, true},
			"deposits of a period":       {pagedDeposits(store.DepositFilter{To: middle}), 20, true},
			"withdrawals of a currency":  {pagedWithdrawals(store.WithdrawalFilter{Currency: "LTC"}), 4, true},
			"withdrawals that failed":    {pagedWithdrawals(store.WithdrawalFilter{Status: bursar.WithdrawalFailed}), 4, false},
			"withdrawals that are confirmed": {pagedWithdrawals(store.WithdrawalFilter{
				Status: bursar.WithdrawalConfirmed}), 36, false},
			"withdrawals to one, of a period": {pagedWithdrawals(store.WithdrawalFilter{
				Addresses: []bursar.Address{{Base: "out"}}, To: middle}), 20, true},
			"wallets of a currency": {pagedWallets(store.WalletFilter{Currency: "LTC"}), 4, false},
			"wallets of a period":   {pagedWallets(store.WalletFilter{To: middle}), 20, true},
			"wallets of metadata":   {pagedWallets(store.WalletFilter{Metadata: "all", Currency: "LTC"}), 4, true},
			"charges of a status":   {pagedSums(store.ChargeFilter{Status: bursar.ChargeExpired}), 4, false},
			"charges of a period":   {pagedSums(store.ChargeFilter{To: middle}), 20, true},
			"charges of a status, of metadata": {pagedSums(store.ChargeFilter{Status: bursar.ChargeExpired,
				Metadata: "all"}), 4, true},
			"charges that do not wait": {pagedSums(store.ChargeFilter{Attention: &no}), 40, true},
		} {
			whole := walk(t, db, c.list, store.Page{Limit: 1000}, nil)
			if len(whole) != c.want {
				t.Errorf("%s: %d items, want %d", name, len(whole), c.want)
			}
			short := 0
			if got := walk(t, db, c.list, store.Page{Limit: 3, Looks: 7}, &short); !slices.Equal(got, whole) {
				t.Errorf("%s in pages that look at 7 rows: %v, want %v", name, got, whole)
			}
			if (short > 0) != c.short && c.want < longHistory {
				t.Errorf("%s: %d pages were short, want some: %t", name, short, c.short)
			}
		}
	})
}

// walk reads a list to its end, and counts the pages that were short before it.
func walk(t *testing.T, db *store.DB, list paged, page store.Page, short *int) (all []int64) {
	t.Helper()
	for {
		var found []int64
		var next int64
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			found, next, err = list(tx, page)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
		if len(found) >= page.Limit && next == 0 {
			next = found[len(found)-1]
		} else if next > 0 && short != nil {
			*short++
		}
		if next == 0 || len(all) > longHistory {
			return all
		}
		page.Before = next
	}
}
