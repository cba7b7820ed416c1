package tlsfile_test

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/tlsfile"
	"github.com/bursar/bursar/tlsfile/tlstest"
)

// A renewal may give a file to the service only after it has written it, which changes neither its time nor its size.
// Anyone who runs this test may read every file, so that the content changes in place of the right to read it.
func TestFilesThatCouldNotBeReadAreReadOnceTheyCan(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	ours.Issue("api")
	source, address := serve(t, of(ours, ""))
	before := serial(t, address, ours.Client(""))
	ours.Issue("api")
	key, err := os.ReadFile(ours.Path("api.key"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Minute)
	write := func(content []byte) {
		t.Helper()
		err := errors.Join(os.WriteFile(ours.Path("api.key"), content, 0o600), os.Chtimes(ours.Path("api.key"), at, at))
		if err != nil {
			t.Fatal(err)
		}
	}
	write(make([]byte, len(key)))
	if got := serial(t, address, ours.Client("")); got != before || source.State().Failing == nil {
		t.Errorf("with a key that cannot be read: %q and %v, want %q and an error", got, source.State().Failing, before)
	}
	write(key)
	if got := serial(t, address, ours.Client("")); got == "" || got == before || source.State().Failing != nil {
		t.Errorf("once it can be read: %q and %v, want the renewed certificate", got, source.State().Failing)
	}
}

// A file that was away for a moment, as with its volume, and is back as it was leaves no alarm behind.
func TestAFileThatIsBackFailsNoMore(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	ours.Issue("api")
	source, _ := serve(t, of(ours, ""))
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(ours.Path(from), ours.Path(to)); err != nil {
			t.Fatal(err)
		}
	}
	move("api.key", "away")
	if source.State().Failing == nil {
		t.Error("without its key the state tells of no failure")
	}
	move("away", "api.key")
	if failing := source.State().Failing; failing != nil {
		t.Errorf("once it is back the state is %v, want no failure", failing)
	}
}

// Who is let in with a certificate of the former authority does not stay by keeping its connection open.
func TestAConnectionOfAFormerAuthorityEnds(t *testing.T) {
	t.Parallel()
	ours, next := tlstest.New(t), tlstest.New(t)
	for _, name := range []string{"api", "client"} {
		ours.Issue(name)
	}
	source, err := tlsfile.Open(of(ours, ours.Path("ca.pem")), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(source.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})))
	server.Listener = tls.NewListener(server.Listener, source.Config())
	server.Start()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: ours.Client("client")}}
	t.Cleanup(client.CloseIdleConnections)
	ask := func() (status int, again bool) {
		t.Helper()
		trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { again = got.Reused }}
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet,
			strings.Replace(server.URL, "http:", "https:", 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			return 0, again
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, again
	}
	for i := range 2 {
		if status, again := ask(); status != http.StatusNoContent || again != (i > 0) {
			t.Fatalf("request %d: %d, on the former connection: %t; want 204 and %t", i+1, status, again, i > 0)
		}
	}
	authority, err := os.ReadFile(next.Path("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ours.Path("ca.pem"), authority, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, again := ask(); status != http.StatusForbidden || !again {
		t.Errorf("after the authority was replaced: %d, on the former connection: %t; want 403 and true", status, again)
	}
	if status, again := ask(); status != 0 || again {
		t.Errorf("and then: %d, on the former connection: %t; want no answer over a new one", status, again)
	}
}
