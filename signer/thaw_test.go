package signer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// newThawFixture is a signer with a policy for mainnet, frozen by ann, for which ann and bob sign a thaw an hour later.
func newThawFixture(t *testing.T) *policyFixture {
	t.Helper()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Network = "mainnet" })
	d.freezes(ann)
	d.clock.Advance(time.Hour)
	d.must(d.thaws(ann, bob))
	d.look()
	return d
}

// freezes freezes the signer, as a person of the policy does with `bursar signer apply`.
func (d *policyFixture) freezes(seed byte) {
	d.t.Helper()
	d.must(memory.Enter(d.t.Context(), d.file))
	now := d.clock.Now().UTC().Truncate(time.Second)
	text := approval.Freeze{Instance: d.instance(), Why: "a key is gone", Created: now, Expires: now.Add(time.Hour),
		Nonce: approval.NewNonce()}.Text()
	err := d.file.Do(d.t.Context(), func(tx memory.Tx) error {
		_, by, err := people.Freezing(d.t.Context(), tx, text, signedBy(d.t, approval.NamespaceFreeze, text, seed),
			d.clock.Now())
		if err != nil {
			return err
		}
		return memory.Stop(d.path, memory.Freeze{At: d.clock.Now(), Who: by[0], Why: "a key is gone"})
	})
	d.must(errors.Join(err, memory.Enter(d.t.Context(), d.file)))
}

// look is what the signer's process does every few seconds.
func (d *policyFixture) look() {
	d.t.Helper()
	_, err := d.signer.ThawDue(d.t.Context(), d.clock.Now())
	d.must(err)
}

// waits returns when the thaw begins that waits.
func (d *policyFixture) waits() time.Time {
	d.t.Helper()
	w, _, err := memory.Waiting(d.t.Context(), d.file)
	d.must(err)
	return w.At
}

// wantFrozen lets time pass and reports if the signer is not frozen then, or no thaw waits although one is to.
func (d *policyFixture) wantFrozen(after time.Duration, waits bool) {
	d.t.Helper()
	d.clock.Advance(after)
	d.look()
	why, err := d.signer.Frozen()
	if err != nil || why == "" || strings.Contains(why, "thaws at") != waits {
		d.t.Errorf("%v later it says %q, %v, want frozen, a thaw waiting: %t", after, why, err, waits)
	}
	if got := !d.waits().IsZero(); got != waits {
		d.t.Errorf("%v later a thaw waits: %t, want %t", after, got, waits)
	}
	if after >= 0 {
		d.wantReason(d.numbered(1, 10, 1), ReasonFrozen)
	}
}

func (d *policyFixture) wantThawed(after time.Duration) {
	d.t.Helper()
	d.clock.Advance(after)
	d.look()
	why, err := d.signer.Frozen()
	if err != nil || why != "" || !d.signer.ThawsAt().IsZero() {
		d.t.Errorf("%v later it says %q, %v, thaws at %v, want that it is not frozen", after, why, err, d.signer.ThawsAt())
	}
	list, err := memory.Freezes(d.t.Context(), d.file)
	if err != nil || len(list) > 0 {
		d.t.Errorf("%v later the state has freezes %+v, %v, want none", after, list, err)
	}
}

// The attack: a thief with the keys of as many authors as sign a policy thaws the signer. It signs nothing for an hour.
func TestAThawOnMainnetWaitsForAnHour(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	at := d.clock.Now().Add(time.Hour)
	if got := d.waits(); !got.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("it thaws at %v, want %v", got, at)
	}
	says := "thaws at " + at.UTC().Format("2006-01-02 15:04 UTC")
	if why, err := d.signer.Frozen(); err != nil || !strings.Contains(why, says) {
		t.Errorf("it says %q, %v, want when it thaws", why, err)
	}
	d.wantFrozen(time.Hour-time.Second, true)
	d.wantThawed(time.Second)
	head, err := memory.Verify(t.Context(), d.file)
	if err != nil || head.Kind != memory.KindThaw || !strings.Contains(head.Detail, "ann, bob") {
		t.Errorf("the log ends with %+v, %v, want the thaw by ann and bob", head, err)
	}
}

// Elsewhere than on mainnet, with test money, nobody waits.
func TestAThawWithTestMoneyBeginsAtOnce(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.freezes(ann)
	d.must(d.thaws(ann, bob))
	d.wantThawed(0)
}

// One person of the policy ends a thaw that waits, who need not be an author of it. It has to be signed again, after
// that freeze, and waits from the beginning.
func TestOnePersonEndsAThawThatWaits(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	d.clock.Advance(59 * time.Minute)
	d.freezes(cat)
	d.wantFrozen(2*time.Minute, false)
	d.wantFrozen(2*time.Hour, false)
	d.must(d.thaws(ann, bob))
	d.look()
	d.wantFrozen(time.Hour-time.Minute, true)
	d.wantThawed(time.Minute)
}

// Everything else that freezes ends a thaw that waits too: a command, a signal, a marker file that somebody makes or
// touches by hand, the signer itself, a compromise order. The marker is removed by hand: that thaws nothing.
func TestEveryFreezeEndsAThawThatWaits(t *testing.T) {
	t.Parallel()
	for name, freeze := range map[string]func(d *policyFixture) error{
		"a command": func(d *policyFixture) error {
			f := memory.Freeze{At: d.clock.Now(), Who: "cat", Why: "who thaws it?"}
			return errors.Join(memory.Stop(d.path, f), memory.Enter(d.t.Context(), d.file))
		},
		"a command that was killed": func(d *policyFixture) error {
			return memory.Stop(d.path, memory.Freeze{At: d.clock.Now(), Who: "cat", Why: "who thaws it?"})
		},
		"a signal": func(d *policyFixture) error { return d.signer.Freeze(d.t.Context(), "a signal", "SIGUSR1") },
		"a file by hand": func(d *policyFixture) error {
			return errors.Join(os.Remove(d.path+".frozen"), os.WriteFile(d.path+".frozen", nil, 0o600))
		},
		"a touch": func(d *policyFixture) error {
			now := time.Now().Add(time.Minute)
			return os.Chtimes(d.path+".frozen", now, now)
		},
		"no marker": func(d *policyFixture) error { return os.Remove(d.path + ".frozen") },
		"two texts of a policy": func(d *policyFixture) error {
			d.signer.FreezeItself(func(memory.Freeze, error) {})
			return d.signer.freezeForTwo(d.t.Context(), people.ErrTwo)
		},
		"an external spend": func(d *policyFixture) error {
			d.signer.FreezeOnSpends()
			_, err := d.signer.SendHalts(d.t.Context(), Halts{Number: 1, Spends: []ExternalSpend{{Ref: "x", Reason: "a spend"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newThawFixture(t)
			d.clock.Advance(30 * time.Minute)
			d.must(freeze(d))
			d.wantFrozen(0, false)
			d.wantFrozen(31*time.Minute, false)
			d.wantFrozen(24*time.Hour, false)
		})
	}
}

// A compromise order is used while a thaw waits, as while the signer is frozen: it ends the thaw.
func TestACompromiseOrderIsUsedWhileAThawWaits(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixtureOn(t, "mainnet")
	d.use(d.compromise())
	d.wantReason(d.toCold("vault", 1), "")
	d.must(d.thaws(ann, bob))
	d.wantFrozen(30*time.Minute, true)
	d.wantReason(d.toCold("vault", 2), "") // the order is in force until the thaw begins
	d.wantThawed(30 * time.Minute)
	d.freezes(ann)
	d.must(d.thaws(ann, bob))
	d.look()
	d.use(d.compromise())
	d.wantFrozen(2*time.Hour, false)
	d.wantReason(d.toCold("vault", 3), "")
}

// While one thaw waits, another neither begins the wait again nor shortens it, and can be used later.
func TestASecondThawChangesNothing(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	at := d.waits()
	d.clock.Advance(10 * time.Minute)
	if err := d.thaws(bob, cat); !errors.Is(err, memory.ErrThawWaits) {
		t.Errorf("a second thaw: got %v, want %v", err, memory.ErrThawWaits)
	}
	if got := d.waits(); !got.Equal(at) {
		t.Errorf("then it thaws at %v, want %v", got, at)
	}
	d.wantThawed(50 * time.Minute)
}

// A restart neither shortens the wait nor lengthens it, and the signer that starts after its end thaws.
func TestAThawThatWaitsSurvivesRestarts(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	d.clock.Advance(30 * time.Minute)
	d.newProcess()
	d.wantFrozen(29*time.Minute, true)
	d.newProcess()
	d.wantThawed(2 * time.Minute)
	d.newProcess()
	d.wantThawed(0)
}

// newProcess opens the state as a new process does.
func (d *policyFixture) newProcess() {
	d.t.Helper()
	d.must(d.file.Close())
	d.again()
	d.must(memory.Agree(d.t.Context(), d.file))
}

// The attack: anyone who controls the service asks without end, so that nobody who freezes the signer again while a
// thaw waits gets at its state. What a frozen signer refuses needs none.
func TestWhatAFrozenSignerRefusesUsesNoState(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	d.signer.FreezeItself(func(memory.Freeze, error) {})
	used := 0
	d.file.OnStep(func(string) error { used++; return nil })
	for n := range 10 {
		d.wantReason(d.numbered(n+1, 10, 1), ReasonFrozen)
	}
	d.file.OnStep(nil)
	if used > 0 {
		t.Errorf("ten transactions that were refused took %d steps in the state, want none", used)
	}
}

// A clock that is set back lengthens the wait. A thaw that is signed while the clock is behind what the signer
// remembers is refused.
func TestTheClockDoesNotShortenTheWait(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	d.wantFrozen(-50*time.Minute, true)
	d.wantFrozen(61*time.Minute, true) // 11 minutes after it was signed
	d.wantThawed(49 * time.Minute)

	d = newPolicyFixture(t, func(p *roster.Policy) { p.Network = "mainnet" })
	d.freezes(ann)
	d.clock.Advance(-2 * time.Hour)
	if err := d.thaws(ann, bob); err == nil {
		t.Error("a thaw by a clock that was set back: got none refused, want it refused")
	}
}

// The attack: whoever controls the machine's source of time sets it forward by an hour.
func TestAProcessCountsTheHourByItself(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	if got, want := atMost(began, began.Add(2*time.Hour), time.Minute), began.Add(time.Minute); !got.Equal(want) {
		t.Errorf("a minute later, by a clock two hours ahead, it counts %v, want %v", got, want)
	}
	behind := began.Add(-time.Hour)
	if got := atMost(began, behind, time.Minute); !got.Equal(behind) {
		t.Errorf("by a clock that was set back it counts %v, want %v", got, behind)
	}
}

// The attack: while people's thaw is applied the clock is an hour and more behind, and right again at once. The process
// that was there before counts the hour from when it saw the thaw.
func TestAClockThatWasBehindForAMomentDoesNotShortenTheWait(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Network = "mainnet" })
	d.look()
	d.freezes(ann)
	d.clock.Advance(time.Minute)
	d.must(d.thaws(ann, bob))
	d.wantFrozen(5*time.Hour, true)
	d.wantFrozen(59*time.Minute, true)
	d.wantThawed(time.Minute)
}

// An older copy of the state, of which the marker or nothing is put back with it, does not thaw: the marker is another,
// or the thaw's time is long over.
func TestAnOlderStateDoesNotThaw(t *testing.T) {
	t.Parallel()
	for name, long := range map[string]time.Duration{
		"beside a newer marker": 2 * time.Hour, "after a day": 26 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newThawFixture(t)
			d.must(d.file.Close())
			older := copyState(t, d.path)
			marker, err := os.ReadFile(d.path + ".frozen")
			d.must(err)
			info, err := os.Stat(d.path + ".frozen")
			d.must(err)
			d.again()
			d.freezes(cat)
			d.must(d.file.Close())
			d.path = older
			if long > 24*time.Hour { // everything was put back, with its times
				d.must(errors.Join(os.WriteFile(older+".frozen", marker, 0o600),
					os.Chtimes(older+".frozen", info.ModTime(), info.ModTime())))
			} else {
				d.must(memory.Stop(older, memory.Freeze{At: d.clock.Now(), Who: "cat", Why: "a key is gone"}))
			}
			d.again()
			d.must(memory.Agree(t.Context(), d.file))
			d.wantFrozen(long, false)
			d.wantFrozen(time.Hour, false)
		})
	}
}

// A state that begins again has no thaw that waits, and one into which another is merged has none either.
func TestAStateThatBeginsAgainOrIsMergedForgetsTheThaw(t *testing.T) {
	t.Parallel()
	d := newThawFixture(t)
	d.must(d.file.Close())
	init := memory.Init{Fingerprint: "seed", At: d.clock.Now()}
	d.must(memory.BeginAgain(t.Context(), d.path, init, "eve", "x"))
	d.again()
	d.wantFrozen(2*time.Hour, false)

	d = newThawFixture(t)
	var export strings.Builder
	_, err := d.file.Export(t.Context(), &export, func([]byte) []byte { return []byte{1} })
	d.must(errors.Join(err, d.file.Close()))
	_, err = memory.Import(t.Context(), d.path, init, strings.NewReader(export.String()),
		func([]byte, []byte) error { return nil }, nil, "eve", "x")
	d.must(err)
	d.again()
	d.wantFrozen(2*time.Hour, false)

	other := filepath.Join(t.TempDir(), "other")
	d.must(memory.Create(t.Context(), other, init))
	_, err = memory.Import(t.Context(), other, init, strings.NewReader(export.String()),
		func([]byte, []byte) error { return nil }, nil, "eve", "x")
	d.must(err)
	d.path = other
	d.again()
	d.must(memory.Agree(t.Context(), d.file))
	d.wantFrozen(2*time.Hour, false)
}

// The machine stops at each statement of what takes a thaw or carries it out: the signer is frozen until the hour is
// over and thawed after it, and what was cut off can be done again.
func TestAThawIsWholeAfterACrash(t *testing.T) {
	t.Parallel()
	kills := 0
	for n := 1; ; n++ {
		d := newPolicyFixture(t, func(p *roster.Policy) { p.Network = "mainnet" })
		d.freezes(ann)
		if !d.killedAt(n, func() error { return d.thaws(ann, bob) }) {
			break
		}
		kills++
		d.wantFrozen(0, !d.waits().IsZero())
		if d.waits().IsZero() {
			d.must(d.thaws(ann, bob))
		}
		d.look()
		d.wantFrozen(time.Hour-time.Second, true)
		d.wantThawed(time.Second)
	}
	for n := 1; ; n++ {
		d := newThawFixture(t)
		d.clock.Advance(time.Hour)
		due := func() error {
			_, err := d.signer.ThawDue(context.WithoutCancel(t.Context()), d.clock.Now())
			return err
		}
		if !d.killedAt(n, due) {
			break
		}
		kills++
		d.wantThawed(0)
		d.freezes(cat)
		d.wantFrozen(2*time.Hour, false)
	}
	if kills < 20 {
		t.Errorf("it was killed at %d steps, want at least 20", kills)
	}
}

// killedAt does something that is killed at its step n, and restarts the signer. It reports whether there is such a
// step.
func (d *policyFixture) killedAt(n int, do func() error) (killed bool) {
	d.t.Helper()
	step := 0
	d.file.OnStep(func(string) error {
		if step++; step >= n {
			return errKilled
		}
		return nil
	})
	err := do()
	if err != nil && !errors.Is(err, errKilled) {
		d.t.Fatalf("killed at step %d: got %v, want %v", n, err, errKilled)
	}
	d.file.OnStep(nil)
	d.newProcess()
	return err != nil
}
