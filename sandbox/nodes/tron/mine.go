package tron

import (
	"errors"
	"fmt"
	"math/big"
	"time"
)

// clock is the time of the next block, in milliseconds.
func (n *Node) clock() int64 {
	return max(n.cfg.Now().Add(n.ahead).UnixMilli(), n.head().time+1)
}

// Mine adds count blocks; the first takes every transaction that waits. Requests are answered between them.
func (n *Node) Mine(count int) error {
	for range count {
		if err := n.mineNow(); err != nil {
			return fmt.Errorf("mine: %w", err)
		}
	}
	return nil
}

func (n *Node) mineNow() error {
	n.gate.Lock()
	defer n.gate.Unlock()
	e, solid := entry{Mine: n.clock()}, n.solid
	if err := n.journal.Append(e); err != nil {
		return err
	}
	if err := n.mine(e.Mine); err != nil {
		return err
	}
	n.announce(solid)
	return nil
}

func (n *Node) mine(time int64) error {
	waiting := n.pool
	n.pool = nil
	b, err := n.assemble(n.head(), time, waiting)
	if err != nil {
		return err
	}
	n.adopt(b)
	n.solidify()
	return n.refresh()
}

// assemble builds a block of those transactions that can be in it; the others are dropped.
func (n *Node) assemble(parent *block, time int64, txs []*transaction) (*block, error) {
	st, err := n.stateAt(parent)
	if err != nil {
		return nil, err
	}
	b := &block{height: parent.height + 1, parent: parent.id, time: time, witness: witness(n.branch)}
	m := newMachine(st, uint64(b.height), time)
	for _, t := range txs {
		if n.timely(t, parent) != nil {
			continue
		}
		if r, err := m.execute(t); err == nil {
			b.txs = append(b.txs, included{t, r})
		}
	}
	if b.state, err = m.commit(); err != nil {
		return nil, err
	}
	b.seal()
	return b, nil
}

// adopt adds a block on top.
func (n *Node) adopt(b *block) {
	n.blocks = append(n.blocks, b)
	for i, t := range b.txs {
		n.places[t.id] = place{b.height, i}
	}
}

func (n *Node) solidify() {
	if !n.held {
		n.solid = max(n.solid, len(n.blocks)-1-n.cfg.SolidDepth)
	}
}

// HoldSolid stops the solidified block, or lets it follow the head again from the next block on.
func (n *Node) HoldSolid(held bool) error {
	n.gate.Lock()
	defer n.gate.Unlock()
	if err := n.journal.Append(entry{Held: &held}); err != nil {
		return fmt.Errorf("hold the solidified block: %w", err)
	}
	n.held = held
	return nil
}

// Advance moves the chain's clock forward for the blocks to come.
func (n *Node) Advance(by time.Duration) error {
	n.gate.Lock()
	defer n.gate.Unlock()
	if by < 0 {
		return errors.New("advance: the clock cannot go back")
	}
	if err := n.journal.Append(entry{Advance: int64(by)}); err != nil {
		return fmt.Errorf("advance: %w", err)
	}
	n.ahead += by
	return nil
}

// Time is the chain's clock: the timestamp of the newest block.
func (n *Node) Time() time.Time {
	n.gate.RLock()
	defer n.gate.RUnlock()
	return time.UnixMilli(n.head().time)
}

// Balance is the address's balance at the head block: sun, or units of a contract's token.
func (n *Node) Balance(address, contract string) (*big.Int, error) {
	a, err := parseAddress(address)
	if err != nil {
		return nil, fmt.Errorf("balance: %w", err)
	}
	n.gate.RLock()
	defer n.gate.RUnlock()
	st, err := n.stateAt(n.head())
	if err != nil {
		return nil, err
	}
	if contract == "" {
		return st.GetBalance(a).ToBig(), nil
	}
	token, err := parseAddress(contract)
	if err != nil {
		return nil, fmt.Errorf("balance: %w", err)
	}
	o := newMachine(st, uint64(n.head().height), n.head().time).constant(a, token, callAddress("balanceOf(address)", a), 0)
	if o.err != nil || len(o.output) != 32 {
		return nil, fmt.Errorf("balance: %s is not a token: %w", contract, o.err)
	}
	return new(big.Int).SetBytes(o.output), nil
}
