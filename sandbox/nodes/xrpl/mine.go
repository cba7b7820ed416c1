package xrpl

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// rippleEpoch is 2000-01-01 in Unix seconds, from which the ledger counts.
const rippleEpoch = 946_684_800

// genesisTime is the closing time of the first ledger: it is fixed, so that its hash is the same at every start.
const genesisTime = 820_000_000

// resolution is the resolution of closing times, in seconds.
const resolution = 10

// ledger is a validated ledger.
type ledger struct {
	index       uint32
	hash        hash
	parent      hash
	txRoot      hash
	stateRoot   hash
	drops       uint64
	parentClose uint32
	close       uint32
	txs         []*applied
}

// applied is a transaction in a validated ledger.
type applied struct {
	*entry
	outcome
	ledger uint32
	place  int
}

// seal computes a ledger's hash as the real chain does.
func (l *ledger) seal() {
	b := binary.BigEndian.AppendUint32(nil, l.index)
	b = binary.BigEndian.AppendUint64(b, l.drops)
	b = slices.Concat(b, l.parent[:], l.txRoot[:], l.stateRoot[:])
	b = binary.BigEndian.AppendUint32(b, l.parentClose)
	b = binary.BigEndian.AppendUint32(b, l.close)
	l.hash = half("LWR\x00", append(b, resolution, 0))
}

func genesisID() accountID {
	id, err := parseAddress("rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh")
	if err != nil {
		panic("the genesis address is wrong") // a constant of this file
	}
	return id
}

// bareNetwork is the network of the first ledger if no id is configured, and of its journal.
const bareNetwork = 1000

// begin makes the first ledger, in which the genesis account holds everything.
func (n *Node) begin() {
	first := &ledger{
		index:     1,
		drops:     allXRP,
		close:     genesisTime,
		stateRoot: half("MLN\x00", binary.BigEndian.AppendUint32(nil, cmp.Or(n.cfg.NetworkID, bareNetwork))),
	}
	first.seal()
	n.ledgers, n.state, n.txs = []*ledger{first}, state{}, map[hash]*applied{}
	n.state[genesisID()] = []version{{ledger: 1, account: account{balance: allXRP, sequence: 1}}}
	n.refusing, n.fee, n.least = map[accountID]bool{}, baseFee, baseFee
	n.open = newView(n.state, 1)
}

func (n *Node) tip() *ledger { return n.ledgers[len(n.ledgers)-1] }

// Mine closes and validates count ledgers with the transactions of the open one; the later ones take the queued
// transactions.
func (n *Node) Mine(count int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range count {
		now := uint32(max(n.cfg.Now().Unix()-rippleEpoch, 0))
		now = max(now, n.tip().close+1)
		if err := n.journal.Append(record{Op: opClose, Time: now}); err != nil {
			return fmt.Errorf("close ledger: %w", err)
		}
		n.closeLedger(now)
		n.announce()
	}
	return nil
}

// closeLedger applies the transactions of the open ledger to the validated state.
func (n *Node) closeLedger(now uint32) {
	parent := n.tip()
	l := &ledger{index: parent.index + 1, parent: parent.hash, drops: parent.drops,
		parentClose: parent.close, close: now}
	v := newView(n.state, parent.index)
	var left []*entry
	for _, e := range n.pool {
		o := n.apply(v, e, l.index)
		if !taken(o.result) {
			left = append(left, e)
			continue
		}
		a := &applied{entry: e, outcome: o, ledger: l.index, place: len(l.txs)}
		l.txs, l.drops = append(l.txs, a), l.drops-o.fee
		n.txs[e.id] = a
	}
	v.commit(l.index)
	l.txRoot = transactionRoot(l.txs)
	l.stateRoot = half("MLN\x00", parent.stateRoot[:], l.txRoot[:])
	l.seal()
	n.ledgers = append(n.ledgers, l)
	n.reopen(left)
}

// reopen starts a new open ledger and applies every transaction that waits.
func (n *Node) reopen(waiting []*entry) {
	waiting = slices.Concat(waiting, n.queue, n.held)
	n.open, n.pool, n.queue, n.held = newView(n.state, n.tip().index), nil, nil, nil
	for _, e := range waiting {
		n.admit(e)
	}
}

// maxHeld limits the transactions that wait for a sequence.
const maxHeld = 1000

// admit adds a transaction to the open ledger, and after it those that waited for its sequence. It returns the node's
// result.
func (n *Node) admit(e *entry) string {
	o := n.apply(n.open, e, n.tip().index+1)
	if o.result == "terPRE_SEQ" && len(n.held) < maxHeld {
		n.held = append(n.held, e)
	}
	if !taken(o.result) {
		return o.result
	}
	n.pool = append(n.pool, e)
	if i := slices.IndexFunc(n.held, n.ready); i >= 0 {
		next := n.held[i]
		n.held = slices.Delete(n.held, i, i+1)
		n.admit(next)
	}
	return o.result
}

// ready reports whether a transaction that waited for its sequence can be applied.
func (n *Node) ready(e *entry) bool {
	from := n.open.get(e.source())
	sequence, _ := e.values.number("Sequence")
	return from != nil && from.sequence == sequence
}

// Reorg is refused: a validated ledger is final.
func (n *Node) Reorg(int, []string) error {
	return errors.New("a validated ledger of this chain never changes: reorg refused")
}
