package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
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
		{"a transfer is one deposit for ever", deposits},
		{"a deposit that is held back blocks no other", heldBack},
		{"a chain says why it cannot be followed", failing},
		{"many blocks are pushed at once", pushedTogether},
		{"entries are posted once", posting},
		{"postings at the same time lose nothing", concurrentPosting},
		{"a statement lists what it is asked for", statements},
		{"an entry has the rate of its time", entryRates},
		{"requests are logged and forgotten", requestLog},
		{"a transfer's deposit is found by its withdrawal", transfers},
		{"a batch commits the good and refuses the bad", batches},
		{"a lease fences off the old leader", leases},
		{"a lease fences off an earlier epoch", leasesOfEpochs},
		{"an epoch is acted on once", actsOnce},
		{"blocks are pushed and popped", cursor},
		{"a reservation has one owner", reservations},
		{"the shares of outgoing transactions", sharesOfOutgoing},
		{"UTXOs can be spent once they count", utxos},
		{"a UTXO is lost once that is proven", lostReservations},
		{"a nonce is unknown below those that are known", unknownNonces},
		{"a next nonce is above those that are used", nextNonces},
		{"what made UTXOs is kept until they are spent", previousTransactions},
		{"deliveries are leased by one worker", deliveries},
		{"a fee is set for one account", fees},
		{"a limit is set for one account or for all", limits},
		{"an idempotency key answers once", idempotency},
		{"a withdrawal is taken up or cancelled", takenOrCancelled},
		{"a freeze is not lifted beside a reversal", freezes},
		{"a halt stands until its own reason ends", halts},
		{"a charge is paid once", paidOnce},
		{"a status moves along its table only", statuses},
		{"a deposit is resolved once", resolutions},
		{"a cold wallet has one open refill", refills},
		{"what is screened goes on by what is known about it", screenings},
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
	a := bursar.Account{
		ID:                bursar.ID{0: 1, 15: n},
		Name:              fmt.Sprintf("account %d", n),
		CreatedAt:         db.Now(),
		WebhookGeneration: 1,
	}
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
		list[i] = bursar.Wallet{
			Number:    number + int64(i),
			AccountID: account,
			Currency:  currency,
			Family:    bursar.Family(currency),
			Index:     index + uint32(i),
			ID:        bursar.ID{0: 2, 13: byte(number >> 16), 14: byte((number + int64(i)) >> 8), 15: byte(number + int64(i))},
			Webhook:   "https://own.example",
			CreatedAt: tx.Now(),
		}
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
	key := bursar.APIKey{
		ID:         bursar.ID{3},
		AccountID:  id,
		KeyHash:    [32]byte{7},
		SecretHash: []byte{8},
		Hint:       "bk_ab",
		CreatedAt:  db.Now(),
		Scopes:     []bursar.Scope{bursar.ScopeRead, bursar.ScopeWithdraw},
	}
	do(t, db, func(tx *store.Tx) error { return tx.APIKeys().Insert(ctx, key) })
	do(t, db, func(tx *store.Tx) error {
		k, err := keyOf(ctx, tx, key.KeyHash)
		if err != nil || k.ID != key.ID || !k.Usable(tx.Now()) || !k.Allows(bursar.ScopeWithdraw) ||
			k.Allows(bursar.ScopeWallets) || !k.CreatedAt.Equal(key.CreatedAt) {
			t.Errorf("read back %+v, %v", k, err)
		}
		_, err = keyOf(ctx, tx, [32]byte{1})
		want(t, err, store.ErrNotFound)
		return tx.APIKeys().Revoke(ctx, key.ID)
	})
	do(t, db, func(tx *store.Tx) error {
		k, err := keyOf(ctx, tx, key.KeyHash)
		if k.Usable(tx.Now()) {
			t.Error("a revoked key is usable")
		}
		if err := tx.Halts().Put(ctx, store.Halt{
			Scope:  store.HaltAccount(id),
			Kind:   store.HaltByOperator,
			Reason: "why",
		}); err != nil {
			return err
		}
		if n, err := tx.Halts().Lift(ctx, store.HaltAccount(id), store.HaltByReversal, ""); n != 0 || err != nil {
			return err
		}
		a, _ := tx.Accounts().Lock(ctx, id)
		if a.Frozen != "why" {
			t.Errorf("frozen for %q, want %q", a.Frozen, "why")
		}
		a, _ = tx.Accounts().RotateWebhookSecret(ctx, id, tx.Now().Add(time.Hour))
		if a.WebhookGeneration != 2 || a.WebhookOverlap.Sub(tx.Now()) != time.Hour {
			t.Errorf("after the rotation %+v", a)
		}
		return err
	})
}

// keyOf returns the key with that hash, or ErrNotFound.
func keyOf(ctx context.Context, tx *store.Tx, hash [32]byte) (bursar.APIKey, error) {
	found, err := tx.APIKeys().ByHashes(ctx, [][32]byte{hash})
	k, there := found[hash]
	if err == nil && !there {
		err = store.ErrNotFound
	}
	return k, err
}
