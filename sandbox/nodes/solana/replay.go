package solana

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// load repeats the changes of the journal, and creates a new chain if it is empty.
func (n *Node) load(ctx context.Context) error {
	var err error
	n.journal, err = host.OpenJournal(ctx, n.host, journalName, host.Lines[[]step]{}, n.replay)
	if err != nil || n.bank != nil {
		return err
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	open := step{Open: &blockPlan{Time: n.cfg.Now().Unix(), Salt: salt}}
	if err := n.replay([]step{open}); err != nil {
		return err
	}
	return n.record(open)
}

// replay applies the steps of one line as they were applied when they happened.
func (n *Node) replay(steps []step) error {
	for _, s := range steps {
		if (n.bank == nil) != (s.Open != nil) {
			return errors.New("a journal begins with its chain, once")
		}
		if err := n.apply(s); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) apply(s step) error {
	switch {
	case s.Open != nil:
		builtins, err := n.machine.builtins()
		if err != nil {
			return err
		}
		n.bank = newBank(builtins, s.Open.Salt, s.Open.Time)
	case s.Tx != nil:
		t, err := parseTransaction(s.Tx)
		if err != nil {
			return err
		}
		n.pool.add(t)
	case s.Event != nil:
		n.pending = append(n.pending, *s.Event)
	case s.Block != nil:
		if s.Mined {
			n.pending = nil
		}
		return n.applyBlock(*s.Block)
	case s.Roll > 0:
		if s.Roll >= len(n.bank.blocks) {
			return fmt.Errorf("%d of %d blocks are rolled back", s.Roll, len(n.bank.blocks))
		}
		for range s.Roll {
			n.bank.pop()
		}
	case s.Final != nil:
		if *s.Final < 0 || *s.Final >= len(n.bank.blocks) {
			return fmt.Errorf("block %d of %d is finalized", *s.Final, len(n.bank.blocks))
		}
		n.bank.final = *s.Final
	case s.Forget != nil:
		n.pool.keep(func(t *transaction) bool { return !slices.Contains(s.Forget, t.id()) })
	}
	return nil
}

func (n *Node) applyBlock(p blockPlan) error {
	x := n.bank.begin(p)
	for _, raw := range p.Txs {
		t, err := parseTransaction(raw)
		if err != nil {
			return err
		}
		if in, _, err := n.bank.offer(n.machine, x, t); err != nil {
			return err
		} else if !in {
			return fmt.Errorf("transaction %s does not fit into slot %d", t.id(), p.Slot)
		}
	}
	n.bank.end(x)
	return nil
}
