package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// requestLog holds that requests are listed as they were logged, by every filter, and that the oldest are forgotten by
// their age and by their number.
func requestLog(t *testing.T, db *store.DB) {
	now := db.Now().UTC().Truncate(time.Second)
	mine := bursar.ID{2}
	logged := []store.LoggedRequest{
		{ID: bursar.ID{11}, At: now.Add(-time.Hour), Account: mine, Key: bursar.ID{3}, Method: "GET",
			Path: "/api/v1/wallet", Status: 200, Took: 1500 * time.Microsecond},
		{ID: bursar.ID{12}, At: now, Method: "POST", Status: 404, Code: bursar.CodeNotFound},
		{ID: bursar.ID{13}, At: now, Account: mine, Key: bursar.ID{3}, Method: "POST", Path: "/api/v1/wallet", Status: 422,
			Code: bursar.CodeBelowMinimum, LeftOut: 7},
	}
	do(t, db, func(tx *store.Tx) error { return tx.RequestLog().Add(t.Context(), logged) })
	list := func(f store.RequestFilter, page store.Page) (found []store.LoggedRequest) {
		t.Helper()
		do(t, db, func(tx *store.Tx) (err error) {
			found, err = tx.RequestLog().List(t.Context(), f, page)
			return err
		})
		return found
	}
	all := list(store.RequestFilter{}, store.Page{Limit: 10})
	if len(all) != 3 {
		t.Fatalf("%d requests are listed, want 3", len(all))
	}
	for i, got := range all {
		want := logged[2-i]
		if want.Number = got.Number; got != want {
			t.Errorf("request %d is %+v, want %+v", i, got, want)
		}
	}
	for what, test := range map[string]struct {
		f    store.RequestFilter
		want []byte
	}{
		"of an account": {store.RequestFilter{Account: mine}, []byte{13, 11}},
		"by status":     {store.RequestFilter{Least: 400, Most: 421}, []byte{12}},
		"by path":       {store.RequestFilter{Path: "/api/v1/wallet"}, []byte{13, 11}},
		"by ID":         {store.RequestFilter{ID: bursar.ID{11}}, []byte{11}},
		"another's":     {store.RequestFilter{Account: mine, ID: bursar.ID{12}}, nil},
	} {
		var got []byte
		for _, r := range list(test.f, store.Page{Limit: 10}) {
			got = append(got, r.ID[0])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s are listed %v, want %v", what, got, test.want)
		}
	}
	if got := list(store.RequestFilter{}, store.Page{Before: all[1].Number, Limit: 10}); len(got) != 1 {
		t.Errorf("%d requests are before the second, want 1", len(got))
	}
	forgetsRequests(t, db, now, all[0].Number)
}

// forgetsRequests forgets the first of three requests by its age and the second by its number.
func forgetsRequests(t *testing.T, db *store.DB, now time.Time, last int64) {
	t.Helper()
	forget := func(before time.Time, rows, want int64) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			n, err := tx.RequestLog().Forget(t.Context(), before, rows, 10)
			if n != want {
				t.Errorf("%d requests are forgotten, want %d", n, want)
			}
			return err
		})
	}
	forget(now.Add(-2*time.Hour), 3, 0)
	forget(now.Add(-time.Minute), 3, 1)
	forget(time.Time{}, 1, 1)
	do(t, db, func(tx *store.Tx) error {
		newest, err := tx.RequestLog().Newest(t.Context())
		if newest != last {
			t.Errorf("the newest request is %d, want %d", newest, last)
		}
		return err
	})
}
