package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// ramPeople is what a RAM remembers of what people signed.
type ramPeople struct {
	policies     []Policy // newest first
	destinations []Destination
	nonces       map[string]int64
	held         map[ramHeld]time.Time
	grants       []Grant
	fees         []RuleFee
	known        KnownPolicy
	removed      map[ramKey]time.Time
	denials      map[Digest][]Denial
	touches      map[string][]Touch // by passkey
}

type ramHeld struct {
	order Digest
	rule  string
}

// Policies implements Tx.
func (m ramTx) Policies(context.Context) ([]Policy, error) {
	return slices.Clone(m.people.policies), nil
}

// AddPolicy implements Tx.
func (m ramTx) AddPolicy(_ context.Context, p Policy) error {
	m.people.policies = slices.Insert(m.people.policies, 0, p)
	return nil
}

// Destinations implements Tx.
func (m ramTx) Destinations(_ context.Context, chain bursar.ChainID, base string) (list []Destination, _ error) {
	for _, d := range m.people.destinations {
		if d.Chain == chain && d.Base == base || chain == "" && base == "" {
			list = append(list, d)
		}
	}
	return list, nil
}

// AddDestination implements Tx.
func (m ramTx) AddDestination(_ context.Context, d Destination) error {
	m.people.destinations = append(m.people.destinations, d)
	return nil
}

// RemoveDestination implements Tx.
func (m ramTx) RemoveDestination(_ context.Context, nonce string) error {
	m.people.destinations = slices.DeleteFunc(m.people.destinations, func(d Destination) bool { return d.Nonce == nonce })
	return nil
}

// Nonce implements Tx.
func (m ramTx) Nonce(_ context.Context, nonce string) (int64, bool, error) {
	flow, found := m.people.nonces[nonce]
	return flow, found, nil
}

// AddNonce implements Tx.
func (m ramTx) AddNonce(_ context.Context, nonce string, flow int64) error {
	if _, found := m.people.nonces[nonce]; found {
		return nil
	}
	if m.people.nonces == nil {
		m.people.nonces = map[string]int64{}
	}
	m.people.nonces[nonce] = flow
	return nil
}

// HeldSince implements Tx.
func (m ramTx) HeldSince(_ context.Context, order Digest, rule string) (time.Time, error) {
	return m.people.held[ramHeld{order, rule}], nil
}

// AddHeld implements Tx.
func (m ramTx) AddHeld(_ context.Context, order Digest, rule string, at time.Time) error {
	if m.people.held == nil {
		m.people.held = map[ramHeld]time.Time{}
	}
	if key := (ramHeld{order, rule}); m.people.held[key].IsZero() {
		m.people.held[key] = at
	}
	return nil
}

// Granted implements Tx.
func (m ramTx) Granted(_ context.Context, order Digest) (flows []int64, _ error) {
	for _, g := range m.people.grants {
		if g.Order == order {
			flows = append(flows, g.Flow)
		}
	}
	return flows, nil
}

// Payments implements Tx.
func (m ramTx) Payments(_ context.Context, order Digest) (n int64, _ error) {
	for _, g := range m.people.grants {
		if g.Order == order {
			n = max(n, g.Payment)
		}
	}
	return n, nil
}

// AddGrant implements Tx.
func (m ramTx) AddGrant(_ context.Context, g Grant) error {
	m.people.grants = append(m.people.grants, g)
	return nil
}

// KnownPolicy implements Tx.
func (m ramTx) KnownPolicy(context.Context) (KnownPolicy, error) { return m.people.known, nil }

// KnowPolicy implements Tx.
func (m ramTx) KnowPolicy(_ context.Context, p KnownPolicy) error {
	if p.Version > m.people.known.Version {
		m.people.known = p
	}
	return nil
}

// Removed implements Tx.
func (m ramTx) Removed(_ context.Context, chain bursar.ChainID, base string) (time.Time, error) {
	return m.people.removed[ramKey{chain, base}], nil
}

// AddRemoved implements Tx.
func (m ramTx) AddRemoved(_ context.Context, chain bursar.ChainID, base string, at time.Time) error {
	if m.people.removed == nil {
		m.people.removed = map[ramKey]time.Time{}
	}
	if key := (ramKey{chain, base}); at.After(m.people.removed[key]) {
		m.people.removed[key] = at
	}
	return nil
}

// Denials implements Tx.
func (m ramTx) Denials(_ context.Context, order Digest) ([]Denial, error) {
	return slices.Clone(m.people.denials[order]), nil
}

// AddDenial implements Tx.
func (m ramTx) AddDenial(_ context.Context, order Digest, d Denial) error {
	if m.people.denials == nil {
		m.people.denials = map[Digest][]Denial{}
	}
	list := m.people.denials[order]
	i, found := slices.BinarySearchFunc(list, d, func(a, b Denial) int {
		return cmp.Or(strings.Compare(a.Person, b.Person), strings.Compare(a.With, b.With))
	})
	switch {
	case !found:
		m.people.denials[order] = slices.Insert(list, i, d)
	case d.At.After(list[i].At):
		list[i] = d
	}
	return nil
}
