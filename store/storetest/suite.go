package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Run runs the suite that holds both databases to one behaviour.
func Run(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, db *store.DB)
	}{
		{"an undone transaction leaves no trace", undone},
		{"a transaction in which a statement failed is never committed", passedOver},
		{"a pinned setting never changes", pinned},
		{"accounts and keys", accounts},
		{"wallets and their webhooks", wallets},
		{"wallet numbers become visible in their order", walletNumbers},
		{"a pool of keys is taken from in order", pool},
		{"two fill a pool at once", poolOfTwo},
		{"an arrival is one deposit for ever", arrivals},
		{"what is held back stands in nobody's way", heldBack},
		{"a chain says why it cannot be followed", failing},
		{"many blocks are pushed at once", pushedTogether},
		{"entries are posted once", posting},
		{"postings at the same time lose nothing", concurrentPosting},
		{"a statement lists what it is asked for", statements},
		{"a transfer's deposit is found by its withdrawal", transfers},
		{"a batch commits the good and refuses the bad", batches},
		{"a lease fences off the old leader", leases},
		{"blocks are pushed and popped", cursor},
		{"a reservation has one owner", reservations},
		{"the shares of outgoing transactions", sharesOfSpends},
		{"UTXOs can be spent once they count", utxos},
		{"a UTXO is lost once that is proven", lostClaims},
		{"deliveries are leased by one worker", deliveries},
		{"a fee is set for one account", fees},
		{"an idempotency key answers once", idempotency},
		{"a withdrawal is taken up or cancelled", takenOrCancelled},
		{"a freeze is not lifted beside a reversal", freezes},
		{"a halt stands until its own reason ends", halts},
		{"a charge is paid once", paidOnce},
		{"a status moves along its table only", statuses},
		{"a deposit is resolved once", resolutions},
		{"value that fits no wallet finds an owner", owners},
	} {
		t.Run(test.name, func(t *testing.T) { Each(t, test.run) })
	}
}

var ctx = context.Background()

// do runs f in a transaction that must succeed.
func do(t *testing.T, db *store.DB, f func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Do(ctx, f); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got %v, want %v", err, target)
	}
}

// newAccount adds an account with an ID made of n.
func newAccount(t *testing.T, db *store.DB, n byte) bursar.ID {
	t.Helper()
	a := bursar.Account{ID: bursar.ID{0: 1, 15: n}, Name: fmt.Sprintf("account %d", n), CreatedAt: db.Now(), WebhookGeneration: 1}
	do(t, db, func(tx *store.Tx) error { return tx.Accounts().Insert(ctx, a) })
	return a.ID
}

// newWallets adds n BTC wallets with ids, bases and indexes made of their numbers, and returns them.
func newWallets(t *testing.T, db *store.DB, account bursar.ID, currency bursar.CurrencyCode, n int) []bursar.Wallet {
	t.Helper()
	var list []bursar.Wallet
	do(t, db, func(tx *store.Tx) (err error) {
		list, err = makeWallets(tx, account, currency, n)
		return err
	})
	return list
}

func makeWallets(tx *store.Tx, account bursar.ID, currency bursar.CurrencyCode, n int) ([]bursar.Wallet, error) {
	number, err := tx.Wallets().TakeNumbers(ctx, n)
	if err != nil {
		return nil, err
	}
	index, err := tx.KeyIndexes().Take(ctx, bursar.Family(currency), n)
	if err != nil {
		return nil, err
	}
	list := make([]bursar.Wallet, n)
	for i := range list {
		list[i] = bursar.Wallet{Number: number + int64(i), AccountID: account, Currency: currency, Family: bursar.Family(currency), Index: index + uint32(i),
			ID: bursar.ID{0: 2, 13: byte(number >> 16), 14: byte((number + int64(i)) >> 8), 15: byte(number + int64(i))}, Webhook: "https://own.example", CreatedAt: tx.Now()}
		list[i].Address = bursar.Address{Base: fmt.Sprintf("%s-%d", currency, list[i].Index)}
	}
	return list, tx.Wallets().Insert(ctx, list)
}

func undone(t *testing.T, db *store.DB) {
	boom := errors.New("boom")
	id := bursar.ID{9}
	err := db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Accounts().Insert(ctx, bursar.Account{ID: id, Name: "x", CreatedAt: tx.Now()}); err != nil {
			return err
		}
		return boom
	})
	want(t, err, boom)
	want(t, db.View(ctx, func(tx *store.Tx) error { _, err := tx.Accounts().Get(ctx, id); return err }), store.ErrNotFound)
}

func pinned(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error { return tx.Settings().Pin(ctx, "seed", "a") })
	do(t, db, func(tx *store.Tx) error { return tx.Settings().Pin(ctx, "seed", "a") })
	want(t, db.Do(ctx, func(tx *store.Tx) error { return tx.Settings().Pin(ctx, "seed", "b") }), store.ErrMismatch)
}

func accounts(t *testing.T, db *store.DB) {
	id := newAccount(t, db, 1)
	key := bursar.APIKey{ID: bursar.ID{3}, AccountID: id, KeyHash: [32]byte{7}, SecretHash: []byte{8}, Hint: "bk_ab", CreatedAt: db.Now(),
		Scopes: []bursar.Scope{bursar.ScopeRead, bursar.ScopeWithdraw}}
	do(t, db, func(tx *store.Tx) error { return tx.APIKeys().Insert(ctx, key) })
	do(t, db, func(tx *store.Tx) error {
		k, err := tx.APIKeys().ByHash(ctx, key.KeyHash)
		if err != nil || k.ID != key.ID || !k.Usable(tx.Now()) || !k.Allows(bursar.ScopeWithdraw) || k.Allows(bursar.ScopeWallets) || !k.CreatedAt.Equal(key.CreatedAt) {
			t.Errorf("read back %+v, %v", k, err)
		}
		_, err = tx.APIKeys().ByHash(ctx, [32]byte{1})
		want(t, err, store.ErrNotFound)
		return tx.APIKeys().Revoke(ctx, key.ID)
	})
	do(t, db, func(tx *store.Tx) error {
		k, err := tx.APIKeys().ByHash(ctx, key.KeyHash)
		if k.Usable(tx.Now()) {
			t.Error("a revoked key is usable")
		}
		if err := tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(id), Kind: store.HaltByOperator, Reason: "why"}); err != nil {
			return err
		}
		if n, err := tx.Halts().Lift(ctx, store.HaltAccount(id), store.HaltByReversal, ""); n != 0 || err != nil {
			return err
		}
		a, _ := tx.Accounts().Lock(ctx, id)
		if a.Frozen != "why" {
			t.Errorf("frozen for %q", a.Frozen)
		}
		a, _ = tx.Accounts().RotateWebhookSecret(ctx, id, tx.Now().Add(time.Hour))
		if a.WebhookGeneration != 2 || a.WebhookOverlap.Sub(tx.Now()) != time.Hour {
			t.Errorf("after the rotation %+v", a)
		}
		return err
	})
}

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
			t.Errorf("a rule for BTC met %d wallets", n)
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
			t.Errorf("a rule for all met %d wallets", n)
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
			t.Errorf("%d LTC wallets", len(only))
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
				if err := db.Do(ctx, func(tx *store.Tx) error { _, err := makeWallets(tx, account, "BTC", 1); return err }); err != nil {
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
			err = tx.Wallets().EachWatched(ctx, "BTC", seen, newest, func(string) { found++ })
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
		t.Errorf("saw %d wallets of 80", seen)
	}
}

func posting(t *testing.T, db *store.DB) {
	id := bursar.ID{1}
	d := bursar.Deposit{ID: id, AccountID: id, Currency: "BTC", Amount: bursar.Units(100), Fee: bursar.Units(1)}
	do(t, db, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) })
	want(t, db.Do(ctx, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) }), store.ErrPosted)
	w := bursar.Withdrawal{ID: id, AccountID: id, Currency: "BTC", Amount: bursar.Units(100)}
	want(t, db.Do(ctx, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.WithdrawalHeld(w, tx.Now())) }), ledger.ErrInsufficient)
	small, large := w, w
	small.Amount, large.ID, large.Amount = bursar.Units(60), bursar.ID{2}, bursar.Units(60)
	do(t, db, func(tx *store.Tx) error {
		errs, err := tx.Ledger().PostEach(ctx, []ledger.Entry{ledger.WithdrawalHeld(small, tx.Now()), ledger.WithdrawalHeld(large, tx.Now()), ledger.WithdrawalHeld(small, tx.Now())})
		if err == nil && (errs[0] != nil || !errors.Is(errs[1], ledger.ErrInsufficient) || !errors.Is(errs[2], store.ErrPosted)) {
			t.Errorf("posting each gave %v", errs)
		}
		return err
	})
	do(t, db, func(tx *store.Tx) error {
		b, err := tx.Ledger().Balance(ctx, ledger.Available(id), "BTC")
		if amount, _ := b.Net(ledger.Liability); amount != bursar.Units(39) {
			t.Errorf("available is %s", amount)
		}
		lines, _ := tx.Statements().List(ctx, store.LineQuery{Accounts: []ledger.Account{ledger.Available(id), ledger.Held(id)}}, store.Page{Limit: 10})
		if len(lines) != 3 || lines[0].Kind != ledger.KindWithdrawalHeld || lines[1].Amount != bursar.Units(1) {
			t.Errorf("the account's lines are %+v", lines)
		}
		return err
	})
	// What was refused may be posted once it can be.
	d.ID = bursar.ID{5}
	do(t, db, func(tx *store.Tx) error {
		return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()), ledger.WithdrawalHeld(large, tx.Now()))
	})
}

func concurrentPosting(t *testing.T, db *store.DB) {
	customers := []bursar.ID{{1}, {2}, {3}}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 25 {
				d := bursar.Deposit{ID: bursar.ID{byte(worker), byte(i)}, AccountID: customers[i%3], Currency: "BTC", Amount: bursar.Units(2)}
				if err := db.Do(ctx, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	do(t, db, func(tx *store.Tx) error {
		b, err := tx.Ledger().Balance(ctx, ledger.Custody, "BTC")
		if b.Debits != bursar.Units(8*25*2) {
			t.Errorf("custody is %s", b.Debits)
		}
		return err
	})
}

func batches(t *testing.T, db *store.DB) {
	batch := store.NewBatch(db, func(ctx context.Context, tx *store.Tx, items []byte) ([]store.Result[byte], error) {
		results := make([]store.Result[byte], len(items))
		for i, n := range items {
			if n == 13 {
				results[i].Err = store.ErrNotFound
				continue
			}
			if err := tx.Accounts().Insert(ctx, bursar.Account{ID: bursar.ID{n, 1}, Name: "b", CreatedAt: tx.Now()}); err != nil {
				return nil, err
			}
			results[i].Value = n
		}
		return results, nil
	})
	var group sync.WaitGroup
	for n := range byte(40) {
		group.Go(func() {
			id := n
			if n == 39 {
				id = 1 // taken: fails with the database's error, alone
			}
			_, err := batch.Do(ctx, id)
			switch {
			case n == 13 && !errors.Is(err, store.ErrNotFound):
				t.Errorf("the refused item got %v", err)
			case n != 13 && n != 39 && n != 1 && err != nil:
				t.Errorf("item %d: %v", n, err)
			}
		})
	}
	group.Wait()
	do(t, db, func(tx *store.Tx) error {
		all, err := tx.Accounts().All(ctx)
		if len(all) != 38 {
			t.Errorf("%d accounts of 38", len(all))
		}
		return err
	})
}
