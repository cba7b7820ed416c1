package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// asked logs a request of an account, as a script says.
func (c *script) asked(name string, args []string) {
	c.Helper()
	key, err := bursar.ParseID(c.names[name+".keyID"])
	if err != nil {
		c.fatalf("%v", err)
	}
	r := store.LoggedRequest{ID: c.ids.Next(), At: c.db.Now(), Account: c.id(name), Key: key, Method: args[0],
		Path: args[1], Status: int64(c.number(args[2])), Took: 2500 * time.Microsecond}
	if len(args) > 3 {
		r.Code, r.LeftOut = bursar.ErrorCode(args[3]), 3
	}
	c.names["asked"+args[2]] = r.ID.String()
	c.do(func(tx *store.Tx) error { return tx.RequestLog().Add(c.Context(), []store.LoggedRequest{r}) })
}

// noting keeps what is noted.
type noting struct {
	mu   sync.Mutex
	list []store.LoggedRequest
}

func (n *noting) Note(r store.LoggedRequest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, r)
}

// What is noted of a request is what the service knows of it: whose it was, and nothing that the client wrote.
func TestWhatIsNotedOfARequest(t *testing.T) {
	t.Parallel()
	noted := &noting{}
	s := newHarness(t, storetest.Reused(t), newClock(), func(c *api.Config) { c.Requests = noted })
	mine := s.account(true)
	const secret = "hunter2"
	for _, test := range []struct {
		method, target, key, secret string
		want                        store.LoggedRequest
	}{
		{"GET", "/api/v1/account?x=" + secret, mine.APIKey, "",
			store.LoggedRequest{Path: "/api/v1/account", Status: 200, Account: mine.AccountID, Key: mine.KeyID}},
		{"POST", "/api/v1/wallet?webhook=" + secret, mine.APIKey, "",
			store.LoggedRequest{Path: "/api/v1/wallet", Status: 400, Code: bursar.CodeInvalidRequest,
				Account: mine.AccountID, Key: mine.KeyID}},
		{"POST", "/api/v1/account/withdraw", mine.APIKey, secret,
			store.LoggedRequest{Path: "/api/v1/account/withdraw", Status: 403, Code: bursar.CodeInvalidSecret,
				Account: mine.AccountID, Key: mine.KeyID}},
		{"GET", "/api/v1/account", "bk_" + secret, "",
			store.LoggedRequest{Path: "/api/v1/account", Status: 401, Code: bursar.CodeUnauthorized}},
		{"GET", "/api/v1/" + secret, mine.APIKey, "", store.LoggedRequest{Status: 404, Code: bursar.CodeNotFound}},
		{"GET", "/api/v1/account/requests?status=9", mine.APIKey, "",
			store.LoggedRequest{Path: "/api/v1/account/requests", Status: 400, Code: bursar.CodeInvalidRequest,
				Account: mine.AccountID, Key: mine.KeyID}},
		{secret, "/api/v1/account", mine.APIKey, "",
			store.LoggedRequest{Method: "other", Status: 405, Code: bursar.CodeMethodNotAllowed}},
		{"GET", "/healthz", "", "", store.LoggedRequest{}},
		{"GET", "/" + secret, "", "", store.LoggedRequest{}},
		{"GET", "/api/v1/account/requests", mine.APIKey, "", store.LoggedRequest{}},
	} {
		noted.list = nil
		r, err := http.NewRequestWithContext(t.Context(), test.method, s.base+test.target, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		if test.key != "" {
			r.Header.Set("X-API-KEY", test.key)
		}
		if test.secret != "" {
			r.Header.Set("X-API-SECRET", test.secret)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		noted.mu.Lock()
		got := noted.list
		noted.mu.Unlock()
		if test.want.Status == 0 {
			if len(got) > 0 {
				t.Errorf("of %s %s is noted %+v, want nothing", test.method, test.target, got)
			}
			continue
		}
		want := test.want
		if want.Method == "" {
			want.Method = test.method
		}
		if want.At = s.db.Now(); len(got) != 1 || got[0].ID.String() != response.Header.Get("X-Request-ID") {
			t.Fatalf("of %s %s is noted %+v, want the ID of the response", test.method, test.target, got)
		}
		got[0].ID, got[0].At = bursar.ID{}, want.At
		if got[0] != want {
			t.Errorf("of %s %s is noted %+v, want %+v", test.method, test.target, got[0], want)
		}
	}
}
