package account

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/store"
)

// MaxOrderKeys is the maximum number of an account's order keys. Revoked ones are counted too.
const MaxOrderKeys = 100

// AddOrderKey adds a key with which the account signs its orders, from a PEM file or in one line. The account's first
// key counts at once, and from then on every withdrawal needs a signature, also once all keys are revoked; a later key
// counts after the hold. The signer does not learn of the key from this. Errors: bursar.ErrNotFound for an unknown
// account; orderkey.ErrKey; invalid_request for a key that the account has or had.
func (s *Service) AddOrderKey(
	ctx context.Context, account bursar.ID, name, public string, hold time.Duration,
) (k bursar.OrderKey, err error) {
	if !approval.IsName(name) {
		return k, bursar.RefuseField(bursar.CodeInvalidRequest, "name",
			"a key's name has up to 40 small letters, digits, - and _")
	}
	key, err := orderkey.ParsePEM(public)
	if err != nil {
		return k, err
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Accounts().Lock(ctx, account); err != nil {
			return err
		}
		list, err := tx.OrderKeys().Of(ctx, account)
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(list, func(one bursar.OrderKey) bool { return one.ID == key.ID() }):
			return bursar.Refuse(bursar.CodeInvalidRequest, "the account has or had the key %s already: a revoked key cannot "+
				"be added again", key.ID())
		case len(list) >= MaxOrderKeys:
			return bursar.Refuse(bursar.CodeInvalidRequest, "an account has at most %d keys", MaxOrderKeys)
		}
		k = bursar.OrderKey{AccountID: account, ID: key.ID(), Name: name, Public: key.String(), CreatedAt: tx.Now(),
			UsableFrom: tx.Now()}
		if len(list) > 0 {
			k.UsableFrom = tx.Now().Add(hold)
		}
		return tx.OrderKeys().Insert(ctx, k)
	})
	if err != nil {
		return bursar.OrderKey{}, fmt.Errorf("add an order key: %w", err)
	}
	return k, nil
}

// RevokeOrderKey revokes a key of an account, at once and for ever. The error is bursar.ErrNotFound if the account has
// no such key that is not revoked.
func (s *Service) RevokeOrderKey(ctx context.Context, account bursar.ID, id string) error {
	err := s.db.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Accounts().Lock(ctx, account); err != nil {
			return err
		}
		return tx.OrderKeys().Revoke(ctx, account, id)
	})
	if err != nil {
		return fmt.Errorf("revoke an order key: %w", err)
	}
	return nil
}

// OrderTerms is what an account must know to sign its orders.
type OrderTerms struct {
	Instance string            // of the signer's state; empty: not known, or the signer demands no orders
	Keys     []bursar.OrderKey // that the account ever had, oldest first; none: it signs no orders
}

// OrderTerms returns what an account must know to sign its orders. A client that has the terms only from the service
// signs whatever the service wants, so it compares them with those that the operator gave it on another way.
func (s *Service) OrderTerms(ctx context.Context, account bursar.ID) (t OrderTerms, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		policy, err := tx.Settings().Policy(ctx)
		if err != nil {
			return err
		}
		t.Instance = policy.Instance
		t.Keys, err = tx.OrderKeys().Of(ctx, account)
		return err
	})
	if err != nil {
		return OrderTerms{}, fmt.Errorf("read the terms of orders: %w", err)
	}
	return t, nil
}
