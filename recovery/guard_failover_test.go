package recovery_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

const simbtc = bursar.ChainID("simbtc")

func newGuard(db *store.DB, file *marks.File) *recovery.Guard {
	ids := bursar.NewIDs(db.Now, nil)
	return &recovery.Guard{DB: db, Keeper: file, Chains: []bursar.ChainID{simbtc}, Log: slog.New(slog.DiscardHandler),
		Name: func() string { return ids.Next().String() }}
}

func recovering(t *testing.T, db *store.DB) (is bool) {
	t.Helper()
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		is, err = tx.Recoveries().IsOpen(ctx, simbtc)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// Another timeline answers a process that does not lead the chain, as after a failover that took longer than a lease.
// It is taken for one that may have lost something, unless the operator says that no failover does, or nobody else ever
// signed and the marks agree; a number that steps back, or another cluster, is a loss whatever the operator says.
func TestAFailoverDeclaredSynchronousLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	t.Parallel()
	tests := map[string]struct {
		synchronous bool
		was         marks.State // what the marks have beyond the database
		recovers    bool
	}{
		"other marks are used too": {false, marks.State{Database: marks.Database{Timeline: "000000FF"}, Others: true},
			true},
		"nobody else ever signed": {false, marks.State{Database: marks.Database{Timeline: "000000FF"}}, false},
		"it loses nothing":        {true, marks.State{Database: marks.Database{Timeline: "000000FF"}}, false},
		"it has lost a signature": {true, marks.State{Database: marks.Database{Timeline: "000000FF"},
			Signed: map[string]int64{string(simbtc): 1}}, true},
		"it has lost a look":       {true, marks.State{Database: marks.Database{Timeline: "000000FF"}, Beat: 1000}, true},
		"it is another cluster":    {true, marks.State{Database: marks.Database{Timeline: "000000FF", System: "7"}}, true},
		"nothing has failed over":  {false, marks.State{}, false},
		"it is of another service": {true, marks.State{Database: marks.Database{Name: "another"}}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, storetest.Postgres(t))
			file := marks.NewFile(filepath.Join(t.TempDir(), "seed.marks"))
			start(t, newGuard(db, file))
			kept, err := file.Load(ctx)
			if err != nil {
				t.Fatal(err)
			}
			is := kept.Database
			if is.System == "" || is.Timeline == "" {
				t.Fatalf("the marks are of %+v, want not %q", is, "")
			}
			test.was.Database = filled(test.was.Database, is)
			if _, err := file.Raise(ctx, test.was); err != nil {
				t.Fatal(err)
			}
			g := newGuard(db, file)
			g.SynchronousFailover = test.synchronous
			start(t, g)
			if got := recovering(t, db); got != test.recovers {
				t.Errorf("it recovers: %v, want %v", got, test.recovers)
			}
			if now := g.Kept().Database; now != is {
				t.Errorf("the marks are of %+v, the database is %+v", now, is)
			}
		})
	}
}

func start(t *testing.T, g *recovery.Guard) {
	t.Helper()
	if err := g.Start(ctx); err != nil {
		t.Fatal(err)
	}
}

// filled returns the marks of a database, where a case gives no other values.
func filled(d, is marks.Database) marks.Database {
	if d.Name == "" {
		d.Name = is.Name
	}
	if d.System == "" {
		d.System = is.System
	}
	if d.Timeline == "" {
		d.Timeline = is.Timeline
	}
	return d
}
