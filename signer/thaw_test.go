package signer

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

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
