package account

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// AllScopes returns every scope.
func AllScopes() []bursar.Scope {
	return []bursar.Scope{bursar.ScopeRead, bursar.ScopeWallets, bursar.ScopeWithdraw}
}

// Grant is the rights of a new key.
type Grant struct {
	Account    bursar.ID
	Scopes     []bursar.Scope // at least one
	Networks   []netip.Prefix // networks from which it may be used; none: all
	Expires    time.Time      // zero: never
	WithSecret bool
}

// Issued is a new key in clear text. It is shown once: nobody can read it again, not even this service.
type Issued struct {
	AccountID bursar.ID
	KeyID     bursar.ID
	APIKey    string
	APISecret string // empty for a key without one
}

// draw makes a key in its two forms: the stored one, and the one that its owner sees.
func (s *Service) draw(g Grant) (bursar.APIKey, Issued, error) {
	issued := Issued{AccountID: g.Account, KeyID: s.ids.Next()}
	var err error
	if issued.APIKey, err = drawToken(s.random, keyPrefix); err != nil {
		return bursar.APIKey{}, Issued{}, err
	}
	key := bursar.APIKey{ID: issued.KeyID, AccountID: g.Account, KeyHash: hash(issued.APIKey), Hint: hint(issued.APIKey),
		Scopes: slices.Clone(g.Scopes), Networks: slices.Clone(g.Networks), ExpiresAt: g.Expires}
	if !g.WithSecret {
		return key, issued, nil
	}
	if issued.APISecret, err = drawToken(s.random, secretPrefix); err != nil {
		return bursar.APIKey{}, Issued{}, err
	}
	of := hash(issued.APISecret)
	key.SecretHash = of[:]
	return key, issued, nil
}

// NewKey adds a key to an account. Errors: bursar.ErrNotFound for an unknown account, invalid_request for scopes that
// do not exist, for more than MaxNetworks networks and for an expiry in the past.
func (s *Service) NewKey(ctx context.Context, g Grant) (Issued, error) {
	if err := s.check(g); err != nil {
		return Issued{}, err
	}
	key, issued, err := s.draw(g)
	if err != nil {
		return Issued{}, err
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Accounts().Get(ctx, g.Account); err != nil {
			return store.AsRefusal(err)
		}
		key.CreatedAt = tx.Now()
		return tx.APIKeys().Insert(ctx, key)
	})
	if err != nil {
		return Issued{}, err
	}
	return issued, nil
}

func (s *Service) check(g Grant) error {
	if err := checkScopes(g.Scopes); err != nil {
		return err
	}
	if err := checkNetworks(g.Networks); err != nil {
		return err
	}
	if !g.Expires.IsZero() && !g.Expires.After(s.db.Now()) {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "expires", "the expiry is in the past")
	}
	return nil
}

// Rotate replaces a key by a new one with the same rights: the old one expires after overlap, at once for zero. The
// successor of a key that expires has the same lifetime. Errors: bursar.ErrNotFound for an unknown key, invalid_request
// for one that is revoked or has expired, and for an overlap below zero.
func (s *Service) Rotate(ctx context.Context, keyID bursar.ID, overlap time.Duration) (Issued, error) {
	if overlap < 0 {
		return Issued{}, bursar.RefuseField(bursar.CodeInvalidRequest, "overlap", "the overlap must not be below zero")
	}
	var issued Issued
	err := s.db.Do(ctx, func(tx *store.Tx) error {
		old, err := tx.APIKeys().Lock(ctx, keyID)
		if err != nil {
			return store.AsRefusal(err)
		}
		if !old.Usable(tx.Now()) {
			return errExpired
		}
		var next bursar.APIKey
		if next, issued, err = s.draw(successor(old, tx.Now())); err != nil {
			return err
		}
		next.CreatedAt = tx.Now()
		if err := tx.APIKeys().Insert(ctx, next); err != nil {
			return err
		}
		return tx.APIKeys().Expire(ctx, old.ID, tx.Now().Add(overlap))
	})
	if err != nil {
		return Issued{}, fmt.Errorf("rotate key: %w", err)
	}
	return issued, nil
}

func successor(old bursar.APIKey, now time.Time) Grant {
	g := Grant{Account: old.AccountID, Scopes: old.Scopes, Networks: old.Networks, WithSecret: old.SecretHash != nil}
	if !old.ExpiresAt.IsZero() {
		g.Expires = now.Add(old.ExpiresAt.Sub(old.CreatedAt))
	}
	return g
}

// Revoke makes a key invalid at once and permanently; revoking it again changes nothing. The error is
// bursar.ErrNotFound for an unknown key. done runs in the same transaction, after the revocation.
func (s *Service) Revoke(ctx context.Context, keyID bursar.ID, done ...func(*store.Tx) error) error {
	return s.db.Do(ctx, func(tx *store.Tx) error {
		err := store.AsRefusal(tx.APIKeys().Revoke(ctx, keyID))
		for _, then := range done {
			if err == nil {
				err = then(tx)
			}
		}
		return err
	})
}

// List returns the keys of an account, or of all accounts for the zero ID, oldest first, expired and revoked ones
// included.
func (s *Service) List(ctx context.Context, account bursar.ID) (keys []bursar.APIKey, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		keys, err = tx.APIKeys().List(ctx, account)
		return err
	})
	return keys, err
}
