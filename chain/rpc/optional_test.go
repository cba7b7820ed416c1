package rpc

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// tracer is a node that answers eth_ calls well and debug_ calls as h does.
func tracer(t *testing.T, h http.HandlerFunc) *node {
	return startNode(t, splitting("debug_", h, gives(`"0x1"`)))
}

// splitting gives the calls whose method has a prefix to one handler and the others to another.
func splitting(prefix string, these, others http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), `"method":"`+prefix) {
			these(w, r)
			return
		}
		others(w, r)
	}
}

func pinned(t *testing.T, c *Client) *Session {
	t.Helper()
	s, err := c.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The refusals of methods and blocks as nodes and providers word them.
var refusals = []struct {
	name string
	h    http.HandlerFunc
	want error
	text string
}{
	{"geth without the namespace (celo-blockchain#1721)",
		says(200,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"the method debug_traceBlockByNumber does not exist/is not available"}}`), ErrNotOffered, "does not exist"},
	{"Alchemy's free plan (agoric-sdk#12396, 2026)",
		says(200,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"trace_filter is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access."}}`), ErrNotOffered, "Free tier"},
	{"the same with 403",
		says(403,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"debug_traceBlockByHash is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access."}}`), ErrNotOffered, "Free tier"},
	{"dRPC's free plan (nodecore#159, 2026)",
		says(200,
			`{"id":ID,"jsonrpc":"2.0","error":{"message":"method is not available on freetier, please upgrade to paid tier","code":35}}`), ErrNotOffered, "paid tier"},
	{"QuickNode (its error reference, 2026)", raw(403, "Forbidden - custom trace not found in allowed custom traces"),
		ErrNotOffered, "403"},
	{"an allowlist in front of a node",
		says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"method not whitelisted"}}`), ErrNotOffered,
		"whitelisted"},
	{"Besu (METHOD_NOT_ENABLED)",
		says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32604,"message":"Method not enabled"}}`), ErrNotOffered,
		"not enabled"},
	{"VeChain's proxy (vechain-sdk-js#1979)",
		says(200,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"Request failed with status 403 and message creating tracer is not allowed: prestate"}}`), ErrNotOffered, "tracer is not allowed"},
	{"a gateway's code", says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32008,"message":"request denied"}}`),
		ErrNotOffered, "-32008"},
	{"invalid request without an id (JSON-RPC 2.0, section 5)",
		says(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`), ErrNotOffered, "-32600"},
	{"401", raw(401, ""), ErrNotOffered, "401"},
	{"403 with a page", raw(403, "<html>Forbidden</html>"), ErrNotOffered, "403"},
	{"402", raw(402, ""), ErrNotOffered, "402"},
	{"404 of a path", raw(404, "not found"), ErrNotOffered, "404"},
	{"405", raw(405, ""), ErrNotOffered, "405"},
	{"reth's bound (reth#6268)",
		says(200,
			`{"jsonrpc":"2.0","error":{"code":-32008,"message":"Response is too big","data":"Exceeded max limit of 157286400"},"id":ID}`), ErrTooLarge, "too big"},
	{"geth's bound of a batch (go-ethereum#33814)",
		says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32003,"message":"response too large"}}`), ErrTooLarge,
		"too large"},
	{"our bound", raw(200, strings.Repeat(" ", testBody+1)), ErrTooLarge, "larger than the bound"},
	{"our bound, promised", raw(200, strings.Repeat(" ", testBody+1), "Content-Length: "+strconv.Itoa(testBody+1)),
		ErrTooLarge, "larger than the bound"},
	{"geth's time limit (go-ethereum#29546)",
		says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"execution timeout"}}`), ErrTooSlow,
		"execution timeout"},
	{"nitro's (nitro#2923)",
		says(200,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"execution timeout at trim (bigInt:1:1103(18)) at step (<eval>:81:16(36))    in server-side tracer function 'step'"}}`), ErrTooSlow, "execution timeout"},
	{"geth's limit of a call",
		says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32002,"message":"request timed out"}}`), ErrTooSlow,
		"timed out"},
	{"a gateway's", raw(504, "<html>504</html>"), ErrTooSlow, "504"},
	{"Cloudflare's", raw(524, ""), ErrTooSlow, "524"},
	{"silence", hang, ErrTooSlow, "no complete answer within"},
	{"Hardhat drops it (hardhat#2510)", hangUp, ErrUnsound, "EOF"},
	{"it breaks off", says(200, `{"jsonrpc":"2.0","id":ID,"result":[{"result":`), ErrUnsound, "not JSON"},
	{"bad gateway", raw(502, ""), ErrUnsound, "502"},
	{"another shape", says(200, `{"jsonrpc":"2.0","id":ID,"result":7}`), ErrUnsound, "result:"},
}
