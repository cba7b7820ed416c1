package account

import (
	"context"
	"errors"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Ahead is what a request will read of its account. Where the account is known from the last request with the same key,
// it is read together with the key, so that both take one round trip to the database. A request that is refused gets
// nothing of it.
type Ahead struct {
	Balances bool
	Wallet   bursar.ID // zero: none
}

// Read is what was read together with the key. A request reads for itself what is not here.
type Read struct {
	Balances *store.AccountBalances
	Wallet   *bursar.Wallet
}

// lookUp is the key of a request, and what else is looked for in the same round trip.
type lookUp struct {
	hash    [32]byte
	account bursar.ID // whose key it was
	Ahead
}

// looked is what was found for a lookUp.
type looked struct {
	key     bursar.APIKey
	account bursar.ID // of which something was read
	read    Read
}

// find looks for a key and, where the account is likely known, for what the request will read. Keys alone have a Gather
// of their own, and so have those with balances: neither a balance that takes long to add up nor one that cannot be
// read holds up requests that need none. Where reading ahead fails, the key alone is looked for, and the request reads
// the rest.
func (s *Service) find(ctx context.Context, hash [32]byte, ahead Ahead) (looked, error) {
	var account bursar.ID
	if ahead != (Ahead{}) {
		account = s.owners.get(hash)
	}
	if !account.IsZero() {
		gather := s.withWallets
		if ahead.Balances {
			gather = s.withBalances
		}
		found, err := gather.Find(ctx, lookUp{hash, account, ahead})
		if err == nil || errors.Is(err, store.ErrNotFound) || ctx.Err() != nil {
			return found, err
		}
	}
	key, err := s.keys.Find(ctx, hash)
	return looked{key: key}, err
}

// lookUpAll answers look-ups by one statement for the keys, and one for each kind of what is read ahead, in one round
// trip.
func lookUpAll(ctx context.Context, tx *store.Tx, asked []lookUp) (map[lookUp]looked, error) {
	hashes, seen := make([][32]byte, 0, len(asked)), make(map[[32]byte]bool, len(asked))
	var balancesOf []bursar.ID
	var named []store.WalletName
	for _, a := range asked {
		if !seen[a.hash] {
			seen[a.hash] = true
			hashes = append(hashes, a.hash)
		}
		if a.Balances {
			balancesOf = append(balancesOf, a.account)
		}
		if !a.Wallet.IsZero() {
			named = append(named, store.WalletName{Account: a.account, ID: a.Wallet})
		}
	}
	var balances *store.Deferred[map[bursar.ID]store.AccountBalances]
	if len(balancesOf) > 0 {
		balances = tx.Ledger().OfAccountsDeferred(ctx, balancesOf)
	}
	var wallets *store.Deferred[map[store.WalletName]bursar.Wallet]
	if len(named) > 0 {
		wallets = tx.Wallets().OfAccountsDeferred(ctx, named)
	}
	keys, err := tx.APIKeys().ByHashes(ctx, hashes)
	if err != nil {
		return nil, err
	}
	found := make(map[lookUp]looked, len(asked))
	for _, a := range asked {
		if key, is := keys[a.hash]; is {
			found[a] = looked{key: key, account: a.account}
		}
	}
	if balances != nil {
		if err := addBalances(ctx, found, balances); err != nil {
			return nil, err
		}
	}
	if wallets != nil {
		return found, addWallets(ctx, found, wallets)
	}
	return found, nil
}

func addBalances(
	ctx context.Context, found map[lookUp]looked, balances *store.Deferred[map[bursar.ID]store.AccountBalances],
) error {
	all, err := balances.Get(ctx)
	for a, l := range found {
		if b, is := all[a.account]; is && a.Balances {
			l.read.Balances = &b
			found[a] = l
		}
	}
	return err
}

func addWallets(
	ctx context.Context, found map[lookUp]looked, wallets *store.Deferred[map[store.WalletName]bursar.Wallet],
) error {
	all, err := wallets.Get(ctx)
	for a, l := range found {
		if w, is := all[store.WalletName{Account: a.account, ID: a.Wallet}]; is {
			l.read.Wallet = &w
			found[a] = l
		}
	}
	return err
}

// maxOwners bounds the memory of owners: 100,000 keys take some 10 MB.
const maxOwners = 100_000

// owners remembers whose a key was when it was used last. A key never changes hands; the database decides all the same,
// and this says only where to look ahead.
type owners struct {
	mu sync.RWMutex
	of map[[32]byte]bursar.ID
}

func (o *owners) get(hash [32]byte) bursar.ID {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of[hash]
}

func (o *owners) put(hash [32]byte, account bursar.ID) {
	if o.get(hash) == account {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxOwners {
		o.of = map[[32]byte]bursar.ID{} // those that are in use come back at once
	}
	o.of[hash] = account
}
