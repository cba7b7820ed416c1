package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The manners: everything that a service needs is available, served as hosted providers and load balancers serve it.
const (
	Balanced    Kind = "balanced"     // each request is answered by another node, some of them several blocks behind
	Flaky       Kind = "flaky"        // every fiftieth request is answered as by Errors
	Plan401     Kind = "plan-401"     // debug_ and trace_ methods are refused with status 401
	Plan403     Kind = "plan-403"     // … with status 403
	Plan32600   Kind = "plan-32600"   // … with the text of a plan and error -32600
	Plan32601   Kind = "plan-32601"   // … as methods that do not exist
	TooBig      Kind = "too-big"      // … as answers that are too large, whatever their size
	Unbatched   Kind = "unbatched"    // batches are refused, with the code that others use for too many requests
	BatchOf3    Kind = "batch-of-3"   // batches of more than three are refused
	SmallBody   Kind = "small-body"   // requests of more than a KiB are refused
	Limited     Kind = "limited"      // a limit of calls a second; Retry-After in seconds
	LimitedDate Kind = "limited-date" // the same; Retry-After as a date
)

// Manners returns the kinds of manners.
func Manners() []Kind {
	return []Kind{Balanced, Flaky, Plan401, Plan403, Plan32600, Plan32601, TooBig, Unbatched, BatchOf3, SmallBody, Limited,
		LimitedDate}
}

const (
	callsASecond = 40   // of Limited
	smallBody    = 1024 // bytes
	flakiness    = 50   // one in so many requests fails
)

// provider serves a node in one of the manners. Its answers are those of real providers, named at each refusal.
type provider struct {
	node http.Handler
	kind Kind
	now  func() time.Time
	bad  wrong

	mu     sync.Mutex
	turn   int
	second int64 // whose calls are counted
	calls  int
}

func newProvider(node http.Handler, kind Kind, now func() time.Time) *provider {
	return &provider{node: node, kind: kind, now: now}
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "cannot read the request", http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	calls, batch := callsOf(body)
	switch {
	case r.Header.Get("Upgrade") != "":
		p.node.ServeHTTP(w, r)
	case slices.ContainsFunc(calls, asked.traces) && slices.Contains(plans, p.kind):
		p.lack(w, r)
	case !p.refuses(w, body, calls, batch):
		p.node.ServeHTTP(w, r)
	}
}

// asked is the part of a call that a provider looks at.
type asked struct {
	Method string `json:"method"`
}

func (c asked) traces() bool {
	return strings.HasPrefix(c.Method, "debug_") || strings.HasPrefix(c.Method, "trace_")
}

// callsOf returns the calls of a request; a request that is not JSON-RPC is one call without a method.
func callsOf(body []byte) (calls []asked, batch bool) {
	if json.Unmarshal(body, &calls) == nil {
		return calls, true
	}
	var one asked
	_ = json.Unmarshal(body, &one)
	return []asked{one}, false
}

// refuses answers a request that this manner does not serve.
func (p *provider) refuses(w http.ResponseWriter, body []byte, calls []asked, batch bool) bool {
	switch p.kind {
	case Spent:
		// Infura, as in gochain/web3 issue 180.
		say(w, 429,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"daily request count exceeded, request rate limited",`+
				`"data":{"rate":{"allowed_rps":1,"backoff_seconds":30,"current_rps":1.2},"see":"https://infura.io/dashboard"}}}`)
	case Flaky:
		if !p.fails() {
			return false
		}
		p.bad.ServeHTTP(w, nil)
	case Unbatched:
		if !batch {
			return false
		}
		// jsonrpsee, types/src/error.rs: BATCHES_NOT_SUPPORTED. Others mean too many requests by -32005.
		say(w, 200,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"Batched requests are not supported by this server"}}`)
	case BatchOf3:
		if len(calls) <= 3 {
			return false
		}
		// dRPC's free tier: status 500, code 31.
		say(w, 500,
			`{"message":"Batch of more than 3 requests are not allowed on free tier, to use this feature `+
				`register paid account at drpc.org","code":31}`)
	case SmallBody:
		if len(body) <= smallBody {
			return false
		}
		// nginx, client_max_body_size.
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w,
			"<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity "+
				"Too Large</h1></center>\r\n</body>\r\n</html>\r\n")
	case Limited, LimitedDate:
		return p.limits(w, len(calls))
	default:
		return false
	}
	return true
}

// say answers with JSON.
func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client is gone if this fails
}

func (p *provider) fails() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	return p.turn%flakiness == 0
}

// limits counts calls by the second and refuses those above the limit.
func (p *provider) limits(w http.ResponseWriter, calls int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Unix() != p.second {
		p.second, p.calls = now.Unix(), 0
	}
	if p.calls > 0 && p.calls+calls > callsASecond {
		after := "1"
		if p.kind == LimitedDate { // RFC 9110, section 10.2.3
			after = now.Add(time.Second).UTC().Format(http.TimeFormat)
		}
		w.Header().Set("Retry-After", after)
		say(w, http.StatusTooManyRequests,
			`{"jsonrpc":"2.0","id":null,"error":{"code":429,"message":"Your app has exceeded `+
				`its compute units per second capacity."}}`)
		return true
	}
	p.calls += calls
	return false
}
