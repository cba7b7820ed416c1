package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// Lease is the right of one replica to lead a chain. Token grows with every change of leader.
type Lease struct {
	Chain  bursar.ChainID
	Holder string
	Token  int64
}

// Acquire takes or renews the lease of a chain for ttl; it reports false while another replica holds it. A replica of a
// later epoch than the holder's takes it at once, and from then on none of an earlier one gets it: such a replica knows
// neither the hot wallet nor what may be signed. One comparison of the row decides, and every transaction of a leader
// begins with the same row (Fence).
func (tx Leases) Acquire(ctx context.Context, chain bursar.ChainID, holder string,
	ttl time.Duration) (Lease, bool, error) {
	lease := Lease{Chain: chain, Holder: holder}
	err := tx.row(ctx, "acquire lease",
		`UPDATE chains SET token = CASE WHEN holder = $2 AND lease_until >= $3 AND epoch = $5 THEN token
		ELSE token + 1 END, holder = $2, lease_until = $4, epoch = $5
		WHERE chain = $1 AND epoch <= $5 AND (holder = $2 OR lease_until < $3 OR epoch < $5) RETURNING token`,
		[]any{string(chain), holder, micros(tx.now), micros(tx.now.Add(ttl)), int64(tx.epoch)}, &lease.Token)
	if errors.Is(err, ErrNotFound) {
		return Lease{}, false, nil
	}
	return lease, err == nil, err
}

// Release gives up a lease so that another replica need not wait for its end.
func (tx Leases) Release(ctx context.Context, l Lease) error {
	_, err := tx.exec(ctx, "release lease",
		`UPDATE chains SET lease_until = 0, holder = '' WHERE chain = $1 AND holder = $2 AND token = $3`,
		string(l.Chain), l.Holder, l.Token)
	return err
}

// Fence locks the chain under a lease and returns its state, or ErrLeaseLost when another replica leads it. Whatever a
// leader writes, it writes in a transaction that began with Leases.Fence: a leader that was away too long cannot write.
func (tx Leases) Fence(ctx context.Context, l Lease) (ChainState, error) {
	state, err := chainColumns.one(ctx, tx.Tx, "check lease",
		`FROM chains WHERE chain = $1 AND holder = $2 AND token = $3`+tx.forUpdate(),
		string(l.Chain), l.Holder, l.Token)
	if errors.Is(err, ErrNotFound) {
		return ChainState{}, ErrLeaseLost
	}
	return state, err
}

// WithLease runs f while this process leads the chain, again and again until ctx ends: it waits while another replica
// leads, renews the lease while f runs, and cancels f's context when the lease is lost or f must start again.
func (db *DB) WithLease(ctx context.Context, chain bursar.ChainID, holder string, ttl time.Duration,
	f func(context.Context, Lease) error) error {
	if err := db.Do(ctx, func(tx *Tx) error { return tx.Chains().Ensure(ctx, chain) }); err != nil {
		return err
	}
	tick := time.NewTicker(ttl / 4)
	defer tick.Stop()
	for {
		lease, ok, err := db.acquire(ctx, chain, holder, ttl)
		if err == nil && ok {
			err = db.underLease(ctx, lease, ttl, f)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrLeaseLost) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (db *DB) acquire(ctx context.Context, chain bursar.ChainID, holder string,
	ttl time.Duration) (lease Lease, ok bool, err error) {
	err = db.Do(ctx, func(tx *Tx) (err error) {
		lease, ok, err = tx.Leases().Acquire(ctx, chain, holder, ttl)
		return err
	})
	return lease, ok, err
}

// underLease runs f and renews the lease beside it.
func (db *DB) underLease(
	ctx context.Context, lease Lease, ttl time.Duration, f func(context.Context, Lease) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() { ended <- f(ctx, lease) }()
	renew := time.NewTicker(ttl / 4)
	defer renew.Stop()
	valid := time.Now().Add(ttl)
	for {
		select {
		case err := <-ended:
			// A lease that is not released runs out by itself.
			_ = db.Do(context.WithoutCancel(ctx), func(tx *Tx) error {
				return tx.Leases().Release(context.WithoutCancel(ctx), lease)
			})
			return err
		case <-renew.C:
			again, ok, err := db.acquire(ctx, lease.Chain, lease.Holder, ttl)
			switch {
			case err == nil && ok && again.Token == lease.Token:
				valid = time.Now().Add(ttl)
			case err == nil || time.Now().After(valid):
				cancel(ErrLeaseLost)
				<-ended //nolint:errcheck // it ends because its lease is lost
				return ErrLeaseLost
			}
		}
	}
}
