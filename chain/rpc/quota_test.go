package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

// counter notes when how many calls came, and answers each.
type counter struct {
	mu    sync.Mutex
	times []time.Duration
	start time.Time
	limit func() *http.Response // nil: answers
}

func (k *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.start.IsZero() {
		k.start = time.Now()
	}
	calls := strings.Count(string(body), `"method"`)
	for range calls {
		k.times = append(k.times, time.Since(k.start))
	}
	if k.limit != nil {
		if r := k.limit(); r != nil {
			return r, nil
		}
	}
	if body[0] != '[' {
		return answerTo(body, `1`), nil
	}
	var answers []string
	for part := range strings.SplitSeq(string(body[1:]), `"jsonrpc"`) {
		if id := idOf([]byte(part)); id != "" {
			answers = append(answers, `{"id":`+id+`,"result":1}`)
		}
	}
	return response("["+strings.Join(answers, ",")+"]", false), nil
}

// most is the largest number of calls within any span of that length.
func (k *counter) most(span time.Duration) int {
	most, from := 0, 0
	for to, at := range k.times {
		for at-k.times[from] >= span {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

func TestAQuotaPerSecondIsKept(t *testing.T) {
	for _, perSecond := range []int{2, 3, 10, 25} {
		synctest.Test(t, func(t *testing.T) {
			k := &counter{}
			c := newClient(t, Config{URLs: []string{"http://a.example"}, HTTP: k, Quota: Quota{PerSecond: perSecond}})
			start := time.Now()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 10 * perSecond / 8 {
						if err := c.Call(t.Context(), "m", nil, nil); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if most := k.most(time.Second); most > perSecond {
				t.Errorf("%d calls in a second, %d are allowed", most, perSecond)
			}
			if took := time.Since(start); took > 25*time.Second {
				t.Errorf("%d calls at %d a second took %v, want at most %v", len(k.times), perSecond, took, 25*time.Second)
			}
		})
	}
}

// Every call of a batch counts, as providers count them.
func TestABatchCountsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &counter{}
		c := newClient(t, Config{URLs: []string{"http://a.example"}, HTTP: k, Quota: Quota{PerSecond: 10, Batch: 5}})
		for range 10 {
			requests, _ := numbers(10)
			if err := c.Batch(t.Context(), requests); err != nil {
				t.Fatal(err)
			}
		}
		if most := k.most(time.Second); most > 13 { // a batch comes at once
			t.Errorf("%d calls in a second, want at most 13", most)
		}
		if took := k.times[len(k.times)-1]; took < 9*time.Second || took > 16*time.Second {
			t.Errorf("100 calls took %v, want at least %v and at most %v", took, 9*time.Second, 16*time.Second)
		}
	})
}

func TestWaitingForAQuotaEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Config{URLs: []string{"http://a.example"}, HTTP: &counter{}, Quota: Quota{PerSecond: 1}})
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		var err error
		for range 5 {
			if err = c.Call(ctx, "m", nil, nil); err != nil {
				break
			}
		}
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		wantState(t, c, 0, StateUp)
	})
}

func TestADaysQuotaIsSpreadAndNeverExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &counter{}
		c := newClient(t, Config{URLs: []string{"http://a.example"}, HTTP: k, Quota: Quota{PerDay: 20_000}})
		refused, longest, last := 0, time.Duration(0), time.Now()
		for start := time.Now(); time.Since(start) < 36*time.Hour; {
			if err := c.Call(t.Context(), "m", nil, nil); err == nil {
				longest, last = max(longest, time.Since(last)), time.Now()
			} else {
				mustBeUnavailable(t, err, "the quota of 20000 calls a day is used up: raise quota.per_day")
				refused++
			}
			<-time.After(2 * time.Second)
		}
		if most := k.most(24 * time.Hour); most > 20_000 || most < 19_000 {
			t.Errorf("%d calls in 24 hours, want at most 20_000 and at least 19_000", most)
		}
		if refused == 0 || longest > 2*time.Minute {
			t.Errorf("refused %d times, longest pause %v, want not 0 and at most %v", refused, longest, 2*time.Minute)
		}
		if s := c.Stats()[0]; s.QuotaUsed < 90 || s.Quota.PerDay != 20_000 {
			t.Errorf("stats %+v, want at least 90 and 20_000", s)
		}
	})
}

func TestAnotherEndpointTakesOverWhenADayIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := map[string]int{}
		var mu sync.Mutex
		count := func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			served[r.URL.Host]++
			return sound(r)
		}
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"}, Quota: Quota{PerDay: 1000},
			HTTP: fakeHosts{"a.example": count, "b.example": count}})
		start := time.Now()
		for range 190 {
			began := time.Now()
			if err := c.Call(t.Context(), "m", nil, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > dayPatience {
				t.Fatalf("a call waited %v, want at most %v", took, dayPatience)
			}
		}
		if served["a.example"] < 90 || served["b.example"] < 80 || time.Since(start) > time.Minute {
			t.Errorf("served %v in %v, want at least 90 and at least 80 and at most %v", served, time.Since(start), time.Minute)
		}
	})
}

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
