package refill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Errors of revocations.
var (
	ErrNotAbandoned    = errors.New("an open refill is not revoked: abandon it first")
	ErrNothingToRevoke = errors.New("the bundle cannot be broadcast any more: what it spends is used up")
	ErrEnds            = errors.New("the bundle ends by itself, and nothing else ends it on its chain: wait until")
	ErrEnded           = errors.New("the bundle cannot be broadcast any more: it ended at")
)

// Revoke starts a refill that conflicts with an abandoned or unconfirmed one: it spends the same inputs or nonce, so at
// most one of the two is ever in a block. It pays the hot wallet as every refill does, by default as much as the other
// would, and is signed and broadcast as every refill is. It offers a higher fee than the other and than earlier
// attempts to revoke that; if that exceeds the bound, the revocation of an abandoned refill offers the market's fee. On
// a chain where a transaction can only expire, nothing is started. The errors are ErrNotAbandoned, ErrNothingToRevoke,
// ErrEnds, ErrEnded and those of Begin.
func (s *Service) Revoke(ctx context.Context, id bursar.ID, r Request) (ceremony.Bundle, error) {
	known, err := Get(ctx, s.DB, id)
	if err != nil {
		return ceremony.Bundle{}, err
	}
	if known.Status == store.RefillOpen {
		return ceremony.Bundle{}, ErrNotAbandoned
	}
	if final, err := s.final(ctx, known); err != nil {
		return ceremony.Bundle{}, err
	} else if final {
		return ceremony.Bundle{}, fmt.Errorf("%w: the refill is final", ErrNothingToRevoke)
	}
	old, tx, err := s.read(known)
	if err != nil {
		return ceremony.Bundle{}, err
	}
	if !tx.Ends.IsZero() {
		return ceremony.Bundle{}, s.ends(tx.Ends)
	}
	if otherwise(old.Wallet, r.Wallet) {
		return ceremony.Bundle{}, fmt.Errorf("cold wallet %s is configured otherwise than when refill %s began: configure "+
			"it as it was, with %v %s, until that is revoked", r.Wallet.Name, id, old.Wallet.Addresses,
			old.Wallet.NonceAccount)
	}
	last, err := s.newest(ctx, known, r.Wallet, tx.Reservations)
	if err != nil {
		return ceremony.Bundle{}, err
	}
	waits, _, err := s.read(last)
	if err != nil {
		return ceremony.Bundle{}, err
	}
	if r.Amount == "" {
		r.Amount = s.Own.Asset.Exact(old.Payment.Amount)
	}
	r.revokes, r.uses, r.old = id.String(), tx.Reservations, waits.Bytes
	b, err := s.Begin(ctx, r)
	var limit *chain.FeeLimitError
	if errors.As(err, &limit) && last.Status == store.RefillAbandoned {
		r.old = nil // it was never sent from here: no node is known to have it and to want a higher price
		return s.Begin(ctx, r)
	}
	return b, err
}

// otherwise reports whether a wallet is configured differently now. Then what it would use up now does not show what it
// would have used up before: another nonce account has another nonce, and that of the old one stays usable.
func otherwise(then, now bursar.ColdWallet) bool {
	return then.Name != now.Name || !slices.Equal(then.Addresses, now.Addresses) || then.NonceAccount != now.NonceAccount
}

// ends says when a transaction ends, or that it did.
func (s *Service) ends(at time.Time) error {
	cause := ErrEnds
	if s.DB.Now().After(at) {
		cause = ErrEnded
	}
	return fmt.Errorf("%w %s", cause, at.UTC().Format(time.RFC3339))
}

// newest returns the last one sent of a refill and all others that use up the same; the refill itself if none was sent.
func (s *Service) newest(
	ctx context.Context, r store.Refill, w bursar.ColdWallet, uses []string,
) (store.Refill, error) {
	var sent []store.Refill
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		sent, err = s.waiting(ctx, tx, w, uses)
		return err
	})
	if err != nil || len(sent) == 0 {
		return r, err
	}
	return sent[len(sent)-1], nil
}

func (s *Service) final(ctx context.Context, r store.Refill) (final bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		final, err = tx.Refills().Final(ctx, r)
		return err
	})
	return final, err
}

func shares(one, two []string) bool {
	return slices.ContainsFunc(one, func(resource string) bool { return slices.Contains(two, resource) })
}
