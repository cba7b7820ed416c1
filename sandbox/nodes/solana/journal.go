package solana

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The journal is a file of lines. A line is a JSON list of steps. The steps of a line happened together or not at
// all. It outlives the process, not the machine: it is not synced.
const journalName = "journal.v1"

// step is one change of the node. Exactly one member is set, but for Mined.
type step struct {
	Open   *blockPlan  `json:"open,omitempty"`   // a new chain: the genesis block
	Tx     []byte      `json:"tx,omitempty"`     // a transaction was accepted
	Event  *event      `json:"event,omitempty"`  // an event waits for the next block
	Block  *blockPlan  `json:"block,omitempty"`  // a block was made
	Mined  bool        `json:"mined,omitempty"`  // with what waited
	Roll   int         `json:"roll,omitempty"`   // so many blocks were rolled back
	Final  *int        `json:"final,omitempty"`  // index of the newest finalized block
	Forget []signature `json:"forget,omitempty"` // these no longer wait
}

// forget records which transactions left the pool.
func forget(ids map[signature]bool) step {
	var s step
	for id := range ids {
		s.Forget = append(s.Forget, id)
	}
	return s
}

func (n *Node) finalStep() step {
	place := n.bank.final
	return step{Final: &place}
}

// journal appends lines to a file; without a file it does nothing.
type journal struct{ file *os.File }

// openJournal hands every whole line to replay and cuts off a torn last one.
func openJournal(dir string, replay func([]step) error) (*journal, error) {
	if dir == "" {
		return &journal{}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, journalName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	end, err := readJournal(file, replay)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read journal: %w", err), file.Close())
	}
	return &journal{file}, nil
}

// readJournal returns where the last whole line ends. A line without an end was torn by the end of the process; one
// that cannot be read is damage.
func readJournal(file *os.File, replay func([]step) error) (int64, error) {
	raw, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	var at int64
	for {
		line, rest, whole := bytes.Cut(raw, []byte("\n"))
		if !whole {
			return at, nil
		}
		var steps []step
		if err := json.Unmarshal(line, &steps); err != nil {
			return 0, fmt.Errorf("line at %d is damaged: %w", at, err)
		}
		if err := replay(steps); err != nil {
			return 0, fmt.Errorf("line at %d: %w", at, err)
		}
		at += int64(len(line)) + 1
		raw = rest
	}
}

// append writes steps as one line with one system call.
func (j *journal) append(steps []step) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// record writes what was just done. After a failure the node refuses every change, because its state is ahead of its
// journal.
func (n *Node) record(steps ...step) error {
	if err := n.journal.append(steps); err != nil {
		n.broken = err
		return err
	}
	return nil
}
