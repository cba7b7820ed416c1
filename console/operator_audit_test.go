package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

// read decodes an answer of the admin API.
func read[T any](o *fixture, path string) (data T) {
	o.T.Helper()
	w := got(o.T, o.console, "/admin/v1"+path)
	if err := json.Unmarshal(w.Body.Bytes(), &data); w.Code != http.StatusOK || err != nil {
		o.T.Fatalf("%s answers %d %s (%v), want JSON", path, w.Code, w.Body, err)
	}
	return data
}

// Every answer has the ID of its request, which the service makes and not the client, and the log of acts names it; the
// console finds what a request did by it.
func TestAnActNamesItsRequest(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.console.who = func(*http.Request) (operator.Person, operator.Session, error) {
			return operator.Person{ID: bursar.ID{9}, Name: "Ada", Roles: []operator.Role{operator.Approver, operator.Auditor}},
				operator.Session{ID: bursar.ID{8}}, nil
		}
		w := o.waiting()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/console/do/withdrawal.reject",
			strings.NewReader("object="+w.ID.String()+"&reason=no&confirm=yes&token="+o.token()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("X-Request-ID", "the client's")
		answer := httptest.NewRecorder()
		o.console.ServeHTTP(answer, r)
		request := answer.Header().Get("X-Request-ID")
		list := o.acts()
		if _, err := bursar.ParseID(request); err != nil || len(list) != 1 || list[0].Request != request ||
			list[0].Token == "" {
			o.T.Fatalf("the request %q made %+v, want one act that names it, and the token of the form", request, list)
		}
		for _, path := range []string{"/console/audit?request=" + request, "/console/search?q=" + request} {
			if body := got(o.T, o.console, path).Body.String(); !strings.Contains(body, "withdrawal "+w.ID.String()) {
				o.T.Errorf("%s does not show the act:\n%s", path, body)
			}
		}
		other := read[actsAnswer](o, "/operator/audit?request="+o.token())
		if len(other.Acts) != 0 {
			o.T.Errorf("another request made %+v, want nothing", other.Acts)
		}
	})
}

// The admin API has the log of acts in pages, with what is needed to check it: a copy verifies by its own hashes, and
// the service says whether the rows and a noted hash are still there.
func TestTheAuditOfTheAdminAPI(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.Do(func(tx *store.Tx) error {
			for _, name := range []string{"Ada", "Bob", "Ada"} {
				act := operator.Act{Person: operator.Person{ID: bursar.ID{9}, Name: name}, Verb: "people.change",
					Object: "person 1"}
				if err := operator.Record(context.Background(), tx, act); err != nil {
					return err
				}
			}
			return nil
		})
		o.console.who = func(*http.Request) (operator.Person, operator.Session, error) {
			return operator.Person{ID: bursar.ID{9}, Name: "Ada", Roles: []operator.Role{operator.Auditor}},
				operator.Session{ID: bursar.ID{8}}, nil
		}
		first := read[actsAnswer](o, "/operator/audit?limit=2")
		if len(first.Acts) != 2 || first.Acts[0].Number != 3 || first.Next != "2" || first.Head.Number != 3 ||
			first.Head.Hash != first.Acts[0].Hash {
			o.T.Errorf("the first page is %+v, want rows 3 and 2 and the head", first)
		}
		rest := read[actsAnswer](o, "/operator/audit?limit=2&before="+first.Next)
		if len(rest.Acts) != 1 || rest.Acts[0].Number != 1 || rest.Next != "" {
			o.T.Errorf("the next page is %+v, want row 1 and the end", rest)
		}
		if by := read[actsAnswer](o, "/operator/audit?actor=Bob"); len(by.Acts) != 1 || by.Acts[0].Number != 2 {
			o.T.Errorf("Bob's acts are %+v, want row 2", by.Acts)
		}
		copied := read[actsAnswer](o, "/operator/audit?after=0")
		for i, a := range copied.Acts {
			if a.Number != int64(i)+1 || i > 0 && a.Previous != copied.Acts[i-1].Hash {
				o.T.Errorf("row %d of the copy is %+v, want it behind the one before", i, a)
			}
		}
		verdict := read[auditVerdict](o, "/operator/audit/verify?hash="+rest.Acts[0].Hash)
		if !verdict.Valid || verdict.Rows != 3 || verdict.Next != "" || verdict.Holds == nil || !*verdict.Holds {
			o.T.Errorf("the verdict is %+v, want 3 valid rows that hold the hash", verdict)
		}
		if v := read[auditVerdict](o, "/operator/audit/verify?after=2&hash="+strings.Repeat("0", 64)); v.Holds == nil ||
			*v.Holds || v.Rows != 3 {
			o.T.Errorf("of an unknown hash it is %+v, want that it is not there", v)
		}
		for path, want := range map[string]int{"/operator/audit?limit=0": 422, "/operator/audit?after=1&actor=Bob": 422,
			"/operator/audit?before=x": 422, "/operator/audit/verify?after=-1": 422,
			"/operator/audit/verify?hash=12": 422} {
			if w := got(o.T, o.console, "/admin/v1"+path); w.Code != want {
				o.T.Errorf("%s answers %d, want %d", path, w.Code, want)
			}
		}
		o.console.who = func(*http.Request) (operator.Person, operator.Session, error) {
			return operator.Person{ID: bursar.ID{9}, Name: "Ada", Roles: []operator.Role{operator.Viewer}},
				operator.Session{}, nil
		}
		if w := got(o.T, o.console, "/admin/v1/operator/audit"); w.Code != http.StatusForbidden ||
			!strings.Contains(w.Body.String(), "audit.read") {
			o.T.Errorf("a viewer gets %d %s, want 403 that names audit.read", w.Code, w.Body)
		}
	})
}
