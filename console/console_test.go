package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// opened returns a console over a database, in which somebody with roles has signed in.
func opened(t *testing.T, db *store.DB, roles ...operator.Role) *Console {
	t.Helper()
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	ids := bursar.NewIDs(db.Now, nil)
	people, err := operator.NewService(operator.Config{DB: db, IDs: ids, URL: "http://localhost:8081"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{DB: db, Registry: registry, IDs: ids, People: people, Sheets: sheets(db, registry)})
	if err != nil {
		t.Fatal(err)
	}
	c.who = func(*http.Request) (operator.Person, operator.Session, error) {
		if len(roles) == 0 {
			return operator.Person{}, operator.Session{}, operator.ErrSignedOut
		}
		return operator.Person{ID: bursar.ID{9}, Name: "Ada", Roles: roles}, operator.Session{ID: bursar.ID{8}}, nil
	}
	return c
}

// got returns the answer to a GET.
func got(t *testing.T, c *Console, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// posted returns the answer to a form that the console's own page sent.
func posted(t *testing.T, c *Console, path, form string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

func TestNobodySeesAPageBeforeSigningIn(t *testing.T) {
	t.Parallel()
	c := opened(t, storetest.Open(t, storetest.Reused(t)))
	for _, p := range c.pages() {
		path := base + strings.NewReplacer("{", "", "}", "").Replace(p.path)
		w := got(t, c, path)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != base+"/sign-in" {
			t.Errorf("%s answers %d and goes to %q, want the page to sign in", path, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestHello(t *testing.T) {
	t.Parallel()
	c := opened(t, storetest.Open(t, storetest.Reused(t)), operator.Viewer)
	if w := got(t, c, "/console/"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<h1>Home</h1>") {
		t.Errorf("the first page answers %d: %s, want %v and %q in it", w.Code, w.Body, http.StatusOK, "<h1>Home</h1>")
	}
}
