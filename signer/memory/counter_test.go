package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// chip is a counter as a TPM has it.
type chip struct {
	mu    sync.Mutex
	holds uint64
	err   error
}

func (*chip) Name() string { return "chip" }

func (c *chip) Value(context.Context) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds, c.err
}

func (c *chip) Raise(context.Context) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.holds++
	}
	return c.holds, c.err
}

func (c *chip) open(string) (Counter, error) { return c, nil }

// boundFile creates a memory that is bound to a counter, and returns its path.
func boundFile(t *testing.T, c *chip) string {
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
func opens(t *testing.T, path string, c *chip) error {
	t.Helper()
	f, err := guarded(t, path, c)
	if err == nil {
		err = f.Close()
	}
	return err
}

// guarded opens a memory with its counter.
func guarded(t *testing.T, path string, c *chip) (*File, error) {
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

// The attack: an older copy of the state is put back, and the windows forget what was signed since.
func TestAnOlderCopyIsNoticedByTheCounter(t *testing.T) {
	t.Parallel()
	c := &chip{holds: 41}
	path := boundFile(t, c)
	f, err := guarded(t, path, c)
	must(t, err)
	older := copyOf(t, path)
	must(t, appendTo(t, f))
	newest := copyOf(t, path)
	must(t, f.Close())
	if err := opens(t, older, c); !errors.Is(err, ErrSetBack) {
		t.Errorf("the older copy: %v, want %v", err, ErrSetBack)
	}
	if err := opens(t, newest, c); err != nil {
		t.Errorf("the newest copy: %v, want it to open", err)
	}
	must(t, Bind(t.Context(), older, Init{Fingerprint: "seed", At: noon, Cold: false}, c, "ann", "the disk was restored"))
	if err := opens(t, older, c); err != nil {
		t.Errorf("the older copy, once it is bound again: %v, want it to open", err)
	}
	if err := opens(t, newest, c); !errors.Is(err, ErrSetBack) {
		t.Errorf("the file before that: %v, want %v", err, ErrSetBack)
	}
	must(t, Bind(t.Context(), newest, Init{Fingerprint: "seed", At: noon, Cold: false}, nil, "ann", "the TPM is lost"))
	f, err = guarded(t, newest, nil)
	must(t, err)
	if name, err := f.Bound(t.Context()); err != nil || name != "" {
		t.Errorf("bound to none it names %q, %v, want none", name, err)
	}
}

// The attack: two signers with two copies of one state, each with windows of its own. The second one to write finds it.
func TestTwoCopiesAtOnceAreNoticed(t *testing.T) {
	t.Parallel()
	c := &chip{}
	path := boundFile(t, c)
	other := copyOf(t, path)
	one, err := guarded(t, path, c)
	must(t, err)
	two, err := guarded(t, other, c)
	must(t, err)
	must(t, appendTo(t, one))
	if err := appendTo(t, two); !errors.Is(err, ErrSetBack) {
		t.Errorf("the second signer writes: %v, want %v", err, ErrSetBack)
	}
	if err := appendTo(t, one); !errors.Is(err, ErrSetBack) {
		t.Errorf("the first signer, whose counter somebody else raised: %v, want %v", err, ErrSetBack)
	}
}

// A crash between the commit and the counter, or a command that cannot use it, leaves the file ahead: nothing is
// forgotten, so it opens, and the next entry raises the counter to it.
func TestAFileAheadOfItsCounterOpens(t *testing.T) {
	t.Parallel()
	c := &chip{}
	path := boundFile(t, c)
	f, err := guarded(t, path, c)
	must(t, err)
	cut := errors.New("the power is cut")
	f.OnStep(func(what string) error {
		if what == "committed" {
			return cut
		}
		return nil
	})
	before := copyOf(t, path)
	if err := appendTo(t, f); !errors.Is(err, cut) {
		t.Fatalf("cut off after the commit: %v, want %v", err, cut)
	}
	must(t, f.Close())
	f, err = guarded(t, path, c)
	must(t, err)
	beside, err := Join(t.Context(), path) // a command without the counter
	must(t, err)
	must(t, appendTo(t, beside))
	must(t, beside.Close())
	must(t, appendTo(t, f))
	if err := opens(t, before, c); !errors.Is(err, ErrSetBack) {
		t.Errorf("a copy from before the cut: %v, want %v", err, ErrSetBack)
	}
	must(t, f.Close())
	must(t, opens(t, path, c))
}

// A signer and commands beside it raise one counter in the order in which they write.
func TestCommandsBesideASignerRaiseTheCounter(t *testing.T) {
	t.Parallel()
	c := &chip{}
	path := boundFile(t, c)
	f, err := guarded(t, path, c)
	must(t, err)
	beside, err := Join(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { beside.Close() })
	must(t, beside.Guard(t.Context(), c.open))
	begin := c.holds
	var group sync.WaitGroup
	for _, one := range []*File{f, beside} {
		group.Go(func() {
			for range 20 {
				if err := appendTo(t, one); err != nil {
					t.Errorf("an entry is not written: %v, want 40 of them", err)
					return
				}
			}
		})
	}
	group.Wait()
	if got := c.holds - begin; got != 40 {
		t.Errorf("the counter was raised by %d, want 40", got)
	}
}

// Without its counter a bound memory neither opens nor writes, and another counter is not taken for it.
func TestWithoutItsCounterNothingIsWritten(t *testing.T) {
	t.Parallel()
	c := &chip{holds: 1000}
	path := boundFile(t, c)
	for name, other := range map[string]*chip{"gone": {err: errors.New("no TPM")}, "far behind": {holds: 3}} {
		if err := opens(t, path, other); !errors.Is(err, ErrCounter) {
			t.Errorf("a counter that is %s: %v, want %v", name, err, ErrCounter)
		}
	}
	f, err := guarded(t, path, c)
	must(t, err)
	c.err = errors.New("no TPM")
	if err := appendTo(t, f); !errors.Is(err, ErrCounter) {
		t.Errorf("the counter fails: %v, want %v", err, ErrCounter)
	}
}
