package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// ErrDamaged is returned for a record, other than a torn last one, that cannot be read.
var ErrDamaged = errors.New("the journal is damaged")

// ErrTorn is returned by a Format for bytes that end before their record does.
var ErrTorn = errors.New("the record is torn")

// ErrClosed is returned by a journal that is closed, and so by every change of a closed node.
var ErrClosed = errors.New("the node is closed")

// Format is how the records of a journal lie in its file, one after the other.
type Format[R any] interface {
	// Encode appends the record to b as it lies in the file.
	Encode(b []byte, record R) ([]byte, error)
	// Next decodes the record at the beginning of raw, which is not empty, and returns how many bytes it takes. The
	// error is ErrTorn if raw ends before the record does; any other one means damage.
	Next(raw []byte) (record R, size int, err error)
}

// Journal keeps the records of a node's changes in a file. It may be used from several goroutines. A nil journal keeps
// nothing and refuses nothing: it is what a node has while it replays.
//
// A node that changes first and appends then asks Err before the change, because after a write that failed its state
// is ahead of its journal.
type Journal[R any] struct {
	format Format[R]
	path   string

	mu    sync.Mutex
	file  *os.File // nil: nothing is kept
	count int
	err   error // why no record is taken any more
}

// OpenJournal opens or creates the journal of that name in a node's data directory and hands every whole record to
// replay, in their order. A last record that is torn, as an abrupt end leaves it, is cut off. A record before the end
// that cannot be read is an error that wraps ErrDamaged; it and an error of replay name the record by its number, the
// first being 1 (in a file of lines: the line), and by its place in bytes. The host closes the journal. Without a data
// directory the journal keeps nothing.
func OpenJournal[R any](ctx context.Context, h *Host, name string, format Format[R],
	replay func(R) error) (*Journal[R], error) {
	j := &Journal[R]{format: format}
	h.OnClose(j.Close)
	if h.options.DataDir == "" {
		return j, ctx.Err()
	}
	j.path = filepath.Join(h.options.DataDir, name)
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j.file = file
	if err := j.read(ctx, replay); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", j.path, err)
	}
	return j, nil
}

func (j *Journal[R]) read(ctx context.Context, replay func(R) error) error {
	raw, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	at := 0
	for at < len(raw) {
		record, size, err := j.format.Next(raw[at:])
		if errors.Is(err, ErrTorn) {
			break
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		} else {
			err = errors.Join(replay(record), ctx.Err())
		}
		if err != nil {
			return fmt.Errorf("record %d at byte %d: %w", j.count+1, at, err)
		}
		at += size
		j.count++
	}
	return j.file.Truncate(int64(at))
}

// Append writes a record with one system call. After an error no record is taken any more: every later call returns
// the same error.
func (j *Journal[R]) Append(record R) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.file == nil {
		return nil
	}
	raw, err := j.format.Encode(nil, record)
	if err == nil {
		_, err = j.file.Write(raw)
	}
	if err != nil {
		j.err = fmt.Errorf("append to journal: %w", err)
		return j.err
	}
	j.count++
	return nil
}

// Replace writes these records in place of all that the journal holds; an abrupt end leaves the old ones or the new
// ones. After an error no record is taken any more.
func (j *Journal[R]) Replace(records []R) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.file == nil || j.count == 0 && len(records) == 0 {
		return nil
	}
	if err := j.replace(records); err != nil {
		j.err = fmt.Errorf("replace journal: %w", err)
	}
	return j.err
}

func (j *Journal[R]) replace(records []R) error {
	var raw []byte
	for _, record := range records {
		var err error
		if raw, err = j.format.Encode(raw, record); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(j.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(raw); err == nil {
		err = os.Rename(file.Name(), j.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	old := j.file
	j.file, j.count = file, len(records)
	return old.Close()
}

// Count is the number of records in the file.
func (j *Journal[R]) Count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count
}

// Err is nil as long as the journal takes records, and otherwise why it does not: the first write that failed, or
// ErrClosed.
func (j *Journal[R]) Err() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close closes the file; the journal takes no record any more. Closing it again does nothing.
func (j *Journal[R]) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	file := j.file
	j.file = nil
	if j.err == nil {
		j.err = ErrClosed
	}
	if file == nil {
		return nil
	}
	return file.Close()
}
