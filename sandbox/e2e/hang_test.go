package e2e

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/patroni"
)

// PostgreSQL hangs under load: it takes what it is asked and answers nothing. The service says so, loses nothing, and
// goes on by itself, in the same process, once the database does.
func TestADatabaseThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	s, err := patroni.NewServer(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := newRemoteSigner(t, build(t), s.URL())
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
			return errors.New("it says that it is")
		}
		return nil
	})
	w.eventually("the service says why", func() error {
		if text := w.server.log.String(); !strings.Contains(text, "the database does not answer") {
			return errors.New("it does not")
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
