package fault

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// steady is a node that always gives the same answer.
var steady = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"result":1}`) })

func never(http.Handler) (http.Handler, error) { return nil, errors.New("cannot be frozen") }

func ask(h http.Handler) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))
	return answer
}

func TestSlowNodesAnswerLateAndTheFaultEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(never, time.Now)
		h := l.Wrap(steady)
		if err := l.Set(Slow, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if got := ask(h).Body.String(); got != `{"result":1}` || time.Since(began) != lateness {
			t.Errorf("a slow node answers %q after %v, want %q and %v", got, time.Since(began), `{"result":1}`, lateness)
		}
		if kind, until := l.Current(); kind != Slow || until.Sub(began) != 10*time.Second {
			t.Errorf("fault is %q until %v, want %v and %v", kind, until, Slow, 10*time.Second)
		}
		<-time.After(10*time.Second - lateness) // by the clock of the bubble
		began = time.Now()
		if ask(h); time.Since(began) != 0 {
			t.Errorf("after the fault an answer takes %v, want 0", time.Since(began))
		}
		if kind, _ := l.Current(); kind != "" {
			t.Errorf("fault %q does not end, want none", kind)
		}
	})
}

func TestNodesThatAreDownResetConnections(t *testing.T) {
	t.Parallel()
	l := New(never, time.Now)
	server := httptest.NewServer(l.Wrap(steady))
	defer server.Close()
	if err := l.Set(Down, time.Minute); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := http.Post(server.URL, "application/json",
			strings.NewReader("{}")); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("a node that is down answers: %v", err)
		}
	}
	if err := l.Set(Down, 0); err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(server.URL, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatalf("after the fault: %v", err)
	}
	answer.Body.Close()
}

func TestWrongAnswersAreNeverJSONRPC(t *testing.T) {
	t.Parallel()
	l := New(never, time.Now)
	h := l.Wrap(steady)
	if err := l.Set(Errors, time.Minute); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for range 2 * len(wrongAnswers()) {
		answer := ask(h)
		seen[answer.Code] = true
		var rpc struct{ Result, ID any }
		if json.Unmarshal(answer.Body.Bytes(), &rpc) == nil && (rpc.Result != nil || rpc.ID != nil) {
			t.Errorf("a wrong answer is right: %d %s", answer.Code, answer.Body)
		}
	}
	for _, status := range []int{200, 429, 500, 502, 503} {
		if !seen[status] {
			t.Errorf("status %d was never answered", status)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind     Kind
		duration time.Duration
	}{
		"unknown kind": {"tired", time.Second}, "no kind": {"", time.Second}, "below zero": {Down, -1},
		"too long": {Down, MaxDuration + 1}, "node that does not report its height": {Behind, time.Second},
	} {
		l := New(never, time.Now)
		h := l.Wrap(steady)
		if l.Set(test.kind, test.duration) == nil {
			t.Errorf("%s is accepted", name)
		}
		if got := ask(h).Body.String(); got != `{"result":1}` {
			t.Errorf("%s: the node then answers %q, want %q", name, got, `{"result":1}`)
		}
	}
}
