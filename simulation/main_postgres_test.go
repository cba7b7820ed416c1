package main

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestAHistoryIsTheSameOnPostgreSQL checks that a history is the same on both databases, byte for byte: nothing
// depends on which one keeps the books. It has no interruptions, because their points are counted in statements, of
// which PostgreSQL has some more; and no restores, because a server has no image to put back.
func TestAHistoryIsTheSameOnPostgreSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PostgreSQL: left out by -short")
	}
	t.Parallel()
	template := memory(t)
	for seed := range uint64(10) {
		var inMemory, onServer bytes.Buffer
		p := generate(seed, defaultLength)
		p.Events = slices.DeleteFunc(p.Events, func(e Event) bool {
			return slices.Contains([]string{"backup", "restore", "failover", "switch", "edit"}, e.Do)
		})
		for i := range p.Events {
			p.Events[i].Interrupts = nil
		}
		run(p, Setting{Template: template, Print: &inMemory})
		run(p, onPostgres(t, &onServer))
		if inMemory.String() != onServer.String() {
			t.Errorf("seed %d: %s", seed, difference(inMemory.String(), onServer.String()))
		}
	}
}

// onPostgres is a setting on a new database of a server, filled like the template.
func onPostgres(t *testing.T, print *bytes.Buffer) Setting {
	t.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{URL: storetest.Postgres(t), Now: clocktest.New().Now, Conns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	template, err := replicas.NewTemplate(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	return Setting{Template: template, DB: db, Print: print}
}
