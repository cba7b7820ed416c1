package replicas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// Customer is an account with its API key.
type Customer struct {
	ID          bursar.ID
	Key, Secret string
}

// Template is the initial state of every harness: a migrated database with a few accounts.
type Template struct {
	Image     []byte // of an SQLite database
	Customers []Customer
	Keys      *signer.Keys

	cached *bursartest.CachedKeys
	epochs []*bursartest.CachedKeys // by the epoch that is in force
	mu     sync.Mutex
	free   []*store.DB // in memory, with the template's content
}

// take returns a database in memory with the template's content.
func (t *Template) take(ctx context.Context) (*store.DB, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		db := t.free[n-1]
		t.free = t.free[:n-1]
		return db, nil
	}
	return store.OpenMemory(ctx, t.Image, store.Config{})
}

// give takes back a database that is no longer used.
func (t *Template) give(ctx context.Context, db *store.DB) error {
	if err := db.Rewind(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = append(t.free, db)
	return nil
}

// customers is how many accounts a template has. The last one requires a secret with every withdrawal.
const customers = 3

// NewTemplate fills a database. Its accounts and their keys are always the same.
func NewTemplate(ctx context.Context, db *store.DB) (*Template, error) {
	seed := [64]byte{1, 2, 3}
	keys, err := signer.KeysFromSeed(seed[:], signer.Testnet)
	if err != nil {
		return nil, err
	}
	t := &Template{Keys: keys, cached: bursartest.NewCachedKeys(keys)}
	if t.epochs, err = keysOfEpochs(); err != nil {
		return nil, err
	}
	random := rand.NewChaCha8([32]byte{7})
	accounts := account.NewService(db, bursar.NewIDs(db.Now, random))
	accounts.DrawFrom(random)
	for i := range customers {
		issued, err := accounts.Create(ctx, fmt.Sprint("customer ", i), i == customers-1)
		if err != nil {
			return nil, err
		}
		t.Customers = append(t.Customers, Customer{issued.AccountID, issued.APIKey, issued.APISecret})
	}
	if db.Postgres() {
		return t, nil
	}
	if err := db.Keep(ctx); err != nil {
		return nil, err
	}
	t.Image, err = db.Image(ctx)
	return t, err
}

// InMemory is the template of databases in memory, which is made once.
var InMemory = sync.OnceValues(func() (*Template, error) {
	ctx := context.Background()
	db, err := store.OpenMemory(ctx, nil, store.Config{Now: clocktest.New().Now})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return NewTemplate(ctx, db)
})

// addressed is a chain that remembers addresses, as bursartest.CachedKeys does keys.
type addressed struct {
	*sim.Chain
	keys *bursartest.CachedKeys
}

// Address returns what sim.Chain.Address returns.
func (a addressed) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	return a.keys.Address(a.Chain, pub, memo)
}
