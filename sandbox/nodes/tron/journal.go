package tron

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// entry is one line of the journal: one change, so that repeating it gives the same chain. Exactly one member is set.
type entry struct {
	Tx      string      `json:"tx,omitempty"` // accepted, hexadecimal
	Mine    int64       `json:"mine,omitempty"`
	Reorg   *reorgEntry `json:"reorg,omitempty"`
	Advance int64       `json:"advance,omitempty"` // nanoseconds
	Held    *bool       `json:"held,omitempty"`
}

type reorgEntry struct {
	Depth int      `json:"depth"`
	Drop  []string `json:"drop,omitempty"`
	Time  int64    `json:"time"`
}

// resume repeats the changes of the journal, and creates a new chain with its first block.
func (n *Node) resume(ctx context.Context) error {
	var err error
	n.journal, err = host.OpenJournal(ctx, n.host, "journal.jsonl", host.Lines[entry]{}, n.redo)
	if err != nil {
		return err
	}
	if len(n.blocks) == 1 {
		return n.Mine(1)
	}
	return nil
}

// redo repeats one change.
func (n *Node) redo(e entry) error {
	switch {
	case e.Tx != "":
		raw, err := hex.DecodeString(e.Tx)
		if err != nil {
			return err
		}
		t, err := parse(raw)
		if err != nil {
			return err
		}
		return n.accept(t)
	case e.Mine != 0:
		return n.mine(e.Mine)
	case e.Reorg != nil:
		dropped, err := n.chosen(e.Reorg.Depth, e.Reorg.Drop)
		if err != nil {
			return err
		}
		return n.reorg(e.Reorg.Depth, dropped, e.Reorg.Time)
	case e.Held != nil:
		n.held = *e.Held
	default:
		n.ahead += time.Duration(e.Advance)
	}
	return nil
}
