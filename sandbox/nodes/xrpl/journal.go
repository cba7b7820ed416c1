package xrpl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// op is the kind of a record. The names are on disk.
type op string

const (
	opNew     op = "new"     // a ledger of this network
	opTx      op = "tx"      // a transaction was submitted
	opDeliver op = "deliver" // a delivery was added
	opClose   op = "close"   // a ledger closed
	opRefuse  op = "refuse"
	opMark    op = "mark"
)

// record is one line of the journal: JSON, written before the change is made. The same records in the same order give
// the same ledgers.
type record struct {
	Op       op        `json:"op"`
	Network  uint32    `json:"network,omitempty"`
	Blob     []byte    `json:"blob,omitempty"`
	Queued   bool      `json:"queued,omitempty"`
	Delivery *Delivery `json:"delivery,omitempty"`
	Time     uint32    `json:"time,omitempty"`
	Account  string    `json:"account,omitempty"`
	Flags    uint32    `json:"flags,omitempty"`
}

// resume repeats the changes of the journal, and writes the first record of a new one.
func (n *Node) resume(ctx context.Context) error {
	var err error
	n.journal, err = host.OpenJournal(ctx, n.host, "journal.jsonl", host.Lines[record]{}, n.replay)
	if err != nil || n.journal.Count() > 0 {
		return err
	}
	return n.journal.Append(record{Op: opNew, Network: cmp.Or(n.cfg.NetworkID, bareNetwork)})
}

// replay repeats the change of a record.
func (n *Node) replay(r record) error {
	switch r.Op {
	case opNew:
		if own := cmp.Or(n.cfg.NetworkID, bareNetwork); r.Network != own {
			return fmt.Errorf("the ledger is of network %d, not of %d", r.Network, own)
		}
	case opTx:
		v, err := decode(r.Blob)
		if err != nil {
			return err
		}
		e := &entry{id: half("TXN\x00", r.Blob), blob: r.Blob, values: v}
		if r.Queued {
			n.queue = append(n.queue, e)
			return nil
		}
		n.admit(e)
	case opDeliver:
		if r.Delivery == nil {
			return host.ErrDamaged
		}
		e, err := r.Delivery.entry()
		if err != nil {
			return err
		}
		n.admit(e)
	case opClose:
		n.closeLedger(r.Time)
	case opRefuse, opMark:
		id, err := parseAddress(r.Account)
		if err != nil {
			return err
		}
		if r.Op == opRefuse {
			n.refusing[id] = true
			return nil
		}
		if len(n.state[id]) == 0 {
			return host.ErrDamaged
		}
		n.mark(id, r.Flags)
	default:
		return fmt.Errorf("%w: unknown record: %.20q", host.ErrDamaged, string(r.Op))
	}
	return nil
}
