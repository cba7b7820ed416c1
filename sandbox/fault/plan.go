package fault

import (
	"encoding/json"
	"net/http"
)

// plans are the manners in which debug_ and trace_ methods are refused.
var plans = []Kind{Plan401, Plan403, Plan32600, Plan32601, TooBig}

// lack answers a request of which some calls are not in the plan: with a status for the whole, or with an error for
// each such call.
func (p *provider) lack(w http.ResponseWriter, r *http.Request) {
	switch p.kind {
	case Plan401:
		say(w, http.StatusUnauthorized, `{"error":"Unauthorized"}`)
	case Plan403:
		w.WriteHeader(http.StatusForbidden)
	default:
		remembering{node: p.node, memory: planMemory(p.kind)}.ServeHTTP(w, r)
	}
}

// planMemory is a node without the methods that a plan lacks.
type planMemory Kind

func (m planMemory) answer(
	c call, _ func(string, ...any) (json.RawMessage, error), pass func(call) (json.RawMessage, error),
) (json.RawMessage, error) {
	if !(asked{c.method}).traces() {
		return pass(c)
	}
	switch Kind(m) {
	case Plan32600: // Alchemy's free tier, as in Agoric/agoric-sdk issue 12396
		return nil, refuse(-32600, c.method+
			" is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access.")
	case TooBig: // jsonrpsee, types/src/error.rs: OVERSIZED_RESPONSE, which reth answers
		return nil, refuse(-32008, "Response is too big")
	}
	return nil, refuse(-32601, "the method "+c.method+" does not exist/is not available") // go-ethereum 1.17
}
