package signer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

var intruder = memory.Freeze{Who: "ann", Why: "an intruder", At: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}

// A freeze that comes after the transaction was counted, or while its commit keeps the state busy, is in time: it needs
// no database, and nothing leaves afterwards.
func TestAFreezeComesFirst(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"commit", "committed"} {
		b := newHarness(t, nil)
		path := b.stateFile(false)
		b.onStep(moment, func() { b.must(memory.Stop(path, intruder)) })
		b.wantReason(b.numbered(1, 10, 1), ReasonFrozen, "frozen by ann at 2026-11-01 12:00 UTC: an intruder")
		b.onStep("", nil)
		b.wantReason(b.numbered(2, 10, 1), ReasonFrozen)
		b.reopen(path)
		b.wantReason(b.numbered(3, 10, 1), ReasonFrozen)
	}
}

// onStep runs f once at a step of the state's file.
func (b *harness) onStep(moment string, f func()) {
	done := false
	b.signer.evaluator.keeper.(*memory.File).OnStep(func(what string) error {
		if what == moment && !done {
			done = true
			f()
		}
		return nil
	})
}

// TestNothingLeavesAfterTheFreeze freezes while signatures are made without pause. What was on its way out when the
// freeze began is waited for; nothing is handed over after the freeze has returned.
func TestNothingLeavesAfterTheFreeze(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	var frozen atomic.Bool
	var out, late atomic.Int64
	busy := make(chan struct{})
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := 0; ; i++ {
				r := b.numbered(1000*n+i, 1, 1)
				_, err := b.sign(r)
				var refused *RefusalError
				if errors.As(err, &refused) && refused.Reason == ReasonFrozen {
					return
				}
				done, err := b.signer.Leaving(r.chain, r.request)
				if err != nil {
					return
				}
				if out.Add(1) == 20 {
					close(busy)
				}
				if frozen.Load() {
					late.Add(1)
				}
				done()
			}
		})
	}
	<-busy
	b.must(memory.Stop(path, intruder))
	frozen.Store(true)
	beside, err := memory.Join(t.Context(), path)
	b.must(err)
	b.must(memory.Enter(t.Context(), beside))
	list, err := memory.Freezes(t.Context(), beside)
	if err != nil || len(list) != 1 || list[0] != intruder {
		t.Errorf("the state says %+v, %v, want 1 of them and %v", list, err, intruder)
	}
	b.must(beside.Close())
	group.Wait()
	if late.Load() > 0 {
		t.Errorf("%d signatures left after the freeze had returned, want 0", late.Load())
	}
	b.must(b.thaw(path))
	b.wantReason(b.numbered(1, 10, 1), "")
}

func (b *harness) thaw(path string) error {
	b.t.Helper()
	beside, err := memory.Join(b.t.Context(), path)
	b.must(err)
	n, err := memory.Thaw(b.t.Context(), beside, b.clock.Now(), "bob", "found it")
	if err == nil && n == 0 {
		err = errors.New("there was no freeze")
	}
	return errors.Join(err, beside.Close())
}

// The process itself freezes at once too, on a signal; a marker file that somebody made by hand does, without a word in
// it. A thaw ends each, and the log has both.
func TestEveryWayToFreeze(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	b.must(b.signer.Freeze(t.Context(), "a signal", "SIGUSR1"))
	b.wantReason(b.numbered(1, 10, 1), ReasonFrozen, "frozen by a signal")
	b.must(b.thaw(path))
	b.wantReason(b.numbered(1, 10, 1), "")
	b.must(os.WriteFile(path+".frozen", nil, 0o600))
	b.wantReason(b.numbered(2, 10, 1), ReasonFrozen, "frozen by somebody")
	if says, err := b.signer.Frozen(); err != nil || says == "" {
		t.Errorf("it says %q, %v, want not %q", says, err, "")
	}
	b.must(b.thaw(path))
	b.wantReason(b.numbered(2, 10, 1), "")
	head, err := memory.Verify(t.Context(), b.signer.evaluator.keeper)
	if err != nil || head.Number != 1+2+2+2 {
		t.Errorf("the log has %d entries, %v, want %v", head.Number, err, 1+2+2+2)
	}
}

// A freeze of which no file could be made holds all the same, until the process ends.
func TestAFreezeWithoutADiskHolds(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	b.must(os.Remove(path + ".gate"))
	b.must(os.Mkdir(path+".frozen.d", 0o700))
	b.must(os.Rename(path+".frozen.d", path+".frozen")) // no file can be made where a folder is
	if err := b.signer.Freeze(t.Context(), "a signal", "SIGUSR1"); err == nil {
		t.Error("a marker was made, want an error")
	}
	b.must(os.Remove(path + ".frozen"))
	b.wantReason(b.numbered(1, 10, 1), ReasonFrozen, "a signal")
}

// TestAFreezeDuringAThawStays: of two people one freezes while the other thaws an earlier freeze.
func TestAFreezeDuringAThawStays(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	b.must(memory.Stop(path, intruder))
	beside, err := memory.Join(t.Context(), path)
	b.must(err)
	defer beside.Close()
	once := sync.OnceFunc(func() {
		b.must(memory.Stop(path, memory.Freeze{Who: "cat", Why: "again", At: b.clock.Now()}))
	})
	beside.OnStep(func(what string) error {
		if what == "commit" {
			once()
		}
		return nil
	})
	if _, err := memory.Thaw(t.Context(), beside, b.clock.Now(), "bob", "found it"); err == nil {
		t.Error("the thaw does not say that the signer is frozen again")
	}
	b.wantReason(b.numbered(1, 10, 1), ReasonFrozen, "by cat")
}

// A command waits for what is on its way out, and says so when it takes too long. Nobody who comes later keeps it
// waiting.
func TestAFreezeWaitsForWhatIsOnItsWayOut(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	r := b.numbered(1, 10, 1)
	done, err := b.signer.Leaving(r.chain, r.request)
	b.must(err)
	stopped := make(chan error, 1)
	go func() { stopped <- memory.Stop(path, intruder) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		runtime.Gosched() // the freeze needs a processor
		also, err := b.signer.Leaving(r.chain, r.request)
		if err != nil {
			break // the marker is there
		}
		also()
		if ctx.Err() != nil {
			t.Fatal("the freeze does not hold while it waits")
		}
	}
	select {
	case err := <-stopped:
		t.Errorf("the freeze returned before the signature was out: %v", err)
	default:
	}
	done()
	b.must(<-stopped)
}

// An older state that says frozen without a marker file keeps the gate shut.
func TestTheGateAndTheStateAgreeAtTheStart(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := filepath.Join(t.TempDir(), "state")
	b.must(memory.Create(t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now()}))
	file := b.reopen(path)
	b.must(memory.SetFrozen(t.Context(), file, intruder.At, intruder.Who, intruder.Why))
	if says, err := b.signer.Frozen(); err != nil || says != "" {
		t.Fatalf("the gate says %q, %v, want %q", says, err, "")
	}
	b.must(memory.Agree(t.Context(), file))
	if says, err := b.signer.Frozen(); err != nil || says == "" {
		t.Errorf("the gate says %q, %v, want not %q", says, err, "")
	}
	b.must(b.thaw(path))
	b.wantReason(b.numbered(1, 10, 1), "")
}
