package storetest

import (
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func wallets(t *testing.T, db *store.DB) {
	mine, other := newAccount(t, db, 1), newAccount(t, db, 2)
	btc := newWallets(t, db, mine, "BTC", 3)
	newWallets(t, db, mine, "LTC", 2)
	theirs := newWallets(t, db, other, "BTC", 1)
	hook := func(w bursar.Wallet) (url string) {
		do(t, db, func(tx *store.Tx) error {
			got, err := tx.Wallets().Get(ctx, w.AccountID, w.ID)
			url = got.Webhook
			return err
		})
		return url
	}
	do(t, db, func(tx *store.Tx) error {
		_, err := tx.Wallets().Get(ctx, mine, theirs[0].ID)
		want(t, err, store.ErrNotFound)
		n, err := tx.Wallets().SetWebhookRule(ctx, mine, "BTC", "https://btc.example")
		if n != 3 {
			t.Errorf("a rule for BTC met %d wallets, want 3", n)
		}
		return err
	})
	if hook(btc[0]) != "https://btc.example" || hook(theirs[0]) != "https://own.example" {
		t.Errorf("after the currency's rule: %s, another account's %s", hook(btc[0]), hook(theirs[0]))
	}
	do(t, db, func(tx *store.Tx) error {
		_, err := tx.Wallets().SetWebhook(ctx, mine, btc[0].ID, "https://one.example")
		return err
	})
	if hook(btc[0]) != "https://one.example" || hook(btc[1]) != "https://btc.example" {
		t.Errorf("after one wallet's: %s and %s", hook(btc[0]), hook(btc[1]))
	}
	do(t, db, func(tx *store.Tx) error {
		n, err := tx.Wallets().SetWebhookRule(ctx, mine, "", "https://all.example")
		if n != 5 {
			t.Errorf("a rule for all met %d wallets, want 5", n)
		}
		return err
	})
	late := newWallets(t, db, mine, "BTC", 1)
	if hook(btc[0]) != "https://all.example" || hook(late[0]) != "https://own.example" {
		t.Errorf("after the account's rule: %s, a later wallet %s", hook(btc[0]), hook(late[0]))
	}
	do(t, db, func(tx *store.Tx) error {
		first, err := tx.Wallets().List(ctx, mine, "", store.Page{Limit: 4})
		if err != nil || len(first) != 4 || first[0].ID != late[0].ID {
			t.Errorf("the first page is %d long, %v", len(first), err)
		}
		rest, err := tx.Wallets().List(ctx, mine, "", store.Page{Before: first[3].Number, Limit: 10})
		if len(rest) != 2 || rest[1].ID != btc[0].ID {
			t.Errorf("the second page is %d long", len(rest))
		}
		only, _ := tx.Wallets().List(ctx, mine, "LTC", store.Page{Limit: 10})
		if len(only) != 2 {
			t.Errorf("%d LTC wallets, want 2", len(only))
		}
		return err
	})
}

func walletNumbers(t *testing.T, db *store.DB) {
	account := newAccount(t, db, 1)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 10 {
				if err := db.Do(ctx, func(tx *store.Tx) error {
					_, err := makeWallets(tx, account, "BTC", 1)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := int64(0)
	watch := func() {
		do(t, db, func(tx *store.Tx) error {
			newest, err := tx.Wallets().Newest(ctx)
			if err != nil {
				return err
			}
			found := 0
			err = tx.Wallets().EachWatched(ctx, "BTC", seen, newest, func(string) { found++ }, nil)
			if int64(found) != newest-seen {
				t.Errorf("between wallets %d and %d, %d are visible", seen, newest, found)
			}
			seen = newest
			return err
		})
	}
	for range 20 {
		watch()
	}
	group.Wait()
	watch()
	if seen != 80 {
		t.Errorf("saw %d wallets of 80, want 80", seen)
	}
}
