package service_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/console"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A person of the support cancels a charge that waits for value, once, and it is in the log of acts; one who reads may
// not, and one who is restricted to another account finds none.
func TestAPersonCancelsACharge(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	person := operator.Person{ID: bursar.ID{0: 7}, Name: "Sue", Roles: []operator.Role{operator.Support}}
	people, err := operator.NewService(operator.Config{DB: c.DB, IDs: c.IDs, URL: "http://localhost:8081"})
	c.Must(err)
	page, err := console.New(console.Config{DB: c.DB, Registry: c.service.Registry, IDs: c.IDs, People: people,
		Log: slog.New(slog.DiscardHandler), Acts: console.Acts{Charges: c.service.Charges},
		Who: func(*http.Request) (operator.Person, operator.Session, error) {
			return person, operator.Session{ID: bursar.ID{8}}, nil
		}})
	c.Must(err)
	d, err := c.service.Charges.CreateSum(ctx, charge.Terms{Account: c.shop, Currencies: []bursar.CurrencyCode{"COIN"},
		Unit: "COIN", Amount: "0.001", Webhook: "https://8.8.8.8/", Life: time.Hour, Hash: []byte("r")})
	c.Must(err)
	cancel := func(want int) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"object": d.ID.String(), "reason": "the order was withdrawn",
			"confirm": "yes", "token": c.IDs.Next().String()})
		c.Must(err)
		r := httptest.NewRequest(http.MethodPost, "/admin/v1/do/charge.cancel", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("the answer is %d, want %d: %s", w.Code, want, w.Body)
		}
	}
	person.Roles = []operator.Role{operator.Viewer}
	cancel(http.StatusForbidden)
	person.Roles, person.Accounts = []operator.Role{operator.Support}, []bursar.ID{{0: 99}}
	cancel(http.StatusNotFound)
	person.Accounts = []bursar.ID{c.shop}
	cancel(http.StatusOK)
	c.View(func(tx *store.Tx) error {
		v, err := tx.Invoices().Get(ctx, c.shop, d.ID)
		if err == nil && v.CancelledAt.IsZero() {
			t.Error("the charge is not cancelled, want that it is")
		}
		acts, failed := tx.Acts().List(ctx, store.ActFilter{}, store.Page{Limit: 10})
		if len(acts) != 1 || acts[0].Actor != "Sue" || acts[0].Verb != "charge.resolve" ||
			acts[0].Object != "charge "+d.ID.String() || acts[0].Reason != "the order was withdrawn" {
			t.Errorf("recorded are %+v, want Sue's one act", acts)
		}
		if err == nil {
			err = failed
		}
		return err
	})
}
