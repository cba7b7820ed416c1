package recovery_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// post is a process with marks in a file, over a database that can be restored.
type post struct {
	*testing.T
	*recovery.Guard
	file  string
	base  *store.DB
	clock *clocktest.Clock
}

func newPost(t *testing.T) *post {
	t.Parallel()
	p := &post{T: t, file: filepath.Join(t.TempDir(), "seed.marks"), clock: clocktest.New()}
	p.over(storetest.SQLite(t))
	return p
}

// over returns another process over a database, with the same marks.
func (p *post) over(url string) {
	p.Helper()
	p.base = storetest.Open(p.T, url)
	ids := bursar.NewIDs(p.base.Now, nil)
	p.Guard = &recovery.Guard{DB: p.base.As(p.clock.Now, store.Hooks{}),
		Keeper: marks.NewFile(p.file),
		Chains: []bursar.ChainID{simbtc}, Families: []bursar.Family{"fam"}, Log: slog.New(slog.DiscardHandler),
		Name: func() string { return ids.Next().String() },
		Derive: func(family bursar.Family, from uint32, n int) (list []store.GapAddress, err error) {
			for i := range uint32(n) {
				list = append(list, store.GapAddress{Index: from + i, Base: fmt.Sprintf("%s %d", family, from+i)})
			}
			return list, nil
		}}
}

func (p *post) need(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *post) do(f func(tx *store.Tx) error) {
	p.Helper()
	p.need(p.DB.Do(ctx, f))
}

// give issues a key index as a wallet does: taken in a transaction, recorded after its commit.
func (p *post) give() (index uint32, err error) {
	p.Helper()
	err = p.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if index, err = tx.KeyIndexes().Take(ctx, "fam", 1); err != nil {
			return err
		}
		answers, err := tx.Settings().Identity(ctx)
		if err != nil {
			return err
		}
		commit, err := p.Take(answers, "fam", index, 1)
		if err == nil {
			tx.After(commit)
		}
		return err
	})
	return index, err
}

func (p *post) marks() (m store.Marks) {
	p.Helper()
	p.do(func(tx *store.Tx) (err error) {
		m, err = tx.Counters().Read(ctx)
		return err
	})
	return m
}

// lease acquires the lease of the chain.
func (p *post) lease() (l store.Lease) {
	p.Helper()
	p.do(func(tx *store.Tx) (err error) {
		if err = tx.Chains().Ensure(ctx, simbtc); err == nil {
			l, _, err = tx.Leases().Acquire(ctx, simbtc, "one", 1<<50)
		}
		return err
	})
	return l
}

// reserved is a new outgoing transaction that is about to be signed.
func (p *post) reserved() bursar.ID {
	p.Helper()
	p.clock.Advance(time.Second)
	id := bursar.NewIDs(p.clock.Now, nil).Next()
	p.do(func(tx *store.Tx) error {
		s := bursar.OutgoingTx{ID: id, Chain: simbtc, Kind: "sweep", Currency: "BTC", Base: "x",
			Request: []byte(`{"Payments":[]}`)}
		if _, err := tx.Outgoing().Insert(ctx, s); err != nil {
			return err
		}
		s.Status, s.Unsigned = bursar.OutgoingNew, []byte("{}")
		return tx.Outgoing().SetStatus(ctx, s, bursar.OutgoingReserved)
	})
	return id
}

// sign counts a new outgoing transaction that is about to be signed.
func (p *post) sign(lease store.Lease) error {
	p.Helper()
	_, err := p.Sign(ctx, lease, p.reserved())
	return err
}

// A new database starts with new marks: a name, a look counted on both sides, and indexes reserved before any is
// issued.
func TestANewDatabaseGetsMarks(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	now, kept := p.marks(), p.Kept()
	if kept.Database.Name == "" || kept.Database.Name != now.Identity.Database || !now.Kept || recovering(t, p.DB) {
		t.Errorf("the marks are %+v, the database has %+v", kept, now)
	}
	if kept.Beat != 1 || now.Beat != 1 || kept.Indexes["fam"] != 64 || now.Reserved["fam"] != 64 {
		t.Errorf("the marks are %+v, the database has %+v, want 1 and 64", kept, now)
	}
	if saved, err := marks.NewFile(p.file).Load(ctx); err != nil || saved.Indexes["fam"] != 64 ||
		saved.Database != kept.Database {
		t.Errorf("on disk is %+v, %v, want 64 and %v", saved, err, kept.Database)
	}
	p.need(p.Compare(ctx))
	if p.Kept().Beat != 2 || p.marks().Beat != 2 {
		t.Errorf("after another look the marks count %d, the database %d, want 2 and 2", p.Kept().Beat, p.marks().Beat)
	}
}

// A database that was used with marks is not used without them; an operator's restore creates new ones far above.
func TestAUsedDatabaseNeedsItsMarks(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	url := storetest.Copy(t, p.base)
	p.file = filepath.Join(t.TempDir(), "other.marks")
	p.over(url)
	if err := p.Start(ctx); !errors.Is(err, marks.ErrMissing) || !strings.Contains(err.Error(), "bursar recovery begin") {
		t.Errorf("it starts with %v, want %v and %q in it", err, marks.ErrMissing, "bursar recovery begin")
	}
	p.do(func(tx *store.Tx) error { return tx.Settings().SetRestored(ctx, "noon") })
	start(t, p.Guard)
	if now := p.marks(); !recovering(t, p.DB) || now.Next["fam"] != 64+recovery.LostJump || now.Restored != "" {
		t.Errorf("restored, the database has %+v, recovering are %v", now, recovering(t, p.DB))
	}
	if index, err := p.give(); err != nil || index != 64+recovery.LostJump {
		t.Errorf("the next index is %d, %v, want %d", index, err, 64+recovery.LostJump)
	}
}

// Another replica joins a current database without a recovery; an operator's begin makes key indexes jump and chains
// recover.
func TestJoinAndBegin(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	url := storetest.Copy(t, p.base)
	p.file = filepath.Join(t.TempDir(), "other.marks")
	p.over(url)
	p.need(p.Join(ctx))
	start(t, p.Guard)
	if recovering(t, p.DB) || p.Kept().Indexes["fam"] < 64 {
		t.Errorf("joined, it recovers, or has the marks %+v", p.Kept())
	}
	before := p.marks().Next["fam"]
	p.file = filepath.Join(t.TempDir(), "third.marks")
	p.over(url)
	p.need(p.Begin(ctx, "the disk burned", 500))
	if now := p.marks(); !recovering(t, p.DB) || now.Next["fam"] < before+500 || now.Reserved["fam"] != now.Next["fam"] {
		t.Errorf("after begin the database has %+v", now)
	}
}

// A restored database is raised to the marks: addresses that may have been issued are skipped and watched, signatures
// are counted, the chain recovers, and that is logged once.
func TestARestoredDatabaseIsRaisedToTheMarks(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	lease := p.lease()
	before := storetest.Copy(t, p.base)
	for range 3 {
		_, err := p.give()
		p.need(err)
	}
	for range 2 {
		p.need(p.sign(lease))
	}
	known := p.Kept()
	p.over(before)
	start(t, p.Guard)
	now := p.marks()
	if !recovering(t, p.DB) || now.Next["fam"] != 64 || now.Signed[string(simbtc)] != 2 || now.Beat <= known.Beat ||
		now.Reserved["fam"] < 64 {
		t.Errorf("the database has %+v, the marks had %+v", now, known)
	}
	p.do(func(tx *store.Tx) error {
		for _, base := range []string{"fam 0", "fam 2", "fam 63"} {
			if _, err := tx.GapAddresses().Get(ctx, "fam", base); err != nil {
				t.Errorf("%s is not watched: %v", base, err)
			}
		}
		r, err := tx.Recoveries().Get(ctx, simbtc)
		if err != nil {
			return err
		}
		return recovery.End(ctx, tx, r)
	})
	p.need(p.Compare(ctx))
	if recovering(t, p.DB) {
		t.Error("a second recovery started")
	}
	if index, err := p.give(); err != nil || index != 64 {
		t.Errorf("the next index is %d, %v, want 64", index, err)
	}
}

// Nothing is signed with a database that has lost a signature: the chain recovers.
func TestNothingIsSignedWithADatabaseThatLostASignature(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	p.need(p.sign(p.lease()))
	older := storetest.Copy(t, p.base)
	p.need(p.sign(p.lease()))
	p.base = storetest.Open(t, older)
	p.DB = p.base // the same process continues, and has noticed nothing
	if err := p.sign(p.lease()); !errors.Is(err, recovery.ErrBehind) ||
		!strings.Contains(err.Error(), "1 signed transactions of simbtc, the marks have 2") {
		t.Errorf("it gave %v, want %v and %q in it", err, recovery.ErrBehind,
			"1 signed transactions of simbtc, the marks have 2")
	}
	if !recovering(t, p.DB) || p.Kept().Signed[string(simbtc)] != 2 {
		t.Errorf("recovering are %v, the marks are %+v", recovering(t, p.DB), p.Kept())
	}
	other := p.lease()
	other.Token++
	if err := p.sign(other); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("without the lease: %v, want %v", err, store.ErrLeaseLost)
	}
}

// A process that holds the chain lease records what others have signed there: a database that loses that later has lost
// something.
func TestALeaseHolderRecordsWhatOthersSigned(t *testing.T) {
	p := newPost(t)
	start(t, p.Guard)
	older := storetest.Copy(t, p.base)
	p.do(func(tx *store.Tx) error {
		_, err := tx.Counters().CountSigned(ctx, simbtc) // by another process, with marks of its own
		return err
	})
	if p.HoldsLease(simbtc) {
		t.Error("it reports the lease before the comparison")
	}
	end, err := p.BeginLease(ctx, simbtc)
	p.need(err)
	if !p.HoldsLease(simbtc) || p.Kept().Signed[string(simbtc)] != 1 {
		t.Errorf("it reports the lease %v, the marks are %+v", p.HoldsLease(simbtc), p.Kept())
	}
	end()
	if p.HoldsLease(simbtc) {
		t.Error("it reports the lease after its end")
	}
	p.base = storetest.Open(t, older)
	p.DB = p.base
	if _, err := p.BeginLease(ctx, simbtc); err != nil {
		t.Error(err)
	}
	if !recovering(t, p.DB) {
		t.Error("a database that lost signatures of others is accepted")
	}
}
