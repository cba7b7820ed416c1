package pay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/pay"
	"github.com/bursar/bursar/pay/paytest"
)

var started = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

var client = netip.MustParsePrefix("192.0.2.1/32")

// harness is the page over charges in memory.
type harness struct {
	testing.TB
	*paytest.Book
	handler *pay.Handler
}

func newHarness(t testing.TB, change ...func(*pay.Config)) *harness {
	t.Helper()
	book := paytest.New(func() time.Time { return started })
	c := book.Config()
	for _, f := range change {
		f(&c)
	}
	h, err := pay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return &harness{t, book, h}
}

// ServeHTTP serves the pages as to one client.
func (h *harness) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.Serve(w, r, client) }

// ask sends a request and returns what came back.
func (h *harness) ask(method, path string, header ...string) (*http.Response, string) {
	h.Helper()
	r := httptest.NewRequestWithContext(h.Context(), method, "http://pay.example"+path, http.NoBody)
	return h.send(r, header)
}

// post sends a form.
func (h *harness) post(path string, form url.Values, header ...string) (*http.Response, string) {
	h.Helper()
	r := httptest.NewRequestWithContext(h.Context(), http.MethodPost, "http://pay.example"+path,
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return h.send(r, header)
}

func (h *harness) send(r *http.Request, header []string) (*http.Response, string) {
	h.Helper()
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer := w.Result()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		h.Fatal(err)
	}
	return answer, string(body)
}

// path is that of a charge's page.
func (h *harness) path(name string) string { return "/pay/" + h.Token(name).String() }
