package signer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// stateFile gives the bench a state file.
func (b *bench) stateFile(cold bool) (path string) {
	b.t.Helper()
	path = filepath.Join(b.t.TempDir(), "state")
	b.must(memory.Create(b.t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now(), Cold: cold}))
	b.reopen(path)
	return path
}

// reopen restarts the signer's process: only the state file stays.
func (b *bench) reopen(path string) *memory.File {
	b.t.Helper()
	b.close()
	file, err := memory.Open(b.t.Context(), path, "seed")
	b.must(err)
	b.t.Cleanup(func() { file.Close() })
	b.restart(file)
	return file
}

func (b *bench) close() { b.must(b.signer.judge.keeper.Close()) }

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// wantReason signs and checks with which reason it is refused; "" if it is signed.
func (b *bench) wantReason(r request, reason Reason, says ...string) {
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
func limited(change func(p *Policy)) func(*Policy) {
	return func(p *Policy) {
		p.MaxRate = bursar.Amount{}
		change(p)
	}
}

// The attack: a core that asks for sweeps, gas top-ups and small withdrawals at the highest fee burns what no limit of
// payments counts (500 transactions at the highest fee under a limit of one unit).
func TestFeesOfEveryKindCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited(func(p *Policy) { p.Fees = Limits{Hour: bursar.Units(1000), Day: bursar.Units(1500)} }))
	b.wantReason(costing(b.withNonce(), 1, 400), "")
	b.wantReason(costing(b.sweep(), 2, 300), "")
	b.wantReason(costing(b.topUp(), 3, 300), "")
	b.wantReason(costing(b.sweep(), 4, 1), ReasonQuota,
		"1 units of fees exceed what hourly_fees allows within this hour, "+
			"which is 0 more")
	b.wantReason(costing(b.sweep(), 2, 300), "")          // the same bytes
	b.wantReason(costing(b.sweep(), 2, 301), ReasonQuota) // a fee bump costs the difference
	b.wantReason(costing(b.withNonce(), 1, 399), "")      // a replacement that costs less costs nothing
	b.clock.Advance(time.Hour + time.Second)              // the hour is over, the day is not
	b.wantReason(costing(b.sweep(), 2, 301), "")          // of the day it is one more
	b.wantReason(costing(b.sweep(), 5, 499), "")
	b.wantReason(costing(b.topUp(), 6, 1), ReasonQuota, "daily_fees allows within this day")
	b.clock.Advance(23 * time.Hour)
	b.wantReason(costing(b.topUp(), 6, 700), "")
}

// The attack: a core empties the gas of the hot wallet into deposit addresses and back, each time a little cheaper than
// a limit of fees would notice.
func TestTransfersAmongOurAddressesAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited(func(p *Policy) { p.Transfers = Limits{Hour: bursar.Units(2)} }))
	b.wantReason(costing(b.sweep(), 1, 1), "")
	b.wantReason(costing(b.topUp(), 2, 1), "")
	b.wantReason(costing(b.sweep(), 3, 1), ReasonQuota,
		"1 sweeps, consolidations and gas top-ups exceed what hourly_sweeps "+
			"allows within this hour, which is 0 more")
	b.wantReason(costing(b.withNonce(), 4, 1), "")
	b.wantReason(costing(b.sweep(), 1, 9), "") // a fee bump is no second one
	b.clock.Advance(time.Hour + time.Second)
	b.wantReason(costing(b.sweep(), 3, 1), "")
}

// The attack: a core waits for the hour to pass, again and again.
func TestADayAndAWeekAreLimitedToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited(func(p *Policy) {
		p.Payments = map[string]Limits{"token": {Hour: bursar.Units(10), Day: bursar.Units(15), Week: bursar.Units(20)}}
	}))
	path := b.stateFile(false)
	nonce := 0
	pays := func(units uint64, reason Reason, says ...string) {
		t.Helper()
		nonce++
		r := costing(b.withNonce(), nonce, 1)
		r.request.Payments[0].Amount = bursar.Units(units)
		r.contents.Payments = r.request.Payments
		b.wantReason(r, reason, says...)
	}
	pays(10, "")
	pays(1, ReasonQuota, "hourly_limit")
	b.clock.Advance(61 * time.Minute)
	b.reopen(path)
	pays(6, ReasonQuota, "6 units of token exceed what daily_limit allows within this day, which is 5 more")
	pays(5, "")
	b.clock.Advance(24 * time.Hour)
	b.reopen(path)
	pays(6, ReasonQuota, "weekly_limit allows within this week")
	pays(5, "")
	b.clock.Advance(6 * 24 * time.Hour)
	pays(6, "")
}

// The attack: a signer without limits pays whatever the core asks for. On mainnet an asset without a limit cannot
// leave; what stays with us can move.
func TestWithoutALimitNothingLeavesOnMainnet(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited(func(p *Policy) {
		p.LimitsRequired, p.Payments = true, map[string]Limits{"": {Week: bursar.Units(1000)}}
	}))
	b.wantReason(costing(b.withNonce(), 1, 1), ReasonQuota, "7 units of token: the asset has no limit")
	native := costing(b.withNonce(), 2, 1)
	native.request.Payments = []chain.Payment{pay("alice", 3)}
	native.contents.Payments = native.request.Payments
	b.wantReason(native, "")
	b.wantReason(costing(b.sweep(), 3, 1), "")
	b.wantReason(costing(b.topUp(), 4, 1), "")
}

// The attack: the clock is set back, so that a window begins again or what was signed lies in the future.
func TestAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited(func(p *Policy) { p.Fees = Limits{Hour: bursar.Units(900)} }))
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
	b := newBench(t, limited(func(p *Policy) { p.Fees = Limits{Hour: bursar.Units(900)} }))
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
	b := newBench(t, nil)
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
	b := newBench(t, limited(func(p *Policy) { p.Fees = Limits{Hour: bursar.Units(900)} }))
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
	b := newBench(t, limited(func(p *Policy) {
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
	b := newBench(t, nil)
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
	b := newBench(t, nil)
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
	b := newBench(t, nil)
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

// copyState copies a state file with its log, as a killed process leaves them.
func copyState(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

var errKilled = errors.New("killed")

// Killed at any statement of the first signature, of a fee bump or of a spend of UTXOs, a signer gives the same bytes
// the same signature after its restart, and counts them once.
func TestACrashAtEveryStatement(t *testing.T) {
	t.Parallel()
	for name, requests := range map[string]func(b *bench) []request{
		"a payment":  func(b *bench) []request { return []request{costing(b.withNonce(), 1, 5)} },
		"a fee bump": func(b *bench) []request { return []request{costing(b.sweep(), 1, 5), costing(b.sweep(), 1, 9)} },
		"UTXOs":      func(b *bench) []request { return []request{b.withUTXOs()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for n := 1; crash(t, n, requests); n++ {
				kills = n
			}
			if kills < 7 {
				t.Errorf("it was killed at %d steps, want at least 7", kills)
			}
		})
	}
}

// crash kills the signer at step n of the last request, and reports whether there is such a step.
func crash(t *testing.T, n int, requests func(b *bench) []request) (killed bool) {
	b := newBench(t, limited(func(p *Policy) { p.Fees = Limits{Day: bursar.Units(100_000)} }))
	path := b.stateFile(false)
	list := requests(b)
	for _, r := range list[:len(list)-1] {
		b.wantReason(r, "")
	}
	last, left := list[len(list)-1], ""
	b.close()
	file, err := memory.Open(t.Context(), path, "seed")
	b.must(err)
	defer file.Close()
	b.restart(file)
	step := 0
	file.OnStep(func(string) error {
		if step++; step != n {
			return nil
		}
		left = copyState(t, path)
		return errKilled
	})
	if _, err = b.sign(last); left == "" {
		return false
	}
	if !errors.Is(err, errKilled) {
		t.Fatalf("killed at step %d it returns %v, want %v", n, err, errKilled)
	}
	after := newBench(t, limited(func(p *Policy) { p.Fees = Limits{Day: bursar.Units(100_000)} }))
	again := after.reopen(left)
	first, err := after.sign(last)
	after.must(err)
	second, err := after.sign(last)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("killed at step %d: signed twice: %+v and %+v, %v", n, first, second, err)
	}
	file.OnStep(nil)
	b.restart(file) // the process that only lost its answer
	if third, err := b.sign(last); err != nil || !reflect.DeepEqual(first, third) {
		t.Errorf("after an error at step %d it signs %+v, want %+v, %v", n, third, first, err)
	}
	for _, keeper := range []memory.Keeper{again, file} {
		wantCountedOnce(t, keeper, last, len(list), n)
	}
	return true
}

func wantCountedOnce(t *testing.T, keeper memory.Keeper, r request, signatures, n int) {
	t.Helper()
	head, err := memory.Verify(t.Context(), keeper)
	if err != nil || head.Number != int64(1+signatures) {
		t.Errorf("killed at step %d: the log ends with %d, %v, want %v", n, head.Number, err, int64(1+signatures))
	}
	err = keeper.Do(t.Context(), func(tx memory.Tx) error {
		counts, err := tx.CountsSince(t.Context(), time.Time{})
		var fees bursar.Amount
		for _, c := range counts {
			if c.Class == memory.Fees {
				fees, _ = fees.Add(c.Units)
			}
		}
		if fees != r.contents.Fee {
			t.Errorf("killed at step %d: fees of %s count, want %s", n, fees, r.contents.Fee)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// An error of the state file is no refusal, and nothing is signed: it may be the disk.
func TestWithoutItsMemoryNothingIsSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.stateFile(false)
	b.close()
	tx, err := b.sign(b.sweep())
	var refused *RefusalError
	if err == nil || errors.As(err, &refused) || tx.Raw != nil {
		t.Fatalf("signed %+v, %v", tx, err)
	}
}

// However many ask at once, no more than the window is signed.
func TestAThousandRequestsAgainstOneWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t, limited(func(p *Policy) { p.Payments = map[string]Limits{"token": {Hour: bursar.Units(300)}} }))
	path := b.stateFile(false)
	var signed, refusals atomic.Int64
	var group sync.WaitGroup
	for n := range 1000 {
		r := costing(b.withNonce(), n, 1)
		group.Go(func() {
			_, err := b.sign(r) // each pays 7
			var refused *RefusalError
			switch {
			case err == nil:
				signed.Add(7)
			case errors.As(err, &refused) && refused.Reason == ReasonQuota:
				refusals.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if signed.Load() != 294 || refusals.Load() != 1000-42 {
		t.Errorf("%d units are signed, %d requests refused, want 294 and %v", signed.Load(), refusals.Load(), 1000-42)
	}
	b.reopen(path)
	b.wantReason(costing(b.withNonce(), 2000, 1), ReasonQuota, "which is 6 more")
}

// A request that is given up while others are judged is neither counted nor signed.
func TestARequestThatIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	path := b.stateFile(false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := costing(b.sweep(), 1, 1)
	r.unsigned.Bytes = []byte(`{}`)
	if _, err := b.signer.Sign(ctx, r.chain, r.request, r.unsigned); err == nil {
		t.Fatal("it is signed, want an error")
	}
	head, err := memory.Verify(t.Context(), b.reopen(path))
	if err != nil || head.Number != 2 || head.Kind != memory.KindRefused {
		t.Errorf("the log ends with %+v, %v, want that it was refused", head, err)
	}
}
