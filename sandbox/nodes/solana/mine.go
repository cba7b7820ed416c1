package solana

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

// maxBlockTxs bounds one block.
const maxBlockTxs = 5000

// event is a change of the state that the sandbox makes itself at the start of a block.
type event struct {
	Kind string `json:"kind"`
	Key  key    `json:"key"`
	Data []byte `json:"data,omitempty"`
}

// The kinds of events.
const (
	eventClose  = "close"  // the account refuses lamports from now on: a transaction that pays it fails
	eventDeploy = "deploy" // the account becomes a program, visibly
	eventTable  = "table"  // the account becomes a lookup table with these addresses
)

func (e event) apply(b *bank, x *block) {
	a := b.accounts[e.Key]
	switch e.Kind {
	case eventClose:
		a.executable = true
		b.set(x, e.Key, a)
		return
	case eventDeploy:
		a.executable, a.owner = true, nativeLoader()
	case eventTable:
		a.owner, a.data = lookupProgram(), append(tableMeta(), e.Data...)
	}
	a.lamports = max(a.lamports, rentMinimum(len(a.data)))
	b.set(x, e.Key, a)
}

// blockPlan is everything a block is made of: enough to make it again.
type blockPlan struct {
	Slot   uint64   `json:"slot"`
	Time   int64    `json:"time"`
	Salt   []byte   `json:"salt"`
	Events []event  `json:"events,omitempty"`
	Txs    [][]byte `json:"txs,omitempty"`
}

// newPlan is an empty block on top of the head. A block's time never runs backwards.
func (n *Node) newPlan() blockPlan {
	head := n.bank.head()
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	return blockPlan{Slot: nextSlot(head.slot), Time: max(n.cfg.Now().Unix(), head.time), Salt: salt}
}

// begin starts a block that offer fills and end adds to the chain.
func (b *bank) begin(p blockPlan) *block {
	x := &block{
		slot:   p.Slot,
		height: b.head().height + 1,
		time:   p.Time,
		salt:   p.Salt,
		events: p.Events,
		undo:   map[key]account{},
	}
	for _, e := range p.Events {
		e.apply(b, x)
	}
	return x
}

// offer includes a transaction in the block, or reports that it cannot be included, and whether it ever can. After an
// error of the machine the block must be abandoned.
func (b *bank) offer(m machine, x *block, t *transaction) (in, ever bool, err error) {
	place := len(b.blocks) - 1
	if b.byID[t.id()] != nil || !t.verify() {
		return false, false, nil
	}
	on, accepted, later := b.groundOf(place, x.height, t, func(k key) account { return b.accounts[k] })
	if !accepted {
		return false, later, nil
	}
	o, err := m.run(t, on)
	if err != nil || o.notIncluded {
		return false, true, err
	}
	for k, a := range o.changes {
		b.set(x, k, a)
	}
	i := &included{transaction: t, outcome: o, slot: x.slot}
	b.byID[t.id()] = i // also guards against the same transaction twice in this block
	x.txs = append(x.txs, i)
	return true, true, nil
}

// abandon undoes a block that was started and not ended.
func (b *bank) abandon(x *block) {
	for k, a := range x.undo {
		b.put(k, a)
	}
	for _, t := range x.txs {
		delete(b.byID, t.id())
	}
}

// end gives the block its hash and adds it to the chain.
func (b *bank) end(x *block) {
	parent := b.head().hash
	h := sha256.New()
	h.Write(parent[:])
	h.Write(le64(x.slot))
	h.Write(x.salt)
	for _, t := range x.txs {
		id := t.id()
		h.Write(id[:])
	}
	x.hash = key(h.Sum(nil))
	b.push(x)
}

// Mine makes count blocks with the transactions that wait; without any the blocks are empty. Slots that stay empty
// are passed over. The finalized level follows each block. On an error the blocks made so far stay.
func (n *Node) Mine(count int) error {
	for range count {
		if err := n.mineOne(); err != nil {
			return fmt.Errorf("mine block: %w", err)
		}
	}
	return nil
}

func (n *Node) mineOne() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Err(); err != nil {
		return err
	}
	plan := n.newPlan()
	plan.Events = n.pending
	waiting := n.pool.order
	if n.cfg.Traffic {
		t, err := n.traffic()
		if err != nil {
			return err
		}
		waiting = append([]*transaction{t}, waiting...)
	}
	x := n.bank.begin(plan)
	dead := map[signature]bool{}
	for _, t := range waiting {
		if len(x.txs) == maxBlockTxs {
			break
		}
		in, ever, err := n.bank.offer(n.machine, x, t)
		if err != nil {
			n.bank.abandon(x)
			return err
		}
		if in {
			plan.Txs = append(plan.Txs, t.raw)
		}
		if in || !ever {
			dead[t.id()] = true
		}
	}
	n.bank.end(x)
	n.pending = nil
	n.pool.keep(func(t *transaction) bool { return !dead[t.id()] })
	n.bank.final = max(n.bank.final, len(n.bank.blocks)-1-n.cfg.FinalityDepth)
	if err := n.record(step{Block: &plan, Mined: true}, n.finalStep(), forget(dead)); err != nil {
		return err
	}
	n.describe([]*block{x})
	return nil
}

// Finalize makes every existing block final, without making a block.
func (n *Node) Finalize() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Err(); err != nil {
		return err
	}
	n.bank.final = len(n.bank.blocks) - 1
	if err := n.record(n.finalStep()); err != nil {
		return err
	}
	n.describe(nil)
	return nil
}
