package rpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	testPassword = "hunter2+/=x"
	testPathKey  = "0123456789abcdef"
	testQueryKey = "q-secret-q"
	testHeader   = "h-secret-h"
)

// hidden are all forms in which a credential of the test URL could be printed.
func hidden() []string {
	return []string{"hunter2", testPathKey, testQueryKey, testHeader,
		base64.StdEncoding.EncodeToString([]byte("alice:" + testPassword))}
}

func secretURL(n *node) string {
	return strings.Replace(n.URL, "http://", "http://alice:hunter2%2B%2F%3Dx@", 1) + "/v3/" + testPathKey + "?apikey=" +
		testQueryKey
}

// leakedIn is a node that repeats all it was sent.
func leakedIn(status int, form string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		w.Header().Set("Location", "http://"+password+"@other/"+testPathKey)
		received := fmt.Sprintf("%s %s %s %s alice:hunter2%%2B%%2F%%3Dx@", r.Header.Get("Authorization"), password,
			r.Header.Get("X-Key"), r.RequestURI)
		rpcHandler(func(w http.ResponseWriter, calls []asked) {
			w.WriteHeader(status)
			io.WriteString(w, strings.NewReplacer("ID", calls[0].ID.String(), "RECEIVED", received).Replace(form))
		})(w, r)
	}
}

// TestNoCredentialIsPrinted searches every error, log line, String and statistic for the credentials.
func TestNoCredentialIsPrinted(t *testing.T) {
	t.Parallel()
	handlers := map[string]http.HandlerFunc{
		"excerpt":         leakedIn(503, "RECEIVED"),
		"unauthorized":    leakedIn(401, "RECEIVED"),
		"redirect":        leakedIn(302, "RECEIVED"),
		"html":            leakedIn(200, "<html>RECEIVED"),
		"error object":    leakedIn(200, `{"id":ID,"error":{"code":-1,"message":"RECEIVED","data":"RECEIVED"}}`),
		"retryable error": leakedIn(200, `{"id":ID,"error":{"code":429,"message":"RECEIVED"}}`),
		"wrong shape":     leakedIn(200, `{"id":ID,"result":{"RECEIVED":1}}`),
		"duplicate":       leakedIn(200, `{"id":ID,"RECEIVED":1,"RECEIVED":2}`),
		"syntax":          leakedIn(200, `{"id":ID,"RECEIVED`),
		"rest error":      leakedIn(400, `{"error":"RECEIVED"}`),
		"silent":          hang,
	}
	for _, f := range faults {
		handlers["fault: "+f.name] = f.h
	}
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, h)
			seen := logAll(t, Config{URLs: []string{secretURL(n)},
				Branches: map[string][]string{"/x": {secretURL(n) + "&branch=1"}},
				Headers:  map[string]string{"X-Key": testHeader}, Timeout: 100 * time.Millisecond, MaxBody: testBody}, n)
			for _, secret := range hidden() {
				if i := strings.Index(seen, secret); i >= 0 {
					t.Errorf("%q is shown: %s, want it left out", secret, seen[max(0, i-200):min(len(seen), i+100)])
				}
			}
		})
	}
}

// logAll makes a client do all it can do, and returns all it says.
func logAll(t *testing.T, cfg Config, n *node) string {
	t.Helper()
	var seen, log bytes.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg.MinPause, cfg.MaxPause = time.Nanosecond, time.Nanosecond
	c := newClient(t, cfg)
	show := func(what ...any) {
		for _, w := range what {
			fmt.Fprintf(&seen, "%v %+v %#v %s\n", w, w, w, w)
			cfg.Log.Info("seen", "what", w)
			slog.New(slog.NewJSONHandler(&log, nil)).Info("seen", "what", w)
			var e *Error
			if err, ok := w.(error); ok && errors.As(err, &e) {
				fmt.Fprintf(&seen, "%s %s\n", e.Message, e.Data)
			}
		}
	}
	var out int
	ctx := t.Context()
	s, err := c.Pin(ctx)
	show(cfg, c, err, c.Call(ctx, "m", nil, &out), c.Get(ctx, "/x", &out), c.Post(ctx, "/x", 1, &out))
	requests, _ := numbers(2)
	show(c.Batch(ctx, requests), requests[0].Err)
	if s != nil {
		show(s, s.Call(ctx, "m", nil, &out), s.Fail(errors.New(secretURL(n))))
	}
	show(c.Survey(ctx, func(context.Context, *Session) (uint64, error) { return 0, errors.New(testPassword) }))
	n.Close()
	show(c.Call(ctx, "m", nil, &out), c.Stats())
	cfg.Check = func(context.Context, *Session) error { return &WrongChainError{Serves: testPassword, Configured: "1"} }
	wrong := newClient(t, cfg)
	show(wrong.Call(ctx, "m", nil, nil), wrong.Call(ctx, "m", nil, nil))
	return seen.String() + log.String()
}

// What a node says remains readable when the password is a common word.
func TestShortPasswordsDoNotChangeAnswers(t *testing.T) {
	t.Parallel()
	n := startNode(t, says(200, `{"id":ID,"error":{"code":-27,"message":"transaction already known"}}`))
	c := newClient(t, Config{URLs: []string{strings.Replace(n.URL, "http://", "http://rpc:known@", 1)}})
	var answer *Error
	if err := c.Call(t.Context(), "m", nil, nil); !errors.As(err, &answer) ||
		answer.Message != "transaction already known" {
		t.Errorf("error %v", err)
	}
}

func TestInvalidURLsAreRefusedWithoutTheirCredentials(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ url, text string }{
		"unencoded slash in the password":  {"http://alice:hunter2/x@127.0.0.1:8332", "URL 2 of 2: is not a URL"},
		"number and slash in the password": {"http://alice:12/hunter2@127.0.0.1:8332", "has an unencoded @"},
		"question mark in the password":    {"http://alice:12?hunter2@127.0.0.1:8332", "has an unencoded @"},
		"hash in the password":             {"http://alice:12#hunter2@127.0.0.1:8332", "has an unencoded @ or #"},
		"percent in the password":          {"http://alice:hunter2%zz@127.0.0.1:8332", "is not a URL"},
		"no scheme":                        {"alice:hunter2@127.0.0.1:8332", "URL 2 of 2: "},
		"other scheme":                     {"ftp://alice:hunter2@127.0.0.1", "must begin with http"},
		"websocket":                        {"wss://node.example/hunter2", "must begin with http"},
		"no host":                          {"http://alice:hunter2@/x", "has no host"},
		"port alone":                       {"http://:8332/hunter2", "has no host"},
		"empty":                            {"", "must begin with http"},
		"control character":                {"http://alice:hunter2\n@127.0.0.1", "is not a URL"},
		"twice":                            {"http://ok.example", "http://ok.example is configured twice"},
	} {
		_, err := New(Config{URLs: []string{"http://ok.example", tc.url}})
		if err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: error %v, want %q", name, err, tc.text)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "alice") {
			t.Errorf("%s: error %v shows a credential, want no %q and no %q", name, err, "hunter2", "alice")
		}
	}
}

func TestInvalidConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	one := []string{"http://a.example"}
	for name, cfg := range map[string]Config{
		"no URL":         {},
		"too many":       {URLs: make([]string, 17)},
		"version":        {URLs: one, Version: "3.0"},
		"timeout":        {URLs: one, Timeout: -1},
		"body":           {URLs: one, MaxBody: -1},
		"immense body":   {URLs: one, MaxBody: 1 << 62},
		"pause":          {URLs: one, MinPause: time.Minute, MaxPause: time.Second},
		"endless pause":  {URLs: one, MaxPause: 2 * time.Hour},
		"negative batch": {URLs: one, MaxBatch: -1},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted, want an error", name)
		}
	}
}

func TestEndpointNames(t *testing.T) {
	t.Parallel()
	c := newClient(t, Config{URLs: []string{"https://u:p@a.example:8545/", "https://a.example:8545/v3/k1",
		"https://a.example:8545/v3/k2", "http://[::1]:80"}})
	want := "rpc client of https://a.example:8545, https://a.example:8545/…, https://a.example:8545/…#2, http://[::1]:80"
	if c.String() != want {
		t.Errorf("%s, want %s", c, want)
	}
}
