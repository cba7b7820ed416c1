package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// ramOrders is what a RAM remembers of orders that clients signed.
type ramOrders struct {
	keys    []OrderKey
	ordered map[ramOrder]Ordered
}

type ramOrder struct{ account, id bursar.ID }

// OrderKeys implements Tx.
func (m ramTx) OrderKeys(_ context.Context, account bursar.ID) (list []OrderKey, _ error) {
	for _, k := range m.orders.keys {
		if account.IsZero() || k.Account == account {
			list = append(list, k)
		}
	}
	return list, nil
}

// AnyOrderKey implements Tx.
func (m ramTx) AnyOrderKey(context.Context) (bool, error) { return len(m.orders.keys) > 0, nil }

// AddOrderKey implements Tx.
func (m ramTx) AddOrderKey(_ context.Context, k OrderKey) error {
	k.Revoked = time.Time{}
	i := slices.IndexFunc(m.orders.keys, func(l OrderKey) bool { return l.Account == k.Account && l.ID == k.ID })
	switch {
	case i >= 0 && !m.orders.keys[i].Lost():
		return fmt.Errorf("account %s has or had the key %s already", k.Account, k.ID)
	case i >= 0:
		m.orders.keys[i] = k
		return nil
	}
	m.orders.keys = append(m.orders.keys, k)
	return nil
}

// RevokeOrderKey implements Tx.
func (m ramTx) RevokeOrderKey(_ context.Context, account bursar.ID, id string, at time.Time) error {
	i := slices.IndexFunc(m.orders.keys, func(k OrderKey) bool {
		return k.Account == account && k.ID == id && k.Revoked.IsZero()
	})
	if i < 0 {
		return fmt.Errorf("account %s has no key %s that is not revoked", account, id)
	}
	m.orders.keys[i].Revoked = at
	return nil
}

// Ordered implements Tx.
func (m ramTx) Ordered(_ context.Context, account, id bursar.ID) (o Ordered, found bool, _ error) {
	o, found = m.orders.ordered[ramOrder{account, id}]
	o.Flows = slices.Clone(o.Flows)
	return o, found, nil
}

// AddOrdered implements Tx.
func (m ramTx) AddOrdered(_ context.Context, account, id bursar.ID, text Digest, flow int64) error {
	if m.orders.ordered == nil {
		m.orders.ordered = map[ramOrder]Ordered{}
	}
	key := ramOrder{account, id}
	o, found := m.orders.ordered[key]
	if !found {
		o.Text = text
	}
	if !slices.Contains(o.Flows, flow) {
		o.Flows = append(o.Flows, flow)
	}
	m.orders.ordered[key] = o
	return nil
}

// Uses implements Tx.
func (m ramTx) Uses(_ context.Context, flow int64) ([]string, error) {
	if flow < 1 || flow > int64(len(m.flows)) {
		return nil, nil
	}
	return slices.Sorted(slices.Values(m.flows[flow-1].Resources)), nil
}
