package rpc

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// visits is a node that notes the paths it is asked, with the user and the key that came along.
type visits struct {
	*node
	seen []string
}

func startVisits(t *testing.T) *visits {
	v := &visits{}
	v.node = startNode(t, func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		v.seen = append(v.seen, fmt.Sprintf("%s %s %s", r.RequestURI, user, r.Header.Get("X-Api-Key")))
		fmt.Fprint(w, "1")
	})
	return v
}

func TestABranchIsServedAtItsOwnAddress(t *testing.T) {
	t.Parallel()
	full, solid := startVisits(t), startVisits(t)
	c := newClient(t, Config{URLs: []string{strings.Replace(full.URL, "http://", "http://alice:x@", 1)},
		Branches: map[string][]string{"/solid": {strings.Replace(solid.URL, "http://", "http://bob:y@", 1) + "/below?k=1"}},
		Headers:  map[string]string{"x-api-key": "12"}})
	for _, path := range []string{"/full/a", "/solid/b", "/solid?c=2", "/solidity/d", "/"} {
		var out int
		if err := c.Post(t.Context(), path, 1, &out); err != nil || out != 1 {
			t.Fatalf("%s: %d, %v, want 1", path, out, err)
		}
	}
	if want := []string{"/full/a alice 12", "/solidity/d alice 12", "/ alice 12"}; !slices.Equal(full.seen, want) {
		t.Errorf("the URL was asked %q, want %q", full.seen, want)
	}
	if want := []string{"/below/solid/b?k=1 bob 12", "/below/solid?k=1&c=2 bob 12"}; !slices.Equal(solid.seen, want) {
		t.Errorf("the branch was asked %q, want %q", solid.seen, want)
	}
}

// A node whose branch is away is away: half of it would answer half of the questions.
func TestABranchThatIsDownPutsItsEndpointIntoACoolDown(t *testing.T) {
	t.Parallel()
	full, solid, second := startVisits(t), startVisits(t), startVisits(t)
	c := newClient(t, Config{URLs: []string{full.URL, second.URL},
		Branches: map[string][]string{"/solid": {solid.URL, ""}}})
	solid.Close()
	for range 2 {
		var out int
		if err := c.Get(t.Context(), "/solid/a", &out); err != nil {
			t.Fatal(err)
		}
	}
	var out int
	if err := c.Get(t.Context(), "/full/b", &out); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/solid/a  ", "/solid/a  ", "/full/b  "}; !slices.Equal(second.seen, want) || len(full.seen) != 0 {
		t.Errorf("the second was asked %q, the first %q, want %+v and none", second.seen, full.seen, want)
	}
}

func TestInvalidBranchesAndHeadersAreRefused(t *testing.T) {
	t.Parallel()
	urls := []string{"http://127.0.0.1:1"}
	for name, cfg := range map[string]Config{
		"too few":          {URLs: urls, Branches: map[string][]string{"/a": {}}},
		"too many":         {URLs: urls, Branches: map[string][]string{"/a": {"", ""}}},
		"no slash":         {URLs: urls, Branches: map[string][]string{"a": {""}}},
		"two parts":        {URLs: urls, Branches: map[string][]string{"/a/b": {""}}},
		"no URL":           {URLs: urls, Branches: map[string][]string{"/a": {"nonsense"}}},
		"own header":       {URLs: urls, Headers: map[string]string{"authorization": "x"}},
		"length":           {URLs: urls, Headers: map[string]string{"Content-Length": "1"}},
		"no value":         {URLs: urls, Headers: map[string]string{"X-Key": ""}},
		"a line break":     {URLs: urls, Headers: map[string]string{"X-Key": "a\r\nX-Other: b"}},
		"a name of spaces": {URLs: urls, Headers: map[string]string{"X Key": "a"}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s is taken, want an error", name)
		}
	}
}
