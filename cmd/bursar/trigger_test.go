package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A profile of a real service is in use, and a sandbox listens on this machine, or what calls itself one: nothing is
// made at that service, and its key goes nowhere.
func TestNothingIsTriggeredAtAnotherService(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	urls, keys := services(t)
	var asked []string
	sandbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		_, _ = w.Write([]byte(`{"url":"` + urls[1] + `"}`)) // a client that has gone fails its own test
	}))
	t.Cleanup(sandbox.Close)
	if o := d.run("bk_live\nbs_live\n", "profile", "add", "live", "--api", urls[0]); o.code != 0 {
		t.Fatalf("profile add exits with %d: %s, want 0", o.code, o.err)
	}
	d.fails(exitUsage, "is of "+urls[1], "trigger", "deposit", "--profile", "live", "--control", sandbox.URL)
	if len(asked) != 1 || asked[0] != "GET /api/url" {
		t.Errorf("the sandbox was asked %v, want for its service alone", asked)
	}
	if keys[0] != "" || keys[1] != "" {
		t.Errorf("keys were sent: %v, want none", keys)
	}
}

func TestSameServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		one, two string
		want     bool
	}{
		{"http://127.0.0.1:8080", "http://localhost:8080/", true},
		{"http://127.0.0.1:8080", "http://[::1]:8080", true},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8081", false},
		{"http://127.0.0.1:8080", "http://example.com:8080", false},
		{"https://example.com", "https://example.com:443/", true},
		{"https://example.com", "http://example.com", false},
		{"", "", false},
	} {
		if got := sameServer(c.one, c.two); got != c.want {
			t.Errorf("%q and %q: got %v, want %v", c.one, c.two, got, c.want)
		}
	}
}
