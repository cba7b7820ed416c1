package recovery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A process that has proof that the database is older, and cannot begin the recovery, issues no index from memory: the
// older database would issue again what another process, whose memory this one does not have, issued before.
func TestNothingIsIssuedWhileARecoveryCannotBegin(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	older := storetest.Copy(t, p.base)
	var lost uint32
	p.do(func(tx *store.Tx) (err error) { // by another process, with the same marks
		lost, err = tx.KeyIndexes().Take(ctx, "fam", 1)
		return err
	})
	p.need(p.Compare(ctx))
	p.base = storetest.Open(t, older)
	p.DB = p.base.As(p.clock.Now, store.Hooks{})
	derive, closed := p.Derive, errors.New("the seed of that epoch is not open here")
	p.Derive = func(bursar.Family, uint32, int) ([]store.GapAddress, error) { return nil, closed }
	if err := p.Compare(ctx); !errors.Is(err, closed) {
		t.Fatalf("a look at the older database returns %v, want %v", err, closed)
	}
	if index, err := p.give(); !errors.Is(err, recovery.ErrUnreserved) {
		t.Errorf("index %d was issued, %v, after %d; want %v", index, err, lost, recovery.ErrUnreserved)
	}
	p.do(func(tx *store.Tx) error {
		list, err := tx.Alarms().OfKind(ctx, "database_behind")
		if err == nil && !slices.ContainsFunc(list, func(a store.Alarm) bool {
			return strings.Contains(a.Message, closed.Error())
		}) {
			t.Errorf("the alarms are %+v, want one that says why the recovery cannot begin", list)
		}
		return err
	})
	if !recovering(t, p.DB) {
		t.Error("the chain pays, although the database is older")
	}
	p.need(p.Stop(ctx))
	if kept, err := p.Keeper.Load(ctx); err != nil || kept.Stopped != nil {
		t.Errorf("a process that stops records what the older database has: %v, %v", kept.Stopped, err)
	}
	if err := p.Compare(ctx); !errors.Is(err, closed) {
		t.Errorf("the next look returns %v, want %v", err, closed)
	}
	other := newGuard(p.DB, p.Keeper.(*marks.File)) // of all epochs
	other.Families, other.Derive = p.Families, derive
	start(t, other)
	if why, err := restored(t, p.DB); err != nil || why != "" {
		t.Errorf("after another process has started the recovery, the database says that it was restored: %q, %v", why, err)
	}
	p.need(p.Compare(ctx)) // the database is not behind any more
	p.Derive = derive
	p.need(p.Reserve(ctx, "fam"))
	if index, err := p.give(); err != nil || index <= lost {
		t.Errorf("once it has recovered index %d is issued, %v, want one above %d", index, err, lost)
	}
}

// A number of a signature that the marks have already shows that the database is older. While the recovery that this
// calls for cannot begin, nothing more is signed: the next numbers would be higher than those of the marks, and pass.
func TestNothingIsSignedWhileARecoveryByALateNumberCannotBegin(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	older := storetest.Copy(t, p.base)
	p.do(func(tx *store.Tx) error { // the family has indexes that the older database lacks
		_, err := tx.KeyIndexes().Take(ctx, "fam", 1)
		return err
	})
	lease := p.lease()
	p.need(p.sign(lease))
	p.need(p.Compare(ctx))
	p.base = storetest.Open(t, older)
	p.DB = p.base.As(p.clock.Now, store.Hooks{})
	derive, closed := p.Derive, errors.New("the seed of that epoch is not open here")
	p.Derive = func(bursar.Family, uint32, int) ([]store.GapAddress, error) { return nil, closed }
	if err := p.sign(p.lease()); !errors.Is(err, closed) {
		t.Fatalf("a number that is late gives %v, want %v", err, closed)
	}
	for range 3 {
		if err := p.sign(p.lease()); !errors.Is(err, recovery.ErrBehind) {
			t.Fatalf("while the recovery cannot begin a signature gives %v, want %v", err, recovery.ErrBehind)
		}
	}
	if n := p.Kept().Signed[string(simbtc)]; n != 1 {
		t.Errorf("the marks have %d signatures, want 1", n)
	}
	p.Derive = derive
	p.need(p.Compare(ctx))
	if !recovering(t, p.DB) {
		t.Error("no recovery has started")
	}
	if n := p.marks().Signed[string(simbtc)]; n < 1 {
		t.Errorf("after the recovery the database has %d signatures, want those of the marks", n)
	}
}

// restored returns what a database says of when it was restored.
func restored(t *testing.T, db *store.DB) (text string, err error) {
	t.Helper()
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		text, err = tx.Settings().Restored(ctx)
		return err
	})
	return text, err
}
