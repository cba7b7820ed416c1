package fault

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// obliging is a node that answers every call with its method.
var obliging = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	calls, batch := callsOf(body)
	var answers []string
	for _, c := range calls {
		answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%q}`, c.Method))
	}
	if batch {
		fmt.Fprint(w, "["+strings.Join(answers, ",")+"]")
		return
	}
	fmt.Fprint(w, answers[0])
})

func post(h http.Handler, body string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
	return answer
}

// calls is a request with so many calls of a method.
func calls(method string, count int) string {
	one := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[]}`, method)
	if count == 1 {
		return one
	}
	return "[" + strings.Repeat(one+",", count-1) + one + "]"
}

func TestProvidersRefuseWhatTheirPlanLacksAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    Kind
		refused string
		status  int
		says    string
		taken   string
	}{
		{Plan401, calls("debug_traceBlockByHash", 1), 401, "Unauthorized", calls("eth_getLogs", 2)},
		{Plan403, calls("trace_block", 1), 403, "", calls("eth_getLogs", 1)},
		{Plan32600, calls("debug_traceBlockByHash", 1), 200,
			`"code":-32600,"message":"debug_traceBlockByHash is not available on the Free tier`, calls("eth_call", 1)},
		{Plan32601, calls("debug_traceBlockByHash", 2), 200,
			`"code":-32601,"message":"the method debug_traceBlockByHash does not exist`, calls("eth_call", 2)},
		{TooBig, calls("trace_block", 1), 200, `"code":-32008`, calls("getBlock", 1)},
		{Unbatched, calls("getBlock", 2), 200, `"id":null,"error":{"code":-32005`, calls("getBlock", 1)},
		{BatchOf3, calls("getBlock", 4), 500, `"code":31`, calls("getBlock", 3)},
		{SmallBody, calls("getBlock", 20), 413, "<html>", calls("getBlock", 2)},
		{Spent, calls("getBlock", 1), 429, "daily request count exceeded", ""},
	} {
		l := New(never, time.Now)
		h := l.Wrap(obliging)
		if err := l.Set(c.kind, time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := post(h, c.refused); got.Code != c.status || !strings.Contains(got.Body.String(), c.says) {
			t.Errorf("%s: %d %s, want %v and %v in it", c.kind, got.Code, got.Body, c.status, c.says)
		}
		if c.taken == "" {
			continue
		}
		if got := post(h, c.taken); got.Code != 200 || strings.Contains(got.Body.String(), "error") ||
			!strings.Contains(got.Body.String(), "result") {
			t.Errorf("%s of %s: %d %s, want 200 and no %q and %q in it", c.kind, c.taken, got.Code, got.Body, "error", "result")
		}
	}
}

// TestABatchIsRefusedInPart checks that only the calls that a plan lacks are refused: the other calls of the batch
// are answered.
func TestABatchIsRefusedInPart(t *testing.T) {
	t.Parallel()
	l := New(never, time.Now)
	h := l.Wrap(obliging)
	if err := l.Set(Plan32601, time.Minute); err != nil {
		t.Fatal(err)
	}
	got := post(h, `[{"id":1,"method":"eth_call"},{"id":2,"method":"debug_x"}]`).Body.String()
	if !strings.Contains(got, `"result":"eth_call"`) || strings.Count(got, `"code":-32601`) != 1 {
		t.Errorf("%s, want %q in it and 1", got, `"result":"eth_call"`)
	}
}

func TestLimitsCountCallsByTheSecondAndSayWhenToComeBack(t *testing.T) {
	for kind, read := range map[Kind]func(text string) (time.Duration, error){
		Limited: func(text string) (time.Duration, error) { return time.ParseDuration(text + "s") },
		LimitedDate: func(text string) (time.Duration, error) {
			at, err := http.ParseTime(text)
			return time.Until(at), err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(never, time.Now)
			h := l.Wrap(obliging)
			if err := l.Set(kind, time.Minute); err != nil {
				t.Fatal(err)
			}
			if got := post(h, calls("getBlock", callsASecond)); got.Code != 200 {
				t.Errorf("%s: %d, want 200", kind, got.Code)
			}
			refused := post(h, calls("getBlock", 1))
			after, err := read(refused.Header().Get("Retry-After"))
			if refused.Code != 429 || err != nil || after != time.Second {
				t.Errorf("%s: %d, to come back after %v, %v, want 429 and %v", kind, refused.Code, after, err, time.Second)
			}
			<-time.After(after) // by the clock of the bubble
			if got := post(h, calls("getBlock", 1)); got.Code != 200 {
				t.Errorf("%s after that: %d, want 200", kind, got.Code)
			}
		})
	}
}

func TestAFlakyNodeFailsNowAndThen(t *testing.T) {
	t.Parallel()
	l := New(never, time.Now)
	h := l.Wrap(obliging)
	if err := l.Set(Flaky, time.Minute); err != nil {
		t.Fatal(err)
	}
	good := 0
	for range 2 * flakiness {
		if strings.Contains(post(h, calls("getBlock", 1)).Body.String(), "result") {
			good++
		}
	}
	if good != 2*flakiness-2 {
		t.Errorf("%d of %d requests are answered, want %v", good, 2*flakiness, 2*flakiness-2)
	}
}

// TestABalancerNeverAsksTheSameNodeTwice checks that nodes behind a balancer differ from request to request and lag
// by changes of the chain.
func TestABalancerNeverAsksTheSameNodeTwice(t *testing.T) {
	t.Parallel()
	height := 0
	report := func(h int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, h) })
	}
	l := New(func(http.Handler) (http.Handler, error) { return report(height), nil }, time.Now)
	h := l.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, height) }))
	if err := l.Set(Balanced, time.Minute); err != nil {
		t.Fatal(err)
	}
	for height < 10 {
		height++
		l.Moved()
	}
	seen, last := map[string]bool{}, ""
	for range 100 {
		got := ask(h).Body.String()
		if got == last {
			t.Fatalf("height %s is answered twice in a row", got)
		}
		seen[got], last = true, got
	}
	if len(seen) != 3 || !seen["10"] || !seen["9"] || !seen["5"] {
		t.Errorf("heights %v", seen)
	}
	beside := l.Beside()
	if got := ask(beside).Body.String(); got != "10" {
		t.Errorf("another endpoint of the node: %s, want %q", got, "10")
	}
}
