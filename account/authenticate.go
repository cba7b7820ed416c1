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

// Identity is the account and the key of a request.
type Identity struct {
	Account bursar.ID
	Key     bursar.APIKey
	Read    Read // of the account, together with the key; only where nothing was refused
}

// Credentials are what a request presents to authenticate.
type Credentials struct {
	Key, Secret string     // Secret is empty where none was sent
	From        netip.Addr // the client's address; zero where it is not known
	Ahead       Ahead      // what the request will read
}

// errUnauthorized is the only error for every invalid key, so that a client that tries keys learns nothing from it.
var errUnauthorized = bursar.Refuse(bursar.CodeUnauthorized, "the header X-API-KEY is missing, or the key is not valid")

// ErrForbidden is the only error for a key that may not make this request and for one that may not be used from this
// address: somebody who found a key does not learn from the message that there is a list of addresses, or which scope
// the key lacks.
var ErrForbidden = bursar.Refuse(bursar.CodeForbidden, "this key may not make this request, or not from this address")

// Authenticate returns the account and the key of a request. Errors: unauthorized for a key that is missing, unknown,
// revoked or expired, always with the same message; ErrForbidden, together with the identity, for a key that may not be
// used from this address, whatever the secret; invalid_secret for a secret that was sent and is not the key's. The key
// is read from the database each time, together with those of other requests, so that a change of it takes effect at
// once on every replica.
func (s *Service) Authenticate(ctx context.Context, c Credentials) (Identity, error) {
	if !isToken(c.Key, keyPrefix) {
		return Identity{}, errUnauthorized
	}
	of, err := s.find(ctx, hash(c.Key), c.Ahead)
	found := of.key
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
		return identity, bursar.Refuse(bursar.CodeInvalidSecret, "the header X-API-SECRET does not carry this key's secret")
	}
	s.owners.put(found.KeyHash, identity.Account)
	if of.account == identity.Account {
		identity.Read = of.read
	}
	return identity, nil
}

// RequireSecret refuses a request without the key's secret: secret_required where none was sent, invalid_secret where
// it is wrong. A key that was made without a secret needs none.
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

// owns reports whether the secret is the key's; it compares hashes in constant time. It is false for a key without a
// secret.
func (i Identity) owns(secret string) bool {
	of := hash(secret)
	return subtle.ConstantTimeCompare(of[:], i.Key.SecretHash) == 1
}
