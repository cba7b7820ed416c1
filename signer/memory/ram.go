package memory

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
)

// RAM is a memory that ends with its process: for tests and simulations of what happens around a signer.
type RAM struct {
	mu      sync.Mutex
	state   State
	utxos   map[ramKey]UTXO
	flows   []Flow // by ID, from 1 on
	using   map[ramKey][]int64
	signed  map[ramKey]int64
	times   map[int64][]time.Time // of a flow's signatures
	freezes []Freeze
	log     []Entry
	people  *ramPeople
	orders  *ramOrders
	epochs  []Epoch

	compromises ramCompromises
	thaws       ramThaws

	gate Gate
}

// ramKey is a chain with an outpoint, a resource or a digest.
type ramKey struct {
	chain bursar.ChainID
	of    string
}

var (
	_ Keeper = (*RAM)(nil)
	_ Tx     = ramTx{}
)

// NewRAM returns an empty memory in which nothing was signed before.
func NewRAM() *RAM {
	m := &RAM{state: State{Instance: rand.Text()}, utxos: map[ramKey]UTXO{}, using: map[ramKey][]int64{},
		signed: map[ramKey]int64{}, times: map[int64][]time.Time{}, people: &ramPeople{}, orders: &ramOrders{}}
	m.log = []Entry{Entry{}.Next(time.Time{}, KindInit, "{}")}
	return m
}

// Do implements Keeper. An error of f does not undo what f wrote before it: a signer writes only once it has evaluated.
func (m *RAM) Do(ctx context.Context, f func(tx Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(ramTx{m})
}

// Gate implements Keeper.
func (m *RAM) Gate() *Gate { return &m.gate }

// Close implements Keeper.
func (m *RAM) Close() error { return nil }

type ramTx struct{ *RAM }

// State implements Tx.
func (m ramTx) State(context.Context) (State, error) { return m.state, nil }

// SetHighWater implements Tx.
func (m ramTx) SetHighWater(_ context.Context, at time.Time) error {
	if at.After(m.state.HighWater) {
		m.RAM.state.HighWater = at
	}
	return nil
}

// UTXO implements Tx.
func (m ramTx) UTXO(_ context.Context, chain bursar.ChainID, outpoint string) (UTXO, bool, error) {
	u, found := m.utxos[ramKey{chain, outpoint}]
	return u, found, nil
}

// AddUTXO implements Tx.
func (m ramTx) AddUTXO(_ context.Context, chain bursar.ChainID, u UTXO) error {
	m.utxos[ramKey{chain, u.Outpoint}] = u
	return nil
}

// Signed implements Tx.
func (m ramTx) Signed(_ context.Context, chain bursar.ChainID, digest Digest) (int64, bool, error) {
	id, found := m.signed[ramKey{chain, string(digest[:])}]
	return id, found, nil
}

// AddSigned implements Tx.
func (m ramTx) AddSigned(
	_ context.Context, flow int64, chain bursar.ChainID, digest Digest, at time.Time,
) error {
	m.signed[ramKey{chain, string(digest[:])}] = flow
	m.times[flow] = append(m.times[flow], at)
	return nil
}

// SignedSince implements Tx.
func (m ramTx) SignedSince(_ context.Context, flow int64, at time.Time) (n int, _ error) {
	for _, t := range m.times[flow] {
		if !t.Before(at) {
			n++
		}
	}
	return n, nil
}

// Sharing implements Tx.
func (m ramTx) Sharing(_ context.Context, chain bursar.ChainID, resources []string) (list []Flow, _ error) {
	seen := map[int64]bool{}
	for _, resource := range resources {
		for _, id := range m.using[ramKey{chain, resource}] {
			if !seen[id] {
				seen[id] = true
				list = append(list, m.flows[id-1].clone())
			}
		}
	}
	sortFlows(list)
	return list, nil
}

func sortFlows(list []Flow) { slices.SortFunc(list, func(a, b Flow) int { return int(a.ID - b.ID) }) }

func (f Flow) clone() Flow {
	f.Resources, f.Counts = slices.Clone(f.Resources), slices.Clone(f.Counts)
	return f
}

// AddFlow implements Tx.
func (m ramTx) AddFlow(_ context.Context, f Flow) (int64, error) {
	f.ID = int64(len(m.flows)) + 1
	m.RAM.flows = append(m.flows, f.clone())
	for _, resource := range f.Resources {
		key := ramKey{f.Chain, resource}
		m.using[key] = append(m.using[key], f.ID)
	}
	return f.ID, nil
}

// UpdateFlow implements Tx.
func (m ramTx) UpdateFlow(_ context.Context, f Flow) error {
	for _, resource := range m.flows[f.ID-1].Resources {
		key := ramKey{f.Chain, resource}
		if !slices.Contains(f.Resources, resource) {
			m.using[key] = slices.DeleteFunc(m.using[key], func(id int64) bool { return id == f.ID })
		}
	}
	m.flows[f.ID-1] = f.clone()
	return nil
}

// CountsSince implements Tx.
func (m ramTx) CountsSince(_ context.Context, at time.Time) (list []FlowCount, _ error) {
	for _, f := range m.flows {
		for _, c := range f.Counts {
			if !c.At.Before(at) {
				list = append(list, FlowCount{f.ID, f.Chain, c})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b FlowCount) int { return a.At.Compare(b.At) })
	return list, nil
}

// Freezes implements Tx.
func (m ramTx) Freezes(context.Context) ([]Freeze, error) { return slices.Clone(m.freezes), nil }

// AddFreeze implements Tx.
func (m ramTx) AddFreeze(_ context.Context, f Freeze) error {
	m.RAM.freezes = append(m.freezes, f)
	return nil
}

// Thaw implements Tx.
func (m ramTx) Thaw(context.Context, time.Time, string, string) (int, error) {
	n := len(m.freezes)
	m.RAM.freezes, m.RAM.compromises.inForce = nil, nil
	return n, nil
}

// Head implements Tx.
func (m ramTx) Head(context.Context) (Entry, error) { return m.log[len(m.log)-1], nil }

// Entry implements Tx.
func (m ramTx) Entry(_ context.Context, number int64) (Entry, bool, error) {
	if number < 1 || number > int64(len(m.log)) {
		return Entry{}, false, nil
	}
	return m.log[number-1], true, nil
}

// Append implements Tx.
func (m ramTx) Append(_ context.Context, at time.Time, kind, detail string) (Entry, error) {
	e := m.log[len(m.log)-1].Next(at, kind, detail)
	m.RAM.log = append(m.log, e)
	return e, nil
}
