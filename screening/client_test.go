package screening_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/screening"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func TestTheServiceIsAsked(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q screening.Question
		err := json.NewDecoder(r.Body).Decode(&q)
		user, password, _ := r.BasicAuth()
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
			user != "me" || password != "hunter2" {
			t.Errorf("asked by %s of %q as %s: %v, want POST of JSON as me", r.Method, r.Header.Get("Content-Type"), user, err)
		}
		_ = json.NewEncoder(w).Encode(screening.Reply{Text: q.Text + "!", Signature: "s"})
	})
	url := strings.Replace(server.URL, "http://", "http://me:hunter2@", 1)
	got, err := screening.NewClient(url, time.Minute, loopback).Ask(t.Context(), "a\nb")
	if want := (screening.Reply{Text: "a\nb!", Signature: "s"}); err != nil || got != want {
		t.Errorf("the reply is %+v, %v, want %+v", got, err, want)
	}
}

// What the worst service does is an error, within bounds, and the error does not name the URL.
func TestTheWorstService(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	defer close(over) // before the servers are closed, which wait for their handlers
	reply := `{"text":"a","signature":"b"}`
	for name, handler := range map[string]http.HandlerFunc{
		"fails": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, reply, http.StatusInternalServerError) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		},
		"garbage": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"two":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, reply+reply) },
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"text":"`+strings.Repeat("a", 1<<20)+`","signature":"b"}`)
		},
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-over:
			}
		},
		"hangs in its body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, reply[:5])
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-over:
			}
		},
	} {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/other" {
				t.Errorf("%s: the redirect was followed, want not %q", name, "/other")
			}
			_, _ = io.Copy(io.Discard, r.Body)
			handler(w, r)
		})
		within := time.Minute
		if strings.HasPrefix(name, "hangs") {
			within = 20 * time.Millisecond // it never replies, so that no time is too short
		}
		got, err := screening.NewClient(server.URL+"/?key=hunter2", within, loopback).Ask(t.Context(), "a")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the reply is %+v, %v; want an error without the URL", name, got, err)
		}
	}
}

func TestAPrivateAddressMustBeAllowed(t *testing.T) {
	t.Parallel()
	server := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	_, err := screening.NewClient(server.URL, time.Minute, nil).Ask(t.Context(), "a")
	if err == nil || !strings.Contains(err.Error(), "allow_networks") {
		t.Errorf("the error is %v, want one that names allow_networks", err)
	}
}
