package follow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// at gives the follower a clock that the test sets.
func at(f *followtest.Harness) *clocktest.Clock {
	clock := clocktest.At(f.DB.Now())
	f.DB = f.DB.As(clock.Now, store.Hooks{})
	return clock
}

func chainState(f *followtest.Harness) (s store.ChainState) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.Chains().State(ctx, bursar.Ethereum)
		return err
	}))
	return s
}

// An idle chain records every few seconds that it is alive, for the alarm about chains that are not, and writes nothing
// in between.
func TestAnIdleChainIsRecordedAsAlive(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		clock := at(f)
		f.Sim.Mine(3)
		f.CatchUp()
		first := chainState(f).CheckedAt
		clock.Advance(5 * time.Second)
		f.CatchUp()
		if s := chainState(f); s.CheckedAt != first {
			t.Errorf("after five seconds the head is recorded again, at %v, want %v", s.CheckedAt, first)
		}
		clock.Advance(time.Second)
		f.CatchUp()
		if s := chainState(f); s.CheckedAt != clock.Now() {
			t.Errorf("the head was last recorded at %v, want %v", s.CheckedAt, clock.Now())
		}
	})
}

// A head that was read long ago is read again, although blocks up to it are left: a reorg may have replaced them.
func TestAnOldHeadIsReadAgain(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		clock := at(f)
		c := &counted{Chain: f.Sim}
		f.Chain = c
		f.Sim.Mine(300)
		for i, want := range []int{1, 1, 2} {
			if more, err := f.Step(ctx, f.Lease); err != nil || !more || c.heads != want {
				t.Fatalf("after step %d the head was read %d times, want %d (more: %v, %v)", i, c.heads, want, more, err)
			}
			clock.Advance(time.Duration(i) * 5 * time.Second)
		}
	})
}

// An error that changes with every attempt is written every few seconds, and its end at once.
func TestAChangingErrorIsWrittenEveryFewSeconds(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		clock := at(f)
		fail := func(text, want string) {
			t.Helper()
			f.NoteFailure(ctx, f.Lease, 1, errors.New(text))
			if got := chainState(f).Failing; got != want {
				t.Fatalf("after %q the note is %q, want %q", text, got, want)
			}
		}
		fail("one", "one")
		clock.Advance(9 * time.Second)
		fail("two", "one")
		clock.Advance(time.Second)
		fail("three", "three")
		f.NoteSuccess(ctx, f.Lease)
		if got := chainState(f).Failing; got != "" {
			t.Fatalf("once it is followed again the note is %q, want none", got)
		}
		fail("four", "four")
		clock.Advance(time.Minute)
		long := strings.Repeat("ä", 300)
		f.NoteFailure(ctx, f.Lease, 2, errors.New(long))
		if got := chainState(f).Failing; len(got) < 490 || len(got) > 500 || !utf8.ValidString(got) ||
			!strings.HasPrefix(long, got) {
			t.Errorf("of a long error %d bytes are kept: %q", len(got), got)
		}
	})
}

// A follower that lost its lease writes no note about a chain that another process follows.
func TestALostLeaseWritesNoNote(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		lost := f.Lease
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if err := tx.Leases().Release(ctx, f.Lease); err != nil {
				return err
			}
			f.Lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			return err
		}))
		f.NoteFailure(ctx, lost, 1, errors.New("late"))
		if got := chainState(f).Failing; got != "" {
			t.Errorf("the note is %q, want none", got)
		}
		f.NoteFailure(ctx, f.Lease, 1, errors.New("true"))
		if got := chainState(f).Failing; got != "true" {
			t.Errorf("the note of the lease holder is %q, want %q", got, "true")
		}
	})
}

// The workers that send events and payments are woken when there is something to send, and at no other time.
func TestBookedChangesWakeTheWorkers(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		woken := 0
		f.Advanced = func() { woken++ }
		f.Sim.Mine(3)
		f.CatchUp()
		if woken != 1 {
			t.Errorf("a chain that has caught up wakes %d times, want 1: payments may be sent now", woken)
		}
		step := func(what string, want int) {
			t.Helper()
			woken = 0
			f.CatchUp()
			if woken != want {
				t.Errorf("%s wakes %d times, want %d", what, woken, want)
			}
		}
		step("nothing", 0)
		f.Sim.Mine(1)
		step("an empty block", 0)
		f.Pay(5000)
		f.Sim.Mine(1)
		step("a payment", 1)
		f.Sim.Mine(1)
		step("another block", 0)
		f.Sim.Mine(1)
		step("a credit", 1)
		step("nothing after it", 0)
	})
}

// misreporting is a chain whose adapter reports payments to others as payments to us.
type misreporting struct {
	*sim.Chain
	transfer chain.Transfer
}

func (s misreporting) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := s.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		blocks[i].Transfers = append(blocks[i].Transfers, s.transfer)
	}
	return blocks, err
}

// A payment to an address that is not ours is no deposit: no row, no alarm, nothing in the books.
func TestAPaymentToAnotherAddressIsNoDeposit(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Chain = misreporting{f.Sim, chain.Transfer{TxID: "theirs", Address: bursar.Address{Base: f.Sim.Named("theirs")},
			Amount: bursar.Units(9000)}}
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
		f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
			for height := range uint64(4) {
				if list, err := tx.Deposits().InBlock(ctx, bursar.Ethereum, height); err != nil || len(list) > 1 {
					t.Errorf("block %d has deposits %+v (%v), want at most 1", height, list, err)
				}
			}
			return nil
		}))
	})
}

// A chain that is followed without errors writes no note, however often it steps; a note is cleared once.
func TestAChainWithoutErrorsWritesNoNote(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		notes := 0
		f.DB = f.DB.As(f.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
			if at == store.Running && strings.Contains(what, "failing = ") {
				notes++
			}
			return nil
		}})
		for _, step := range []struct {
			name  string
			do    func()
			notes int
		}{
			{"no error", func() { f.NoteSuccess(ctx, f.Lease) }, 0},
			{"the node is away", func() { f.NoteFailure(ctx, f.Lease, 1, errors.New("away")) }, 1},
			{"it is still away", func() { f.NoteFailure(ctx, f.Lease, 2, errors.New("away")) }, 0},
			{"it is back", func() { f.NoteSuccess(ctx, f.Lease) }, 1},
			{"it is still there", func() { f.NoteSuccess(ctx, f.Lease) }, 0},
		} {
			notes = 0
			if step.do(); notes != step.notes {
				t.Errorf("%s: %d notes are written, want %d", step.name, notes, step.notes)
			}
		}
	})
}
