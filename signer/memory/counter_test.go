package memory

import (
	"bytes"
	"database/sql"
	"errors"
	"sync"
	"testing"
)

// The attack: an older copy of the state is put back, and the windows forget what was signed since.
func TestAnOlderCopyIsNoticedByTheCounter(t *testing.T) {
	t.Parallel()
	c := &fakeCounter{holds: 41}
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
	c := &fakeCounter{}
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
	c := &fakeCounter{}
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
	c := &fakeCounter{}
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
	c := &fakeCounter{holds: 1000}
	path := boundFile(t, c)
	for name, other := range map[string]*fakeCounter{"gone": {err: errors.New("no TPM")}, "far behind": {holds: 3}} {
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

// The attack: the TPM is made to fail once, or the signer is killed, right after the commit. The same bytes are known
// then and are signed without another entry, and the copy from before the commit would open again.
func TestWhatIsKnownWaitsForItsCounter(t *testing.T) {
	t.Parallel()
	c := &fakeCounter{holds: 7}
	path := boundFile(t, c)
	f, err := guarded(t, path, c)
	must(t, err)
	older := copyOf(t, path)
	c.err = errors.New("no TPM")
	if err := appendTo(t, f); !errors.Is(err, ErrCounter) {
		t.Fatalf("the counter fails: %v, want %v", err, ErrCounter)
	}
	known := func(Tx) error { return errors.New("the transaction was counted before") } // as the signer ends what it knows
	if err := f.Do(t.Context(), known); !errors.Is(err, ErrCounter) {
		t.Errorf("the same bytes, while the counter fails: %v, want %v", err, ErrCounter)
	}
	c.err = nil
	if err := f.Do(t.Context(), known); errors.Is(err, ErrCounter) || err == nil {
		t.Errorf("the same bytes afterwards: %v, want them to be known", err)
	}
	if err := opens(t, older, c); !errors.Is(err, ErrSetBack) {
		t.Errorf("the copy from before, once they were signed: %v, want %v", err, ErrSetBack)
	}
	c.err = errors.New("no TPM")
	older = copyOf(t, path)
	if err := appendTo(t, f); !errors.Is(err, ErrCounter) {
		t.Fatalf("the counter fails again: %v, want %v", err, ErrCounter)
	}
	must(t, f.Close()) // it is killed before it was raised
	c.err = nil
	must(t, opens(t, path, c))
	if err := opens(t, older, c); !errors.Is(err, ErrSetBack) {
		t.Errorf("the copy from before, once the signer was started again: %v, want %v", err, ErrSetBack)
	}
}

// The attack, or the mishap: a copy is put back that lacks two entries, and the freeze and the thaw of it, whose
// commands go on where the counter refuses the file, count it up to where it was.
func TestCommandsDoNotCountACopyUp(t *testing.T) {
	t.Parallel()
	c := &fakeCounter{}
	path := boundFile(t, c)
	f, err := guarded(t, path, c)
	must(t, err)
	older := copyOf(t, path)
	must(t, appendTo(t, f))
	must(t, appendTo(t, f))
	must(t, f.Close())
	for n := range 3 {
		if err := opens(t, older, c); !errors.Is(err, ErrSetBack) {
			t.Errorf("the copy, after %d entries of commands: %v, want %v", n, err, ErrSetBack)
		}
		beside, err := Join(t.Context(), older)
		must(t, err)
		must(t, appendTo(t, beside))
		must(t, beside.Close())
	}
}

// A command that compares the counter and a signer that writes take their locks in one order: they would wait for each
// other otherwise, for as long as either waits at all.
func TestTheFileIsLockedBeforeItsCounter(t *testing.T) {
	t.Parallel()
	c := &fakeCounter{}
	path := boundFile(t, c)
	impatient, err := sql.Open("sqlite", "file:"+path+"?mode=rw&_txlock=immediate&_pragma=busy_timeout(0)")
	must(t, err)
	t.Cleanup(func() { impatient.Close() })
	asked := 0
	c.asked = func() {
		asked++
		if tx, err := impatient.BeginTx(t.Context(), nil); err == nil {
			t.Errorf("the counter is asked while others may begin to write, want the file to be locked")
			_ = tx.Rollback()
		}
	}
	must(t, opens(t, path, c))
	if asked == 0 {
		t.Error("the counter was not asked, want it to be compared")
	}
}

// The attack: the copy from before an import is put back, so that what the import forbids is forgotten. An import into
// such a copy makes nothing newer of it.
func TestAnImportRaisesTheCounter(t *testing.T) {
	t.Parallel()
	c := &fakeCounter{}
	path := boundFile(t, c)
	export, older := exported(t, path), copyOf(t, path)
	merge := func(path string) error {
		_, err := Import(t.Context(), path, Init{Fingerprint: "seed", At: noon}, bytes.NewReader(export), unseal,
			c.open, "ann", "test")
		return err
	}
	must(t, merge(path))
	if err := opens(t, older, c); !errors.Is(err, ErrSetBack) {
		t.Errorf("the copy from before the import: %v, want %v", err, ErrSetBack)
	}
	if err := merge(older); !errors.Is(err, ErrSetBack) {
		t.Errorf("an import into it: %v, want %v", err, ErrSetBack)
	}
	must(t, opens(t, path, c))
}
