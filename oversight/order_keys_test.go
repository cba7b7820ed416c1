package oversight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The keys with which clients sign orders are listed in pages, each once, by their state, and nobody sees those of an
// account that they may not see.
func TestOrderKeysAreListed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := reader(t, db)
		now := db.Now()
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			for _, k := range []bursar.OrderKey{
				{AccountID: shop, ID: "11", Name: "server", CreatedAt: now, UsableFrom: now.Add(-time.Hour)},
				{AccountID: shop, ID: "12", Name: "next Server", CreatedAt: now, UsableFrom: now.Add(time.Hour)},
				{AccountID: other, ID: "13", Name: "lost", CreatedAt: now, UsableFrom: now},
			} {
				if err := tx.OrderKeys().Insert(t.Context(), k); err != nil {
					return err
				}
			}
			return tx.OrderKeys().Revoke(t.Context(), other, "13")
		})
		if err != nil {
			t.Fatal(err)
		}
		keys := func(only []bursar.ID, values ...string) (ids, next string) {
			t.Helper()
			s, err := h.read("/order-keys", only, values...)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range s.Tables[0].Rows {
				ids += row[0].Text + " "
			}
			return strings.TrimSpace(ids), s.Tables[0].Next
		}
		for query, want := range map[string]string{"": "11 12 13", "state=usable": "11", "state=waits": "12",
			"state=revoked": "13", "name=server": "11 12", "account=" + shop.String(): "11 12",
			"account=" + other.String(): "13", "account=" + shop.String() + "&state=waits": "12"} {
			if got, _ := keys(nil, strings.Split(query, "&")...); got != want {
				t.Errorf("order-keys?%s lists %q, want %q", query, got, want)
			}
		}
		if got, _ := keys([]bursar.ID{other}); got != "13" {
			t.Errorf("who sees one account only is shown %q, want its key", got)
		}
		all, next := keys(nil, "limit=2")
		for next != "" {
			more, after := keys(nil, "limit=2", "before="+next)
			all, next = all+" "+more, after
		}
		if all = strings.TrimSpace(all); all != "11 12 13" {
			t.Errorf("in pages the keys are %q, want each once", all)
		}
		if _, err := h.read("/order-keys", []bursar.ID{other}, "account="+shop.String()); err == nil {
			t.Error("the keys of an account that may not be seen are listed, want that refused")
		}
	})
}
