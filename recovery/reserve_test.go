package recovery_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What was reserved and may have been issued is skipped after a crash, and not after a clean shutdown.
func TestACleanShutdownSkipsNoIndex(t *testing.T) {
	for name, c := range map[string]struct {
		stops bool
		next  uint32
	}{"clean": {true, 1}, "a crash": {false, 64}} {
		t.Run(name, func(t *testing.T) {
			p := newPost(t)
			start(t, p.Guard)
			_, err := p.give()
			p.need(err)
			if c.stops {
				p.need(p.Stop(ctx))
			}
			p.over(storetest.URL(p.base))
			start(t, p.Guard)
			index, err := p.give()
			if p.need(err); index != c.next || recovering(t, p.DB) {
				t.Errorf("the next index is %d, it recovers %v", index, recovering(t, p.DB))
			}
		})
	}
}

// An index above what is reserved is not issued until it is reserved; the faster indexes are used up, the more are
// reserved.
func TestMoreIsReservedTheFasterItIsUsedUp(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	for _, c := range []struct {
		after time.Duration
		size  int64
	}{{10 * time.Second, 64}, {10*time.Second - 1000, 128}, {0, 256}, {20 * time.Second, 256}, {time.Minute,
		256}, {time.Minute + 1000, 64}, {0, 128}} {
		next := p.marks().Next["fam"]
		for range p.Kept().Indexes["fam"] - next {
			_, err := p.give()
			p.need(err)
		}
		if index, err := p.give(); !errors.Is(err, recovery.ErrUnreserved) {
			t.Fatalf("index %d is issued: %v, want %v", index, err, recovery.ErrUnreserved)
		}
		next = p.marks().Next["fam"]
		p.clock.Advance(c.after)
		p.need(p.Reserve(ctx, "fam"))
		if got := p.Kept().Indexes["fam"] - next; got != c.size || p.marks().Reserved["fam"] != next+got {
			t.Errorf("after %s %d are reserved, want %d", c.after, got, c.size)
		}
		p.need(p.Reserve(ctx, "fam")) // another caller was faster
		if got := p.Kept().Indexes["fam"] - next; got != c.size {
			t.Errorf("after %s a second caller reserves up to %d, want %d", c.after, got, c.size)
		}
	}
}

// An index that this process has issued already is never issued again, whatever the database says.
func TestAnIndexIsIssuedOnce(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	commit, err := p.Take(store.Identity{}, "fam", 4, 3)
	p.need(err)
	commit()
	for first, given := range map[uint32]bool{3: false, 6: false, 7: true} {
		if _, err := p.Take(store.Identity{}, "fam", first, 1); (err == nil) != given {
			t.Errorf("from %d on: %v, want %v", first, err, given)
		}
	}
	if _, err := p.Take(store.Identity{}, "fam", 60, 5); !errors.Is(err, recovery.ErrUnreserved) {
		t.Errorf("beyond what is reserved: %v, want %v", err, recovery.ErrUnreserved)
	}
	if _, err := p.Take(store.Identity{}, "fam", 60, 4); err != nil {
		t.Errorf("up to what is reserved: %v", err)
	}
}

// A commit that gave out an index is lost by a failover before this process has noted it: the index may have reached a
// client, and nobody gets it again.
func TestAnIndexOfALostCommitIsSkipped(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	p.need(p.Reserve(ctx, "fam"))
	older := storetest.Copy(t, p.base)
	var lost uint32
	p.do(func(tx *store.Tx) (err error) {
		if lost, err = tx.KeyIndexes().Take(ctx, "fam", 1); err == nil {
			_, err = p.Take(store.Identity{}, "fam", lost, 1) // its process is suspended as soon as it is committed
		}
		return err
	})
	p.base = storetest.Open(t, older)
	p.DB = p.base.As(p.clock.Now, store.Hooks{})
	if next := p.marks().Next["fam"]; next != int64(lost) {
		t.Fatalf("the older database gives out %d next, want the lost %d", next, lost)
	}
	p.need(p.Reserve(ctx, "fam")) // compares both, as each look does
	if index, err := p.give(); err != nil || index <= lost {
		t.Errorf("the next index is %d, %v, want one above %d, which was lost", index, err, lost)
	}
}

// Another timeline of the server answers, which has lost no payment as far as this process knows: what was reserved
// may have been issued by another process, and nobody gets it again.
func TestAPromotedServerIssuesNothingThatWasReserved(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short: a file is not promoted")
	}
	p := newPost(t)
	p.over(storetest.Postgres(t))
	start(t, p.Guard)
	p.need(p.Reserve(ctx, "fam"))
	_, err := p.Keeper.Raise(ctx, marks.State{Database: marks.Database{Name: p.Kept().Database.Name,
		System: p.Kept().Database.System, Timeline: "000000FF"}}) // the marks were compared with the timeline before
	p.need(err)
	for err == nil { // the next reservation reads them
		_, err = p.give()
	}
	p.need(p.Reserve(ctx, "fam"))
	reserved := p.Kept().Indexes["fam"]
	if _, err := p.give(); !errors.Is(err, recovery.ErrUnreserved) {
		t.Fatalf("by the promoted server: %v, want %v", err, recovery.ErrUnreserved)
	}
	p.need(p.Reserve(ctx, "fam"))
	if recovering(t, p.DB) {
		t.Error("it recovers, though it has lost nothing")
	}
	index, err := p.give()
	if errors.Is(err, recovery.ErrUnreserved) {
		p.need(p.Reserve(ctx, "fam"))
		index, err = p.give()
	}
	if err != nil || int64(index) < reserved {
		t.Errorf("the next index is %d, %v, want at least %d, up to which others may have issued", index, err, reserved)
	}
}

// A server that was promoted since the last look issues no index: it may have lost what another process issued a moment
// before, and of which this process has no memory.
func TestAPromotedServerIssuesNothingBeforeALook(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short: a file is not promoted")
	}
	p := newPost(t)
	p.over(storetest.Postgres(t))
	start(t, p.Guard)
	p.need(p.Reserve(ctx, "fam"))
	answers, err := p.base.Identity(ctx)
	p.need(err)
	next := uint32(p.marks().Next["fam"])
	if _, err := p.Take(answers, "fam", next, 1); err != nil {
		t.Errorf("by the server that was compared: %v", err)
	}
	answers.Timeline = "0000FFFF"
	if _, err := p.Take(answers, "fam", next, 1); !errors.Is(err, recovery.ErrUnreserved) {
		t.Errorf("by one that was promoted: %v, want %v", err, recovery.ErrUnreserved)
	}
}
