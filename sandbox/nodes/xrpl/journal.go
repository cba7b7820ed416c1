package xrpl

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// journal appends records to one file. It does not sync: it outlives the process, not the machine. Without a
// directory it keeps nothing.
type journal struct {
	file    *os.File
	records int
}

var errDamaged = errors.New("the journal is damaged")

// openJournal opens or creates the journal in dir, hands every whole record to replay and cuts off a torn last one.
func openJournal(dir string, replay func(record) error) (*journal, error) {
	j := &journal{}
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return j, fmt.Errorf("open journal: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return j, fmt.Errorf("open journal: %w", err)
	}
	j.file = file
	end, err := j.read(replay)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return j, fmt.Errorf("read journal: %w", err)
	}
	return j, nil
}

// read returns where the last whole line ends.
func (j *journal) read(replay func(record) error) (end int64, err error) {
	lines := bufio.NewReader(j.file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil // a line without its end was torn
		}
		if err != nil {
			return end, err
		}
		var r record
		if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil {
			return end, fmt.Errorf("record %d: %w: %w", j.records, errDamaged, err)
		}
		if err := replay(r); err != nil {
			return end, fmt.Errorf("record %d: %w", j.records, err)
		}
		end += int64(len(line))
		j.records++
	}
}

// append writes a record with one system call.
func (j *journal) append(r record) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	j.records++
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
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
			return errDamaged
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
			return errDamaged
		}
		n.mark(id, r.Flags)
	default:
		return fmt.Errorf("%w: unknown record: %.20q", errDamaged, string(r.Op))
	}
	return nil
}
