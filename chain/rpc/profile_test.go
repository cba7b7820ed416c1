package rpc

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

func TestProfilesAreRecognisedByHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"api.trongrid.io": "trongrid", "nile.trongrid.io": "trongrid", "eth-mainnet.g.alchemy.com": "alchemy",
		"little-blue-sky.solana-mainnet.quiknode.pro": "quicknode", "mainnet.infura.io": "infura", "rpc.ankr.com": "ankr",
		"mainnet.helius-rpc.com": "helius", "s1.ripple.com": "xrpl-public", "S2.Ripple.com": "xrpl-public",
		"xrplcluster.com":             "xrpl-public",
		"api.mainnet-beta.solana.com": "solana-public", "node.example": "", "eviltrongrid.io": "",
		"trongrid.io.evil.example": "", "ripple.com": "",
	} {
		if p, known := profileOf(host); p.Name != want || known != (want != "") {
			t.Errorf("%s: %q, want %q", host, p.Name, want)
		}
	}
	for _, p := range Profiles() {
		if p.Source == "" || len(p.Hosts) == 0 || p.Quota.PerSecond <= 0 {
			t.Errorf("profile %+v is not complete", p)
		}
	}
}

func TestSettingsWinOverProfiles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"by host":      {Config{}, "helius {0 0 10} 10"},
		"named":        {Config{Provider: "helius"}, "helius {10 0 10} 0"},
		"another":      {Config{Provider: "trongrid"}, "trongrid {15 100000 0} 0"},
		"none":         {Config{Provider: NoProvider}, " {0 0 0} 0"},
		"set":          {Config{Quota: Quota{PerSecond: 50, PerDay: 7, Batch: 100}}, "helius {50 7 100} 0"},
		"set to none":  {Config{Provider: "trongrid", Quota: Quota{PerSecond: -1, PerDay: -1}}, "trongrid {0 0 0} 0"},
		"none but set": {Config{Provider: NoProvider, Quota: Quota{PerSecond: 5}}, " {5 0 0} 0"},
	} {
		provider, always, paced, err := tc.cfg.plan("mainnet.helius-rpc.com")
		if got := fmt.Sprintf("%s %v %d", provider, always, paced); err != nil || got != tc.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tc.want)
		}
	}
	_, err := New(Config{URLs: []string{"http://a.example"}, Provider: "nobody"})
	if err == nil || !strings.Contains(err.Error(), `unknown provider "nobody": use one of alchemy,`) {
		t.Errorf("error %v, want an error and %q in it", err, `unknown provider "nobody": use one of alchemy,`)
	}
}

// A provider that is recognised by its host is asked at full speed until it says that the calls are too many: most
// customers have more than the smallest plan.
func TestAProfilesPaceAppliesAfterTooManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := false
		k := &counter{}
		k.limit = func() *http.Response {
			if len(k.times) > 100 && !limited {
				limited = true
				r, _ := status(429)(nil)
				return r
			}
			return nil
		}
		c := newClient(t, Config{URLs: []string{"http://mainnet.helius-rpc.com"}, HTTP: k})
		for range 100 {
			if err := c.Call(t.Context(), "m", nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if took := k.times[99]; took > time.Second {
			t.Errorf("100 calls took %v before anybody said too many, want at most %v", took, time.Second)
		}
		mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "429")
		pollUntil(t, c)
		k.times = nil
		for range 100 {
			if err := c.Call(t.Context(), "m", nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if most := k.most(time.Second); most > 10 {
			t.Errorf("%d calls in a second after it said too many, want at most 10", most)
		}
		<-time.After(paceMemory)
		k.times = nil
		for range 100 {
			if err := c.Call(t.Context(), "m", nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if most := k.most(time.Second); most < 100 {
			t.Errorf("%d calls in a second ten minutes later, want at least 100", most)
		}
	})
}

// A node that is behind or starts says nothing of how often it may be asked.
func TestANodeThatStartsOrIsBehindIsNotPaced(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{"Node is behind by 42 slots": false, "limit exceeded": true,
		"Loading block index…": false, "Too many requests": true} {
		if got := speaksOfLimits(&Error{Code: -32005, Message: message}); got != want {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
}

// A check does not wait behind the calls that wait for it.
func TestACheckDoesNotWaitForAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Config{URLs: []string{"http://a.example"}, HTTP: &counter{}, Quota: Quota{PerSecond: 1},
			Check: checkByCall})
		mustNotFail := func() {
			if err := c.Call(t.Context(), "m", nil, nil); err != nil {
				t.Error(err)
			}
		}
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(mustNotFail)
		}
		synctest.Wait()
		start := time.Now()
		if _, err := c.verify(t.Context(), c.pool.endpoints[0], time.Now().Add(1)); err != nil ||
			time.Since(start) > time.Second {
			t.Errorf("the check took %v: %v, want at most %v", time.Since(start), err, time.Second)
		}
		wg.Wait()
	})
}

// TronGrid says in words that the calls are too many, and how long it does not answer.
func TestTronGridsSuspensionIsObeyed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{403, 503} {
		clk := clocktest.New()
		n := startNode(t,
			raw(code, `{"Error": "The key exceeds the frequency limit(30), and the query server is suspended for 30s"}`))
		c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now})
		mustBeUnavailable(t, c.Get(t.Context(), "/wallet/getnowblock", nil), "too many requests")
		if pause := c.Stats()[0].PausedTill.Sub(clk.Now()); pause < 30*time.Second || pause > 34*time.Second {
			t.Errorf("%d: pause %v, want at least %v and at most %v", code, pause, 30*time.Second, 34*time.Second)
		}
	}
}
