package chains

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/fault"
)

// TestEndpointsLeadToOneNodeAndFailAlone checks that the endpoints of one node give the same answers under the node's
// credentials, and that each fails by itself.
func TestEndpointsLeadToOneNodeAndFailAlone(t *testing.T) {
	t.Parallel()
	c, err := Start(t.Context(), bursar.Bitcoin,
		Options{Manual: true, Endpoints: 3, Log: slog.New(slog.DiscardHandler), Mined: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	status := func(e *Endpoint) int {
		answer, err := http.Post(e.URL, "application/json", strings.NewReader(`{"id":1,"method":"getblockcount"}`))
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	hosts := map[string]bool{}
	for _, e := range c.Endpoints {
		if status(e) != http.StatusOK || !strings.Contains(c.Settings, e.URL) {
			t.Errorf("%s answers %d; the settings are %s", e.URL, status(e), c.Settings)
		}
		at, err := url.Parse(e.URL)
		if err != nil {
			t.Fatal(err)
		}
		hosts[at.Hostname()] = true
	}
	if len(c.Endpoints) != 3 || len(hosts) != 2 {
		t.Errorf("%d endpoints at hosts %v, want 3 of them and 2 of them", len(c.Endpoints), hosts)
	}
	if err := c.Endpoints[1].Faults.Set(fault.Down, time.Minute); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{http.StatusOK, 0, http.StatusOK} {
		if got := status(c.Endpoints[i]); got != want {
			t.Errorf("endpoint %d answers %d, want %v", i+1, got, want)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if status(c.Endpoints[2]) != 0 {
		t.Error("an endpoint still answers after its chain is closed")
	}
}
