package wallet_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

// listed are keys that end after some.
type listed struct {
	wallet.Keys
	count uint32
}

func (k listed) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	if ref.Index >= k.count {
		return nil, signer.ErrNeedsSeed
	}
	return k.Keys.Public(ref)
}

// A pool takes all of a list that is shorter than the pool, and goes on with a longer list; with a shorter one it does
// not start, because it could not be compared.
func TestAPoolOfAListTakesWhatThereIs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		seed := seedOf(t, 1)
		ready := func() uint32 {
			t.Helper()
			var s store.PoolState
			must(t, db.View(ctx, func(tx *store.Tx) (err error) {
				s, err = tx.KeyPool().State(ctx, chain.FamilySolana)
				return err
			}))
			return s.Ready
		}
		short := newPool(db, listed{seed, 7}, 20)
		if err := short.Step(ctx); !errors.Is(err, signer.ErrNeedsSeed) || ready() != 7 {
			t.Errorf("a list of 7: got %v with %d ready, want %v with 7", err, ready(), signer.ErrNeedsSeed)
		}
		must(t, newPool(db, listed{seed, 30}, 20).Step(ctx))
		if ready() != 20 {
			t.Errorf("a longer list: %d are ready, want 20", ready())
		}
		if err := short.Verify(ctx); !errors.Is(err, signer.ErrNeedsSeed) {
			t.Errorf("the shorter list again: got %v, want %v", err, signer.ErrNeedsSeed)
		}
	})
}
