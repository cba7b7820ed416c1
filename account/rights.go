package account

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

// MaxNetworks is the maximum number of networks of a key.
const MaxNetworks = 64

func checkScopes(scopes []bursar.Scope) error {
	if len(scopes) == 0 {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "scopes", "a key needs at least one scope")
	}
	for i, scope := range scopes {
		if !slices.Contains(AllScopes(), scope) || slices.Contains(scopes[:i], scope) {
			return bursar.RefuseField(bursar.CodeInvalidRequest, "scopes",
				"the scopes are read, wallets and withdraw, each once")
		}
	}
	return nil
}

func checkNetworks(list []netip.Prefix) error {
	if len(list) > MaxNetworks {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "networks", "a key has at most %d networks", MaxNetworks)
	}
	for _, network := range list {
		if !network.IsValid() || network != network.Masked() || network != netpolicy.UnmapNetwork(network) {
			return bursar.RefuseField(bursar.CodeInvalidRequest, "networks", "%s is not a network in its plain form", network)
		}
	}
	return nil
}

// NetworkChange is a change of the networks from which a key may be used.
type NetworkChange struct {
	Add    []netip.Prefix
	Remove []netip.Prefix // each must be on the list
	Clear  bool           // remove all first; with nothing in Add, the key may then be used from anywhere
}

// SetNetworks changes the networks from which a key may be used, at once in every replica, and returns its list.
// Errors: bursar.ErrNotFound for an unknown key; invalid_request for one that is revoked or has expired, for a network
// to remove that is not on the list, for a list that is too long, and for a removal that would leave an empty list: the
// key could then be used from anywhere, which only Clear may do.
func (s *Service) SetNetworks(ctx context.Context, keyID bursar.ID, c NetworkChange) (list []netip.Prefix, err error) {
	err = s.changeKey(ctx, keyID, func(k *bursar.APIKey) error {
		if k.Networks, err = c.apply(k.Networks); err != nil {
			return err
		}
		list = k.Networks
		return checkNetworks(list)
	})
	if err != nil {
		return nil, fmt.Errorf("set networks of a key: %w", err)
	}
	return list, nil
}

func (c NetworkChange) apply(list []netip.Prefix) ([]netip.Prefix, error) {
	list = slices.Clone(list)
	if c.Clear {
		list = nil
	}
	for _, network := range c.Remove {
		at := slices.Index(list, network)
		if at < 0 {
			return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "networks", "%s is not on the key's list", network)
		}
		list = slices.Delete(list, at, at+1)
	}
	for _, network := range c.Add {
		if !slices.Contains(list, network) {
			list = append(list, network)
		}
	}
	if len(list) == 0 && len(c.Remove) > 0 {
		return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "networks",
			"nothing would be left on the list, and the key could be used from everywhere; clear the list if that is meant")
	}
	return list, nil
}

// SetScopes changes the scopes of a key, at once in every replica. Errors: bursar.ErrNotFound for an unknown key,
// invalid_request for scopes that do not exist and for a key that is revoked or has expired.
func (s *Service) SetScopes(ctx context.Context, keyID bursar.ID, scopes []bursar.Scope) error {
	if err := checkScopes(scopes); err != nil {
		return err
	}
	err := s.changeKey(ctx, keyID, func(k *bursar.APIKey) error {
		k.Scopes = scopes
		return nil
	})
	if err != nil {
		return fmt.Errorf("set scopes of a key: %w", err)
	}
	return nil
}

// changeKey changes the rights of a key that is valid.
func (s *Service) changeKey(ctx context.Context, keyID bursar.ID, change func(k *bursar.APIKey) error) error {
	return s.db.Do(ctx, func(tx *store.Tx) error {
		k, err := tx.APIKeys().Lock(ctx, keyID)
		if err != nil {
			return store.AsRefusal(err)
		}
		if !k.Usable(tx.Now()) {
			return errExpired
		}
		if err := change(&k); err != nil {
			return err
		}
		return tx.APIKeys().SetRights(ctx, k.ID, k.Scopes, k.Networks)
	})
}

var errExpired = bursar.RefuseField(bursar.CodeInvalidRequest, "keyID", "the key is revoked or has expired")
