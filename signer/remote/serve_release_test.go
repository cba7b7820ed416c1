package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/remote"
)

// otherRelease is a signer whose release has another version of the protocol. Every release answers as this one does:
// hello with its version, everything else with 400 unless the request names the same one (server.sameVersion).
func otherRelease(version int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/hello" {
			_ = json.NewEncoder(w).Encode(map[string]int{"version": version}) // the test sees it if this fails
			return
		}
		http.Error(w, fmt.Sprintf("the signer speaks version %d of the protocol: run the same release of both", version),
			http.StatusBadRequest)
	})
}

// During an upgrade a service meets a signer of another release, an older or a newer one. Nothing is signed and nothing
// is refused for good: the outcome is that of a signer that does not answer, so that payments wait. Once a signer of
// the service's own release listens there, the same service signs again, without a start of its own.
func TestAServiceAndASignerOfDifferentReleases(t *testing.T) {
	t.Parallel()
	for _, version := range []int{remote.Version - 1, remote.Version + 1} {
		t.Run(fmt.Sprintf("a signer of version %d", version), func(t *testing.T) {
			t.Parallel()
			b, at := newHarness(t), socket(t)
			listener, err := at.Listen(t.Context())
			b.must(err)
			other := &httptest.Server{Listener: listener, Config: &http.Server{Handler: otherRelease(version)}}
			other.Start()
			c := b.dial(at)
			want := fmt.Sprintf("version %d of the protocol", version)
			if _, err := c.Hello(t.Context()); err == nil || errors.Is(err, remote.ErrUnavailable) ||
				!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "run the same release of both") {
				t.Errorf("hello: %v, want an end with %q, since no waiting helps", err, want)
			}
			_, err = c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
			if !errors.Is(err, remote.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("sign: %v, want %v with %q", err, remote.ErrUnavailable, want)
			}
			if _, err := c.Publics(t.Context(), chain.FamilySolana, 0, 1); !errors.Is(err, remote.ErrUnavailable) {
				t.Errorf("keys: %v, want %v", err, remote.ErrUnavailable)
			}
			other.Close()
			stop := b.serve(at)
			defer stop()
			if _, err := c.Hello(t.Context()); err != nil {
				t.Errorf("the signer of its own release: %v, want no error", err)
			}
			if signed, err := c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned); err != nil || len(signed.Raw) == 0 {
				t.Errorf("the signer of its own release signs %x, %v, want a transaction", signed.Raw, err)
			}
		})
	}
}
