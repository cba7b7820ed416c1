package tron

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
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

// journal appends lines to one file. It does not sync: it outlives the process, not the machine. The zero value keeps
// nothing.
type journal struct{ file *os.File }

func (j *journal) append(e entry) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	if j == nil || j.file == nil {
		return nil
	}
	if err := j.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// resume repeats the changes of the journal, and creates a new chain with its first block.
func (n *Node) resume(ctx context.Context) error {
	if n.cfg.DataDir != "" {
		if err := os.MkdirAll(n.cfg.DataDir, 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Join(n.cfg.DataDir, "journal.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("open journal: %w", err)
		}
		if err := n.replay(ctx, file); err != nil {
			return errors.Join(fmt.Errorf("read journal: %w", err), file.Close())
		}
		n.journal = &journal{file}
	}
	if len(n.blocks) == 1 {
		return n.Mine(1)
	}
	return ctx.Err()
}

// replay reads every whole line and cuts off a torn last one, which an abrupt end leaves.
func (n *Node) replay(ctx context.Context, file *os.File) error {
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(content, '\n') + 1
	if err := file.Truncate(int64(whole)); err != nil {
		return err
	}
	for number, line := range bytes.Split(bytes.TrimSuffix(content[:whole], []byte{'\n'}), []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", number+1, err)
		}
		if err := errors.Join(n.redo(e), ctx.Err()); err != nil {
			return fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	return nil
}

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
