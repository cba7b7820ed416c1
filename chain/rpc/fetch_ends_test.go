package rpc

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The results end at the first item that failed; an error that is not the first item's is met again by the next read.
func TestFetchEndsAtTheFirstFailure(t *testing.T) {
	for _, bad := range []int{0, 7, 39} {
		synctest.Test(t, func(t *testing.T) {
			f := &farm{latency: map[string]time.Duration{"a.example": 400 * time.Millisecond},
				ill: func(_ string, item int) (*http.Response, error) {
					if item == bad || item == bad+3 {
						return response(`{"id":null,"error":{"code":-32600,"message":"x"}}`, false), nil
					}
					return nil, nil
				}}
			c := farmClient(t, f, Config{})
			got, err := Fetch(t.Context(), pinned(t, c), 40, 0, getItem)
			var answer *Error
			if len(got) != bad || (bad == 0) != errors.As(err, &answer) || bad > 0 && err != nil {
				t.Errorf("item %d is bad: %d items, %v", bad, len(got), err)
			}
			if f.now != 0 {
				t.Errorf("%d are still under way, want 0", f.now)
			}
		})
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &farm{latency: map[string]time.Duration{"a.example": time.Hour}}
		c := farmClient(t, f, Config{Timeout: 2 * time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		got, err := Fetch(ctx, pinned(t, c), 40, 0, getItem)
		if len(got) != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second || f.now != 0 {
			t.Errorf("%d items, %v after %v, %d under way, want none and %v and %v and 0", len(got), err, time.Since(start),
				f.now, context.DeadlineExceeded, time.Second)
		}
		if got, err := Fetch(t.Context(), pinned(t, c), 0, 0, getItem); len(got) != 0 || err != nil {
			t.Errorf("nothing: %v, %v", got, err)
		}
	})
}

// Two Fetches share what an endpoint takes at once. The one that finds no capacity left asks for one item nevertheless:
// it would not be woken by the end of the other one.
func TestAFetchThatFindsNoCapacityGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &farm{latency: map[string]time.Duration{"a.example": time.Second}}
		s := pinned(t, farmClient(t, f, Config{Fetchers: 1}))
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				got, err := Fetch(t.Context(), s, 3, 0, getItem)
				if err == nil && len(got) != 3 {
					err = errMissing
				}
				ended <- err
			}()
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// A block that no adapter foresaw may make reading it panic. That is an error of the one chain: the goroutine is
// Fetch's own, so that nobody else could catch it, and the process with all other chains would end.
func TestAPanicInFetchIsAnError(t *testing.T) {
	f := &farm{latency: map[string]time.Duration{"a.example": 0}}
	got, err := Fetch(t.Context(), pinned(t, farmClient(t, f, Config{})), 3, 0,
		func(ctx context.Context, s *Session, i int) (int, error) {
			if i == 1 {
				panic("an unforeseen block")
			}
			return i, nil
		})
	if err != nil || len(got) != 1 {
		t.Errorf("%d items, %v, want 1", len(got), err)
	}
	_, err = Fetch(t.Context(), pinned(t, farmClient(t, f, Config{})), 1, 0,
		func(context.Context, *Session, int) (int, error) {
			panic("an unforeseen block")
		})
	if err == nil || !strings.Contains(err.Error(), "an unforeseen block") {
		t.Errorf("error %v, want an error and %q in it", err, "an unforeseen block")
	}
}
