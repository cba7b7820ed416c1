package service

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// asking is a guard of a password with a clock that a test sets.
type asking struct {
	*testing.T
	guard   *adminGuard
	handler http.Handler
	now     time.Time
	alarms  int
}

const rightPassword = "a password of the operators"

func newAsking(t *testing.T) *asking {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(rightPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	guard, err := newAdminGuard(Admin{PasswordFile: file})
	if err != nil {
		t.Fatal(err)
	}
	a := &asking{T: t, guard: guard, now: time.Unix(1_700_000_000, 0)}
	guard.guesses, guard.now = newGuesses(), func() time.Time { return a.now }
	guard.alarm = func(context.Context, string) { a.alarms++ }
	a.handler = guard.protect(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	return a
}

// get sends a request from an address with a password; "" is none. It must be answered with a status.
func (a *asking) get(from, password string, want int) *httptest.ResponseRecorder {
	a.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/metrics", nil)
	r.RemoteAddr = from
	if password != "" {
		r.SetBasicAuth("operator", password)
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	if w.Code != want {
		a.Fatalf("from %s at %v: got %d, want %d", from, a.now, w.Code, want)
	}
	return w
}

// Anyone who guesses has to wait, and does not learn then whether a password is right; nobody else waits.
func TestWhoGuessesPasswordsIsSlowed(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for range guessBurst {
		a.get("192.0.2.1:1000", "wrong", 401)
		a.get("192.0.2.1:1000", "", 401) // without a password it is no guess
	}
	if w := a.get("192.0.2.1:2000", rightPassword, 429); w.Header().Get("Retry-After") != "10" {
		t.Errorf("it may try again after %q seconds, want 10", w.Header().Get("Retry-After"))
	}
	a.get("[::ffff:192.0.2.1]:2000", "wrong", 429) // the same address
	a.get("192.0.2.2:1000", rightPassword, 204)
	a.get("192.0.2.2:1000", "wrong", 401)
	if got := a.guard.guesses.counted(); got != guessBurst+1 || a.alarms != 1 {
		t.Errorf("%d guesses are counted and %d alarms raised, want %d and 1", got, a.alarms, guessBurst+1)
	}
	a.now = a.now.Add(guessEvery)
	a.get("192.0.2.1:2000", "wrong", 401)
	a.get("192.0.2.1:2000", "wrong", 429)
	if a.alarms != 1 {
		t.Errorf("%d alarms are raised within a minute, want 1", a.alarms)
	}
	a.now = a.now.Add(time.Hour)
	a.get("192.0.2.1:2000", rightPassword, 204)
	for range guessBurst {
		a.get("192.0.2.1:2000", "wrong", 401)
	}
	if a.alarms != 2 {
		t.Errorf("%d alarms are raised, want another one after an hour", a.alarms)
	}
}

// An owner of a network of IPv6 has as many addresses as they like.
func TestANetworkOfIPv6IsOneGuesser(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for n := range guessBurst {
		a.get(fmt.Sprintf("[2001:db8:0:1::%x]:1000", n+1), "wrong", 401)
	}
	a.get("[2001:db8:0:1:ffff::1]:1000", rightPassword, 429)
	a.get("[2001:db8:0:2::1]:1000", rightPassword, 204)
}

// Many addresses together are slowed, one guess each; who has not guessed wrongly is not.
func TestManyGuessersAreSlowedTogether(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for n := range allGuessesBurst {
		a.get(fmt.Sprintf("198.51.100.%d:1000", n), "wrong", 401)
	}
	a.get("198.51.100.1:1000", rightPassword, 429)
	a.get("203.0.113.1:1000", rightPassword, 204)
	a.now = a.now.Add(guessesPace)
	a.get("198.51.100.1:1000", rightPassword, 204)
	if a.alarms != 1 {
		t.Errorf("%d alarms are raised, want 1", a.alarms)
	}
}

// Tunnels of all operators end on this machine: one of them must not keep the others out.
func TestThisMachineIsOnlyCounted(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	for range 3 * guessBurst {
		a.get("127.0.0.1:1000", "wrong", 401)
		a.get("[::1]:1000", "wrong", 401)
	}
	a.get("127.0.0.1:1000", rightPassword, 204)
	if a.alarms != 1 || a.guard.guesses.counted() != 6*guessBurst {
		t.Errorf("%d guesses are counted and %d alarms raised, want %d and 1", a.guard.guesses.counted(), a.alarms,
			6*guessBurst)
	}
}

func TestGuessersAreForgottenForOthers(t *testing.T) {
	t.Parallel()
	g, now := newGuesses(), time.Unix(1_700_000_000, 0)
	for n := range maxGuessers + 10 {
		g.wrong(fmt.Sprintf("10.%d.%d.%d:1", n>>16, n>>8&255, n&255), now)
	}
	if len(g.by) != maxGuessers || g.order.Len() != maxGuessers {
		t.Errorf("%d and %d addresses are remembered, want %d", len(g.by), g.order.Len(), maxGuessers)
	}
	oldest, _ := origin("10.0.0.0:1")
	latest, _ := origin("10.0.16.9:1")
	if g.by[oldest] != nil || g.by[latest] == nil {
		t.Errorf("the oldest address is there: %v, the latest: %v, want false and true", g.by[oldest] != nil,
			g.by[latest] != nil)
	}
}
