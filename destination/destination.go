// Package destination keeps the list of addresses to which an account may withdraw, where its list is switched on.
//
// It owns additions and removals, and the waiting period of every change that permits more withdrawals: an addition
// takes effect after it, and so does switching the list off. A change that permits fewer takes effect at once. It never
// decides about a withdrawal; package withdrawal does, in the transaction that holds the money. Its invariants: an
// address is kept in its chain's canonical form, so that one address has one spelling; a waiting period that has
// started is never shortened; every change locks the account, so that a withdrawal is evaluated by the list before or
// after the change and never in between.
package destination

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Limits of a list.
const (
	MaxDestinations = 1000 // per account
	MaxLabel        = 200  // in bytes
)

// Chain is the part of a chain that a list needs: it parses addresses without asking a node.
type Chain interface {
	Capabilities() chain.Capabilities
	ParseAddress(s string) (bursar.Address, error)
}

// Service changes lists. It is safe for concurrent use.
type Service struct {
	DB       *store.DB
	Chains   map[bursar.ChainID]Chain // those that are configured
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Hold     time.Duration // waiting period of an addition and of switching the list off
}

// New is a destination to add: an address of one currency, or of all currencies of a family.
type New struct {
	Account  bursar.ID
	Currency bursar.CurrencyCode // empty: all of Family
	Family   bursar.Family       // used where Currency is empty
	Address  string
	Label    string
}

// Add puts a destination on an account's list, usable after the waiting period. A destination that is on the list
// already keeps its waiting period, and is returned with added false. Errors: bursar.ErrNotFound for an unknown
// account; unsupported_currency, invalid_address and invalid_request for a wrong destination, and invalid_request for
// one too many.
func (s *Service) Add(ctx context.Context, n New) (d bursar.Destination, added bool, err error) {
	family, address, err := s.parse(n)
	if err != nil {
		return d, false, err
	}
	if err := checkLabel(n.Label); err != nil {
		return d, false, err
	}
	err = s.change(ctx, n.Account, func(tx *store.Tx) error {
		d = bursar.Destination{
			ID:         s.IDs.Next(),
			AccountID:  n.Account,
			Family:     family,
			Currency:   n.Currency,
			Address:    address,
			Label:      n.Label,
			CreatedAt:  tx.Now(),
			UsableFrom: tx.Now().Add(s.Hold),
		}
		if d, added, err = tx.Destinations().Insert(ctx, d); err != nil || !added {
			return err
		}
		count, err := tx.Destinations().Count(ctx, n.Account)
		if err == nil && count > MaxDestinations {
			err = bursar.Refuse(bursar.CodeInvalidRequest, "an account has at most %d destinations: remove some",
				MaxDestinations)
		}
		return err
	})
	if err != nil {
		return bursar.Destination{}, false, fmt.Errorf("add destination: %w", err)
	}
	return d, added, nil
}

// parse returns the family of the named chains and the address in their canonical form.
func (s *Service) parse(n New) (bursar.Family, bursar.Address, error) {
	c, err := s.chainOf(n)
	if err != nil {
		return "", bursar.Address{}, err
	}
	address, err := c.ParseAddress(n.Address)
	if err != nil {
		return "", bursar.Address{}, bursar.RefuseField(bursar.CodeInvalidAddress, "address",
			"this is not a valid address of %s on this network", c.Capabilities().ID)
	}
	return c.Capabilities().Family, address, nil
}

func (s *Service) chainOf(n New) (Chain, error) {
	if n.Currency != "" {
		currency, err := s.Registry.Get(n.Currency)
		if err != nil {
			return nil, err
		}
		if c, on := s.Chains[currency.Chain]; on {
			return c, nil
		}
		return nil, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency", "the chain of %s is not configured here",
			n.Currency)
	}
	var families []string
	for _, c := range s.Chains {
		if c.Capabilities().Family == n.Family {
			return c, nil
		}
		families = append(families, string(c.Capabilities().Family))
	}
	slices.Sort(families)
	return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "family",
		"no chain of the family %.20q is configured here; configured are %s", string(n.Family),
		strings.Join(slices.Compact(families), ", "))
}

func checkLabel(label string) error {
	if len(label) > MaxLabel || !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "label", "a label is plain text of at most %d bytes", MaxLabel)
	}
	return nil
}

// Remove takes a destination off the list at once. The error is bursar.ErrNotFound for one that does not exist, or is
// another account's.
func (s *Service) Remove(ctx context.Context, account, id bursar.ID) error {
	return s.change(ctx, account, func(tx *store.Tx) error {
		return store.AsRefusal(tx.Destinations().Remove(ctx, account, id))
	})
}

// Enable switches an account's list on at once, without an end; a pending switch-off is cancelled. The error is
// bursar.ErrNotFound for an unknown account.
func (s *Service) Enable(ctx context.Context, account bursar.ID) error {
	return s.change(ctx, account, func(tx *store.Tx) error { return tx.DestinationLists().Set(ctx, account, time.Time{}) })
}

// Disable switches an account's list off after the waiting period, and returns the list: without the wait, a thief who
// may switch it off could withdraw at once. A pending switch-off keeps its time; a list that is off stays off. The
// error is bursar.ErrNotFound for an unknown account.
func (s *Service) Disable(ctx context.Context, account bursar.ID) (l bursar.DestinationList, err error) {
	err = s.change(ctx, account, func(tx *store.Tx) error {
		if l, err = tx.DestinationLists().Get(ctx, account); err != nil || !l.Binds(tx.Now()) || !l.Until.IsZero() {
			return err
		}
		l.Until = tx.Now().Add(s.Hold)
		return tx.DestinationLists().Set(ctx, account, l.Until)
	})
	return l, err
}

// change runs f under the account's lock, which withdrawal requests of the account take too: the two never overlap.
func (s *Service) change(ctx context.Context, account bursar.ID, f func(tx *store.Tx) error) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Accounts().Lock(ctx, account); err != nil {
			return store.AsRefusal(err)
		}
		return f(tx)
	})
}
