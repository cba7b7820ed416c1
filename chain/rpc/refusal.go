package rpc

import (
	"net/http"
	"slices"
	"strings"
)

// phrases are parts of error messages in lower case.
type phrases []string

// in reports whether a message contains one of them.
func (w phrases) in(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc(w, func(part string) bool { return strings.Contains(message, part) })
}

// The messages by which nodes and providers decline an optional call. The tests name the source of each.
var (
	// reth (jsonrpsee, -32008), go-ethereum's limits of batches (-32003), gateways.
	largePhrases = phrases{
		"response is too big", "response too big", "response too large", "response is too large", "response size exceeded",
		"response size should not", "response size is larger", "exceeded max limit",
	}
	// go-ethereum's tracers and RPC limits, gateways.
	slowPhrases = phrases{"execution timeout", "timed out", "timeout", "deadline exceeded", "took too long"}
	// Plans: Alchemy, dRPC, QuickNode, Ankr, GetBlock, Chainstack and filters in front of public nodes.
	planPhrases = phrases{
		"not available on the", "not available on free", "not available on your", "not available in your", "upgrade to",
		"upgrade your plan", "paid plan", "paid tier", "not whitelisted", "not in whitelist", "whitelisted methods",
		"not allowed to access method", "method not allowed", "method is not allowed", "method is not supported",
		"method not supported", "unsupported method", "not supported on this plan", "not included in your",
		"method not enabled", "is not enabled", "method is disabled", "is blocked", "tracer is not allowed",
	}
	// The account's quota is used up, whatever the method: Alchemy (-32600 with HTTP 403), Infura, QuickNode, TronGrid.
	quotaPhrases = phrases{
		"capacity limit exceeded", "exceeded its compute units", "daily credit limit", "daily request count exceeded",
		"request limit reached", "monthly quota", "frequency limit",
	}
)

// refusalCodes say that a method is not available: JSON-RPC 2.0 (-32601; -32600 where a gateway refuses the request),
// EIP-1474 (-32004), Besu (-32604, method not enabled), EIP-1193 (4100 unauthorized, 4200 unsupported), gateways
// (-32008).
var refusalCodes = []int{-32601, -32600, -32008, -32004, -32604, 4100, 4200}

// declinedBy returns what an error object says about an optional method: ErrNotOffered, ErrTooLarge, ErrTooSlow; or
// nil if it is about the call or the node. A code under HTTP 401, 402 or 403 says nothing: wrong credentials are
// refused in that way too.
func declinedBy(e *Error) error {
	switch {
	case quotaPhrases.in(e.Message):
		return nil
	case largePhrases.in(e.Message):
		return ErrTooLarge
	case slowPhrases.in(e.Message):
		return ErrTooSlow
	case planPhrases.in(e.Message):
		return ErrNotOffered
	case slices.Contains(refusalCodes, e.Code) && !aboutCaller(e.HTTP):
		return ErrNotOffered
	}
	return nil
}

func aboutCaller(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusForbidden
}
