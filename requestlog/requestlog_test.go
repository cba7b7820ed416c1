package requestlog

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func newLog(t *testing.T) *Log {
	t.Helper()
	return &Log{DB: storetest.Open(t, storetest.Reused(t)), Keep: time.Hour, Logger: slog.New(slog.DiscardHandler)}
}

func (l *Log) listed(t *testing.T, f store.RequestFilter) (list []store.LoggedRequest) {
	t.Helper()
	err := l.DB.View(t.Context(), func(tx *store.Tx) (err error) {
		list, err = tx.RequestLog().List(t.Context(), f, store.Page{Limit: 1000})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// An account that sends very many requests leaves room for others, and sees how many of its own are not there.
func TestOneAccountDoesNotFillTheLog(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	noisy, quiet := bursar.ID{1}, bursar.ID{2}
	at := l.DB.Now()
	for n := range 1000 {
		l.Note(store.LoggedRequest{ID: bursar.ID{1, byte(n >> 8), byte(n)}, At: at, Account: noisy, Method: "GET",
			Status: 200})
	}
	l.Note(store.LoggedRequest{ID: bursar.ID{9}, At: at, Account: quiet, Method: "GET", Status: 200})
	l.Note(store.LoggedRequest{ID: bursar.ID{8}, At: at, Account: noisy, Method: "GET", Status: 404, Code: "not_found"})
	l.Write(t.Context())
	mine := l.listed(t, store.RequestFilter{Account: noisy})
	if len(mine) != perAccount+1 || mine[0].LeftOut != 1000-perAccount || mine[0].Status != 404 || mine[1].LeftOut != 0 {
		t.Errorf("%d requests are logged, the newest %+v, want %d with the refusal and that the rest is left out", len(mine),
			mine[0], perAccount+1)
	}
	if others := l.listed(t, store.RequestFilter{Account: quiet}); len(others) != 1 || others[0].LeftOut != 0 {
		t.Errorf("of the other account are logged %+v, want its one request", others)
	}
	for n := range 2 * perProcess {
		l.Note(store.LoggedRequest{ID: bursar.ID{2}, At: at, Account: bursar.ID{3, byte(n >> 8), byte(n)}, Method: "GET"})
	}
	if list, lost := l.take(); len(list) != perProcess || lost != perProcess {
		t.Errorf("%d requests of many accounts wait and %d are lost, want %d of each", len(list), lost, perProcess)
	}
}

// The end of the process writes what was noted; what is old is gone after the next start.
func TestTheLogIsWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	now := l.DB.Now()
	l.Note(store.LoggedRequest{ID: bursar.ID{1}, At: now.Add(-2 * time.Hour), Method: "GET", Status: 200})
	l.Note(store.LoggedRequest{ID: bursar.ID{2}, At: now, Method: "GET", Status: 200})
	ended, end := context.WithCancel(t.Context())
	end()
	if err := l.Run(ended); err == nil {
		t.Error("Run ends without an error, want that of its context")
	}
	if list := l.listed(t, store.RequestFilter{}); len(list) != 2 {
		t.Errorf("%d requests are logged, want 2", len(list))
	}
	l.tidy(t.Context())
	if list := l.listed(t, store.RequestFilter{}); len(list) != 1 || list[0].ID != (bursar.ID{2}) {
		t.Errorf("kept are %+v, want the new one", list)
	}
}
