package wallet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

const (
	// PoolSize is how many public keys a pool holds ready by default.
	PoolSize = 10_000
	// poolChunk is how many keys are added in one transaction: a few dozen milliseconds of derivation, and a few of
	// writing.
	poolChunk = 1_000
	// poolPace is how often a pool is checked without a wake-up, and the pause after a failure.
	poolPace = 10 * time.Second
)

// AlarmPoolEmpty is the kind of the alarm that is raised when a wallet could not be made because the pool has no key.
const AlarmPoolEmpty = "address_pool_empty"

// ErrOtherPool is returned when the pool holds keys of another seed.
var ErrOtherPool = errors.New("the address pool was filled from another seed")

// Pooled reports whether a chain's deposit keys come from the pool: ed25519 keys do, because only the seed can derive
// them.
func Pooled(capabilities chain.Capabilities) bool {
	return capabilities.Curve == chain.Ed25519 && !capabilities.SharedAddress
}

// Pool holds public keys ready for families whose keys only the seed can derive, so that a wallet is created without
// the seed. Several processes may fill one pool: they derive the same keys.
type Pool struct {
	DB       *store.DB
	Keys     Keys // those of a process with the seed
	Families []bursar.Family
	Size     int // keys held ready; 0: PoolSize
	Log      *slog.Logger
	Wake     <-chan struct{} // signals that keys were taken; may be nil
}

func (p *Pool) size() int {
	if p.Size == 0 {
		return PoolSize
	}
	return p.Size
}

// Run fills the pool whenever less than half of its size is left. It returns when ctx ends.
func (p *Pool) Run(ctx context.Context) error {
	lastLogged := ""
	for {
		wake := p.Wake
		err := p.Step(ctx)
		// Log an error once: a list of keys that has ended stays so until there is another.
		if err != nil && ctx.Err() == nil && err.Error() != lastLogged {
			p.Log.Error("address pool not filled: wallets of its chains will be refused once it is empty", "error", err)
		}
		if lastLogged = ""; err != nil {
			lastLogged = err.Error()
			wake = nil // after a failure, wait: do not retry with every wallet request
		}
		timer := time.NewTimer(poolPace)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// Step checks the pool once, and fills it up where less than half is left.
func (p *Pool) Step(ctx context.Context) error {
	for _, family := range p.Families {
		s, err := p.state(ctx, family)
		if err != nil {
			return err
		}
		if int(s.Ready) >= (p.size()+1)/2 {
			continue
		}
		if s.Ready == 0 && s.Next > 0 {
			p.Log.Error("address pool is empty: wallets are refused until it is filled", "family", family, "next", s.Next)
		}
		if err := p.Fill(ctx, family, p.size()); err != nil {
			return err
		}
	}
	return nil
}

// Prime adds a first chunk of keys for every family that has fewer, so that wallets can be made at once.
func (p *Pool) Prime(ctx context.Context) error {
	for _, family := range p.Families {
		if err := p.Fill(ctx, family, min(p.size(), poolChunk)); err != nil {
			return err
		}
	}
	return nil
}

// Fill derives keys until at least so many are ready, one chunk per transaction, and removes those that were used.
func (p *Pool) Fill(ctx context.Context, family bursar.Family, ready int) error {
	for {
		s, err := p.state(ctx, family)
		if err != nil {
			return err
		}
		if int(s.Ready) >= ready {
			return p.DB.Do(ctx, func(tx *store.Tx) error { return tx.KeyPool().Trim(ctx, family) })
		}
		keys, err := p.derive(family, s.End(), min(ready-int(s.Ready), poolChunk))
		if err != nil {
			return err
		}
		err = p.DB.Do(ctx, func(tx *store.Tx) error {
			if err := tx.KeyPool().Add(ctx, family, keys); err != nil {
				return err
			}
			return tx.Alarms().Resolve(ctx, AlarmPoolEmpty, string(family))
		})
		if err != nil {
			return fmt.Errorf("fill the address pool of %s: %w", family, err)
		}
	}
}

// derive returns n keys, or fewer, but at least one, where the rest cannot be derived here, as from a list that ends.
func (p *Pool) derive(family bursar.Family, from uint32, n int) ([]store.PoolKey, error) {
	keys := make([]store.PoolKey, n)
	for i := range keys {
		index := from + uint32(i)
		pub, err := p.Keys.Public(chain.KeyRef{Family: family, Branch: chain.DepositBranch, Index: index})
		if err != nil && i > 0 {
			return keys[:i], nil // the next call says why
		}
		if err != nil {
			return nil, fmt.Errorf("derive keys for the address pool of %s: %w", family, err)
		}
		keys[i] = store.PoolKey{Index: index, Public: pub}
	}
	return keys, nil
}

// Verify compares the first and the last key of each pool with the seed. The error is ErrOtherPool when they differ.
func (p *Pool) Verify(ctx context.Context) error {
	for _, family := range p.Families {
		s, err := p.state(ctx, family)
		if err != nil {
			return err
		}
		for _, kept := range []*store.PoolKey{s.First, s.Last} {
			if kept == nil {
				continue
			}
			own, err := p.derive(family, kept.Index, 1)
			if err != nil {
				return err
			}
			if !bytes.Equal(own[0].Public, kept.Public) {
				return fmt.Errorf("%w: family %s, index %d", ErrOtherPool, family, kept.Index)
			}
		}
	}
	return nil
}

func (p *Pool) state(ctx context.Context, family bursar.Family) (s store.PoolState, err error) {
	err = p.DB.View(ctx, func(tx *store.Tx) error {
		s, err = tx.KeyPool().State(ctx, family)
		return err
	})
	if err != nil {
		return s, fmt.Errorf("read the address pool of %s: %w", family, err)
	}
	return s, nil
}
