package storetest

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar/store"
)

// reusable is a database that a test has used and that is empty again, with what stays open between two tests: the
// connections of the first one, with all statements prepared, and one that empties it. Creating a database costs a
// server about 0.2 s of CPU time, connecting to one and preparing what most tests do 0.05 s on either: more than they
// need for all that they do in it.
type reusable struct {
	url   string
	spare *store.Spare
	raw   *sql.DB // of one connection
	empty func(u *reusable) error
	drop  func()

	mu    sync.Mutex
	asked map[string]*sql.Stmt
}

// errChanged is returned for a database that another test must not get.
var errChanged = errors.New("the test has changed more than rows")

// shelf keeps the databases of one kind that no test uses.
type shelf struct {
	mu   sync.Mutex
	free []*reusable
	all  []*reusable
	make func(t testing.TB) (*reusable, error)
}

var (
	files   = shelf{make: newFile}
	servers = shelf{make: newOnServer}
	inUse   sync.Map // by the owner's URL: the *reusable
)

// take returns the URL of a database of today's schema that another test may have used before, and empties it when
// this one ends. One whose test failed, or changed more than rows, is not used again.
func (p *shelf) take(t testing.TB) (url string) {
	t.Helper()
	u, err := p.get(t)
	if err != nil {
		t.Fatal(err)
	}
	inUse.Store(AsOwner(u.url), u)
	u.spare.Heard = listener(t)
	t.Cleanup(func() {
		inUse.Delete(AsOwner(u.url))
		if err := u.empty(u); err != nil || t.Failed() {
			if err != nil && !errors.Is(err, errChanged) {
				t.Error(err)
			}
			u.spare.Discard()
			u.raw.Close()
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, u)
	})
	return u.url
}

func (p *shelf) get(t testing.TB) (*reusable, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		u := p.free[n-1]
		p.free = p.free[:n-1]
		return u, nil
	}
	u, err := p.make(t)
	if err == nil {
		p.all = append(p.all, u)
	}
	return u, err
}

// end closes and removes all databases.
func (p *shelf) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.all {
		u.spare.Discard()
		u.raw.Close()
		u.drop()
	}
}

// Reused returns the URL of an SQLite file of today's schema that another test may have used before. It is for tests
// that only change rows: one that looks at the file or its folder takes SQLite.
func Reused(t testing.TB) string {
	t.Helper()
	return files.take(t)
}

// Ask returns what a query about the database with a URL returns: one text, number or nothing.
func Ask(t testing.TB, url, query string) string {
	t.Helper()
	var answer sql.NullString
	if err := ask(url, query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer.String
}

func ask(url, query string) interface{ Scan(into ...any) error } {
	if u, is := inUse.Load(AsOwner(url)); is {
		return u.(*reusable).ask(query)
	}
	driver, source := "pgx", url
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		driver, source = "sqlite", file
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return failed{err}
	}
	defer db.Close()
	return db.QueryRow(query)
}

// ask keeps the query prepared.
func (u *reusable) ask(query string) interface{ Scan(into ...any) error } {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.asked == nil {
		u.asked = map[string]*sql.Stmt{}
	}
	s := u.asked[query]
	if s == nil {
		var err error
		if s, err = u.raw.Prepare(query); err != nil {
			return failed{err}
		}
		u.asked[query] = s
	}
	return s.QueryRow()
}

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

// spareOf returns the connections that an earlier test has left, nil where none has.
func spareOf(url string) *store.Spare {
	u, is := inUse.Load(AsOwner(url))
	if !is {
		return nil
	}
	return u.(*reusable).spare
}
