package marks

import (
	"context"
	"fmt"
	"sync"
)

// Memory keeps marks in memory: for simulations and tests of what happens around a database. It corresponds to a
// machine's disk under a File, so the processes of one machine share one.
type Memory struct {
	mu    sync.Mutex
	state State
	there bool
}

var _ Keeper = (*Memory)(nil)

// Load returns the marks, or ErrMissing.
func (m *Memory) Load(context.Context) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept()
}

// Raise raises existing marks.
func (m *Memory) Raise(_ context.Context, by State) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.kept()
	if err != nil {
		return State{}, err
	}
	m.state = s.Raised(by)
	return m.state, nil
}

// Create creates marks, or raises existing ones.
func (m *Memory) Create(_ context.Context, s State) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.there = m.state.Raised(s), true
	return m.state, nil
}

func (m *Memory) kept() (State, error) {
	if !m.there {
		return State{}, fmt.Errorf("%w: there are none in memory", ErrMissing)
	}
	return m.state, nil
}
