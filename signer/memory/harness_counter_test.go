package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// fakeCounter is a counter as a TPM has it.
type fakeCounter struct {
	mu    sync.Mutex
	holds uint64
	err   error
	asked func() // called by Value; nil: nothing
}

func (*fakeCounter) Name() string { return "chip" }

func (c *fakeCounter) Value(context.Context) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked != nil {
		c.asked()
	}
	return c.holds, c.err
}

func (c *fakeCounter) Raise(context.Context) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.holds++
	}
	return c.holds, c.err
}

func (c *fakeCounter) open(string) (Counter, error) { return c, nil }

// boundFile creates a memory that is bound to a counter, and returns its path.
func boundFile(t *testing.T, c *fakeCounter) string {
	t.Helper()
	f, path := newFile(t, false)
	must(t, f.Close())
	must(t, Bind(t.Context(), path, Init{Fingerprint: "seed", At: noon, Cold: false}, c, "ann", "test"))
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opens opens a memory with its counter, and closes it.
func opens(t *testing.T, path string, c *fakeCounter) error {
	t.Helper()
	f, err := guarded(t, path, c)
	if err == nil {
		err = f.Close()
	}
	return err
}

// guarded opens a memory with its counter.
func guarded(t *testing.T, path string, c *fakeCounter) (*File, error) {
	t.Helper()
	f := reopen(t, path)
	if err := f.Guard(t.Context(), c.open); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func appendTo(t *testing.T, f *File) error {
	t.Helper()
	return f.Do(t.Context(), func(tx Tx) error {
		_, err := tx.Append(t.Context(), noon, KindSigned, "{}")
		return err
	})
}

// copyOf copies a file, as a backup does.
func copyOf(t *testing.T, path string) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "copy")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		must(t, err)
		must(t, os.WriteFile(copied+suffix, content, 0o600))
	}
	return copied
}
