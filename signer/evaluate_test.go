package signer

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// stateFile gives the harness a state file.
func (b *harness) stateFile(cold bool) (path string) {
	b.t.Helper()
	path = filepath.Join(b.t.TempDir(), "state")
	b.must(memory.Create(b.t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now(), Cold: cold,
		New: !cold}))
	b.reopen(path)
	return path
}

// reopen restarts the signer's process: only the state file stays.
func (b *harness) reopen(path string) *memory.File {
	b.t.Helper()
	b.close()
	file, err := memory.Open(b.t.Context(), path, "seed")
	b.must(err)
	b.t.Cleanup(func() { file.Close() })
	b.restart(file)
	return file
}

func (b *harness) close() { b.must(b.signer.evaluator.keeper.Close()) }

func (b *harness) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// wantReason signs and checks with which reason it is refused; "" if it is signed.
func (b *harness) wantReason(r request, reason Reason, says ...string) {
	b.t.Helper()
	_, err := b.sign(r)
	var refused *RefusalError
	switch {
	case reason == "" && err != nil:
		b.t.Errorf("refused: %v", err)
	case reason != "" && (!errors.As(err, &refused) || refused.Reason != reason):
		b.t.Errorf("got %v, want it refused for %s", err, reason)
	}
	for _, text := range says {
		if err == nil || !strings.Contains(err.Error(), text) {
			b.t.Errorf("it says %v, want %q", err, text)
		}
	}
}

// costing is a request with a fee and a nonce, and so bytes, of its own.
func costing(r request, nonce int, fee uint64) request {
	r.request.ID = bursar.ID{1, byte(nonce)}
	r.contents.Fee, r.unsigned.Fee = bursar.Units(fee), bursar.Units(fee)
	r.contents.Weight = 1000
	r.contents.Reservations = []string{fmt.Sprintf("hot/%d", nonce)}
	return r
}

// limited is a policy with limits, and without one of the fee rate.
func limited(change func(p *Bounds)) func(*Bounds) {
	return func(p *Bounds) {
		p.MaxRate = bursar.Amount{}
		change(p)
	}
}

// The attack: the clock is set back, so that a window begins again or what was signed lies in the future.
func TestAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Hour: bursar.Units(900)} }))
	path := b.stateFile(false)
	b.wantReason(costing(b.sweep(), 1, 900), "")
	b.clock.Advance(-2 * time.Minute)
	b.wantReason(costing(b.sweep(), 1, 900), "")
	b.wantReason(costing(b.sweep(), 2, 1), ReasonQuota)
	b.clock.Advance(-time.Second)
	b.wantReason(costing(b.sweep(), 1, 900), ReasonClock, "correct the clock")
	b.reopen(path)
	b.wantReason(costing(b.sweep(), 1, 900), ReasonClock)
	b.clock.Advance(2*time.Minute + time.Second + 59*time.Minute)
	b.wantReason(costing(b.sweep(), 2, 1), ReasonQuota)
	b.clock.Advance(time.Minute + time.Second)
	b.wantReason(costing(b.sweep(), 2, 1), "")
}

// What is signed while the clock is a little behind counts from the latest time that is remembered, so what was signed
// before stays in its window.
func TestAClockThatIsALittleBehind(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Hour: bursar.Units(900)} }))
	b.wantReason(costing(b.sweep(), 1, 800), "")
	b.clock.Advance(-2 * time.Minute)
	b.wantReason(costing(b.sweep(), 2, 50), "")
	b.clock.Advance(61 * time.Minute)
	b.wantReason(costing(b.sweep(), 3, 60), ReasonQuota, "which is 50 more")
	b.clock.Advance(time.Minute + time.Millisecond)
	b.wantReason(costing(b.sweep(), 3, 60), "")
}

// The attack: an outpoint is said to belong to another key, so that its input's signature is for another script.
func TestNoTwoScriptsOfOneUTXO(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.wantReason(b.withUTXOs(), "")
	other := b.withUTXOs()
	other.contents.Inputs[0] = spent(in(b.source(chain.FamilyBitcoin, chain.DepositBranch, 2), digest(3)), "a:0", 750)
	b.wantReason(other, ReasonOutpoint, "a:0 is said to hold 750 at ")
	other.contents.Inputs[0] = spent(b.withUTXOs().contents.Inputs[0], "a:1", 750) // another output of the transaction
	other.unsigned.Reservations[0] = "a:1"
	b.wantReason(other, "")
}

// Where it is unknown whether something was written, what counts is read again.
func TestAWriteOfUnknownOutcomeCounts(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) { p.Fees = Limits{Hour: bursar.Units(900)} }))
	file := b.reopen(b.stateFile(false))
	b.wantReason(costing(b.sweep(), 1, 100), "")
	file.OnStep(func(what string) error {
		if what == "committed" {
			return errKilled
		}
		return nil
	})
	if _, err := b.sign(costing(b.sweep(), 2, 700)); !errors.Is(err, errKilled) {
		t.Fatalf("it returns %v, want %v", err, errKilled)
	}
	file.OnStep(nil)
	b.wantReason(costing(b.sweep(), 3, 101), ReasonQuota, "which is 100 more")
	b.wantReason(costing(b.sweep(), 2, 700), "")
	b.wantReason(costing(b.sweep(), 3, 100), "")
}

// The attack: anyone who removes the state file empties the windows.
func TestAColdStartCountsWindowsAsFull(t *testing.T) {
	t.Parallel()
	b := newHarness(t, limited(func(p *Bounds) {
		p.Fees, p.Payments = Limits{Hour: bursar.Units(1000)}, map[string]Limits{"token": {Day: bursar.Units(100)}}
	}))
	path := b.stateFile(true)
	b.wantReason(costing(b.sweep(), 1, 1), ReasonQuota, "what was signed before 2026-11-01 00:00 UTC is not known, so "+
		"hourly_fees counts as used up until 2026-11-01 01:00 UTC")
	b.clock.Advance(59*time.Minute + 59*time.Second)
	b.reopen(path)
	b.wantReason(costing(b.sweep(), 1, 1), ReasonQuota)
	b.clock.Advance(time.Second)
	b.wantReason(costing(b.sweep(), 1, 1), "")
	b.wantReason(costing(b.withNonce(), 2, 1), ReasonQuota, "daily_limit counts as used up until 2026-11-02 00:00 UTC")
	b.clock.Advance(23 * time.Hour)
	b.wantReason(costing(b.withNonce(), 2, 1), "")
}

// The attack: after a freeze the intruder restarts the signer.
func TestAFreezeSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	b.wantReason(b.sweep(), "")
	beside, err := memory.Join(t.Context(), path) // as the command does beside the running signer
	b.must(err)
	defer beside.Close()
	b.must(memory.SetFrozen(t.Context(), beside, b.clock.Now(), "ann", "a laptop is gone"))
	for range 2 {
		b.wantReason(b.sweep(), ReasonFrozen, "frozen by ann at 2026-11-01 00:00 UTC: a laptop is gone")
		b.wantReason(b.withUTXOs(), ReasonFrozen)
		b.reopen(path)
	}
	if n, err := memory.SetThawed(t.Context(), beside, b.clock.Now(), "bob", "found it"); err != nil || n != 1 {
		t.Fatalf("%d thawed, %v, want 1", n, err)
	}
	b.wantReason(b.sweep(), "")
	b.wantReason(b.withUTXOs(), "")
	if head, err := memory.Verify(t.Context(), beside); err != nil || head.Number != 7 {
		t.Errorf("the log ends with %+v, %v, want both signatures, freeze, thaw, and what each process refused", head, err)
	}
}

// The attack: an older copy of the state file is put back, and what was signed since is forgotten.
func TestAnOlderStateIsNoticed(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	b.wantReason(costing(b.sweep(), 1, 1), "")
	b.close()
	older := copyState(t, path)
	b.reopen(path)
	b.wantReason(costing(b.sweep(), 2, 1), "")
	seen := b.signer.Checkpoint()
	if seen.Number != 3 {
		t.Fatalf("the checkpoint is %+v, want 3", seen)
	}
	b.reopen(path)
	b.must(b.signer.Know(seen))
	b.wantReason(costing(b.sweep(), 2, 1), "")
	b.reopen(older)
	b.wantReason(costing(b.sweep(), 1, 1), "") // nobody has said yet what was seen
	b.must(b.signer.Know(memory.Checkpoint{Instance: "another", Number: 99}))
	b.wantReason(costing(b.sweep(), 1, 1), "")
	b.must(b.signer.Know(seen))
	b.wantReason(costing(b.sweep(), 1, 1), ReasonSetBack, "has seen entry 3", "it ends at 2")
	b.clock.Advance(time.Second)
	b.must(b.signer.Know(memory.Checkpoint{Instance: seen.Instance, Number: 2})) // an older one takes nothing back
	b.wantReason(costing(b.sweep(), 3, 1), ReasonSetBack)
	b.close()
	b.must(memory.BeginAgain(t.Context(), older, memory.Init{Fingerprint: "seed", At: b.clock.Now()}, "ann", "a backup"))
	b.reopen(older)
	b.must(b.signer.Know(seen)) // of the instance before
	b.wantReason(costing(b.sweep(), 3, 1), "")
}

// A log that went on after it was set back has another entry at the number that was seen.
func TestAnotherHistoryIsNoticed(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	b.close()
	older := copyState(t, path)
	b.reopen(path)
	b.wantReason(costing(b.sweep(), 1, 1), "")
	seen := b.signer.Checkpoint()
	b.reopen(older)
	b.wantReason(costing(b.sweep(), 2, 1), "")
	b.wantReason(costing(b.sweep(), 3, 1), "")
	b.must(b.signer.Know(seen))
	b.wantReason(costing(b.sweep(), 4, 1), ReasonSetBack)
}

// An error of the state file is no refusal, and nothing is signed: it may be the disk.
func TestWithoutItsMemoryNothingIsSigned(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.stateFile(false)
	b.close()
	tx, err := b.sign(b.sweep())
	var refused *RefusalError
	if err == nil || errors.As(err, &refused) || tx.Raw != nil {
		t.Fatalf("signed %+v, %v", tx, err)
	}
}
