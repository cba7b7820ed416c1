package recovery_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The marks keep the newest audited link of the books, as long as the database has it; a recovery starts with the last
// link of the database, because the loss of the later ones is known.
func TestTheMarksKeepTheNewestLinkOfTheBooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		file := marks.NewFile(filepath.Join(t.TempDir(), "seed.marks"))
		g := newGuard(db, file)
		start(t, g)
		head := book(t, db, "one")
		want := func(link int64, hash []byte) {
			t.Helper()
			kept, err := file.Load(ctx)
			number, known := g.Link()
			if err != nil || kept.Link != link || string(kept.LinkHash) != string(hash) || number != link ||
				string(known) != string(hash) {
				t.Errorf("the marks end with link %d %x, want %d %x; %v", kept.Link, kept.LinkHash, link, hash, err)
			}
		}
		want(0, nil)
		g.NoteLink(head.Number, head.Hash)
		want(0, nil) // before a look has confirmed that the database has it
		look(t, g)
		want(head.Number, head.Hash)
		g.NoteLink(head.Number+1, []byte("lost"))
		look(t, g)
		want(head.Number, head.Hash)
		next := book(t, db, "two")
		g.NoteLink(next.Number, []byte("another history"))
		look(t, g)
		want(head.Number, head.Hash)
		if _, err := file.Raise(ctx, marks.State{Beat: 1000, Link: 77, LinkHash: []byte("forgotten")}); err != nil {
			t.Fatal(err)
		}
		g = newGuard(db, file)
		start(t, g)
		if !recovering(t, db) {
			t.Error("the chain is not recovering")
		}
		want(next.Number, next.Hash)
	})
}

func look(t *testing.T, g *recovery.Guard) {
	t.Helper()
	if err := g.Compare(ctx); err != nil {
		t.Fatal(err)
	}
}

// book books an entry, and returns the last link of the books after it.
func book(t *testing.T, db *store.DB, ref string) (head store.Link) {
	t.Helper()
	err := db.Do(ctx, func(tx *store.Tx) error {
		return tx.Ledger().Post(ctx, ledger.NetworkFee(ref, 0, "BTC", bursar.Units(7), tx.Now()))
	})
	if err == nil {
		err = db.View(ctx, func(tx *store.Tx) (err error) {
			head, err = tx.Links().Head(ctx)
			return err
		})
	}
	if err != nil || head.Number == 0 {
		t.Fatalf("the books end with link %d, %v, want not 0", head.Number, err)
	}
	return head
}

type linkOf struct{ g *recovery.Guard }

func (a linkOf) LinkMark() (audit.Mark, error) {
	n, hash := a.g.Link()
	return audit.Mark{Link: n, Hash: hash}, nil
}

func (a linkOf) NoteLink(m audit.Mark) error { a.g.NoteLink(m.Link, m.Hash); return nil }

// Of two replicas the one that looks first after a lossy failover starts the recovery of the chains and drops the lost
// link; the other, which holds the lease, finds the beat raised and no signature of its own missing. It does not keep
// expecting the lost link.
func TestALostLinkIsNotExpectedForEver(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	one := newGuard(db, marks.NewFile(filepath.Join(t.TempDir(), "one.marks")))
	two := newGuard(db, marks.NewFile(filepath.Join(t.TempDir(), "two.marks")))
	start(t, one)
	if err := two.Join(ctx); err != nil {
		t.Fatal(err)
	}
	start(t, two)
	if _, err := two.BeginLease(ctx, simbtc); err != nil {
		t.Fatal(err)
	}
	before := storetest.Copy(t, db)
	lost := book(t, db, "an entry that the failover loses")
	one.NoteLink(lost.Number, lost.Hash)
	two.NoteLink(lost.Number, lost.Hash)
	look(t, one)
	look(t, two)
	db = storetest.Open(t, before)
	one.DB, two.DB = db, db
	look(t, one)
	look(t, two)
	book(t, db, "another")
	for range 3 {
		look(t, one)
		look(t, two)
	}
	wantNoFault(t, db, two)
}

// wantNoFault books an entry, and checks that an audit with the marks of a replica finds no fault.
func wantNoFault(t *testing.T, db *store.DB, g *recovery.Guard) {
	t.Helper()
	book(t, db, "one more")
	auditor := audit.Auditor{DB: db, Registry: &bursar.Registry{}, Log: slog.New(slog.DiscardHandler), Anchor: linkOf{g}}
	if _, err := auditor.Step(ctx); err != nil {
		t.Fatal(err)
	}
	err := db.View(ctx, func(tx *store.Tx) error {
		faults, err := tx.BookFaults().List(ctx, 10)
		for _, f := range faults {
			t.Errorf("fault %s", f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A failover loses entries of the books and a look of the replica that has noted them, and the other replica, which
// looked less often, looks first: the number of looks is no less than in any marks. The missing link shows that the
// database has gone back.
func TestALostLinkShowsThatTheDatabaseHasGoneBack(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	one := newGuard(db, marks.NewFile(filepath.Join(t.TempDir(), "one.marks")))
	two := newGuard(db, marks.NewFile(filepath.Join(t.TempDir(), "two.marks")))
	start(t, one)
	if err := two.Join(ctx); err != nil {
		t.Fatal(err)
	}
	start(t, two)
	before := storetest.Copy(t, db)
	lost := book(t, db, "an entry that the failover loses")
	two.NoteLink(lost.Number, lost.Hash)
	look(t, two)
	db = storetest.Open(t, before)
	one.DB, two.DB = db, db
	look(t, one)
	if recovering(t, db) {
		t.Error("the replica that has lost nothing takes the database for an older one")
	}
	look(t, two)
	if !recovering(t, db) {
		t.Error("the chain is not recovering")
	}
	wantNoFault(t, db, two)
}
