package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
				t.Errorf("%d calls at %d a second took %v", len(k.times), perSecond, took)
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
			t.Errorf("%d calls in a second", most)
		}
		if took := k.times[len(k.times)-1]; took < 9*time.Second || took > 16*time.Second {
			t.Errorf("100 calls took %v", took)
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
			t.Errorf("%d calls in 24 hours", most)
		}
		if refused == 0 || longest > 2*time.Minute {
			t.Errorf("refused %d times, longest pause %v", refused, longest)
		}
		if s := c.Stats()[0]; s.QuotaUsed < 90 || s.Quota.PerDay != 20_000 {
			t.Errorf("stats %+v", s)
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
				t.Fatalf("a call waited %v", took)
			}
		}
		if served["a.example"] < 90 || served["b.example"] < 80 || time.Since(start) > time.Minute {
			t.Errorf("served %v in %v", served, time.Since(start))
		}
	})
}
