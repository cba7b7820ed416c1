package account

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/netip"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Identity is who a request comes from.
type Identity struct {
	Account bursar.ID
	Key     bursar.APIKey
}

// Credentials are what a request shows of itself.
type Credentials struct {
	Key, Secret string     // an empty secret is one that was not sent
	From        netip.Addr // who asks; the zero address where that is not known
}

// errUnauthorized is the one answer for every key that opens nothing: anyone who tries keys learns nothing from it.
var errUnauthorized = bursar.Refuse(bursar.CodeUnauthorized, "the header X-API-KEY is missing, or the key is not valid")

// ErrForbidden is the one answer for a key that may not make this request and for one that may not be used from where
// it comes: anyone who found a key does not learn from it that there is a list of addresses, nor what it lacks.
var ErrForbidden = bursar.Refuse(bursar.CodeForbidden, "this key may not make this request, or not from this address")

// Authenticate returns whose key it is. Errors: unauthorized for a key that is missing, unknown, revoked or ended,
// always with the same message; ErrForbidden for a key that may not be used from there, with the identity that it has,
// whatever the secret; invalid_secret for a secret that was sent and is not the key's. The key is read from the
// database each time, one look-up by its hash: what changed of it counts at once.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	if !isToken(c.Key, keyPrefix) {
		return Identity{}, errUnauthorized
	}
	var found bursar.APIKey
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		found, err = tx.APIKeys().ByHash(ctx, hash(c.Key))
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Identity{}, errUnauthorized
	case err != nil:
		return Identity{}, fmt.Errorf("authenticate: %w", err)
	case !found.Usable(s.db.Now()):
		return Identity{}, errUnauthorized
	}
	identity := Identity{Account: found.AccountID, Key: found}
	if !found.MayComeFrom(c.From) {
		return identity, ErrForbidden
	}
	if c.Secret != "" && !identity.owns(c.Secret) {
		return Identity{}, bursar.Refuse(bursar.CodeInvalidSecret, "the header X-API-SECRET does not carry this key's secret")
	}
	return identity, nil
}

// RequireSecret refuses a request that must carry the key's secret and does not: secret_required without one,
// invalid_secret with a wrong one. A key that was made without a secret needs none.
func (s *Service) RequireSecret(identity Identity, secret string) error {
	if secret == "" && identity.Key.SecretHash == nil {
		return nil
	}
	if secret == "" {
		return bursar.Refuse(bursar.CodeSecretRequired, "this request needs the header X-API-SECRET")
	}
	if !identity.owns(secret) {
		return bursar.Refuse(bursar.CodeInvalidSecret, "the header X-API-SECRET does not carry this key's secret")
	}
	return nil
}

// owns compares hashes in constant time. A key without a secret owns none.
func (i Identity) owns(secret string) bool {
	of := hash(secret)
	return subtle.ConstantTimeCompare(of[:], i.Key.SecretHash) == 1
}
