package e2e

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/patroni"
)

// TestADatabaseThatHangs freezes PostgreSQL under load: it accepts requests and answers none. The service says so,
// loses nothing, and continues by itself, in the same process, once the database answers again.
func TestADatabaseThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PostgreSQL: left out by -short")
	}
	t.Parallel()
	s, err := patroni.NewServer(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := newSeparateService(t, build(t), s.URL(), fewChains)
	l := w.load(1)
	w.loaded(l, 1)
	s.Pause()
	w.eventually("the service is not ready", func() error {
		answer, err := httpClient.Get(w.sandbox.API + "/readyz")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return errors.New("the service is still ready")
		}
		return nil
	})
	w.eventually("the service logs the reason", func() error {
		if text := w.server.log.String(); !strings.Contains(text, "the database does not answer") {
			return errors.New("the service does not log it")
		}
		return nil
	})
	s.Resume()
	began := time.Now()
	w.ready()
	w.t.Logf("ready %v after the database answers again", time.Since(began).Round(time.Millisecond))
	w.loaded(l, 2)
	l.end()
	w.audit()
	if err := w.server.stop(); err != nil {
		t.Fatal(err)
	}
	w.endCleanly()
}
