package rpc

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrUnavailable is wrapped by the error of a call that no endpoint answered: all were unreachable, failing, or in a
// cool-down. Whether a node acted on the call is unknown.
var ErrUnavailable = errors.New("no endpoint answered")

// ErrNull says that a node answered null where a value was wanted. It is an answer: the node does not have the value.
var ErrNull = errors.New("the result is null")

// Error is an error object that a node answered with. The call reached a node and its outcome is what the error says,
// whatever the HTTP status is: bitcoind sends these with 200, 404 and 500.
type Error struct {
	Code    int            // of the error object, or the HTTP status for Get and Post
	HTTP    int            // the HTTP status
	Message string         // the node's message, cut at 4 KiB, long credentials replaced
	Data    jsontext.Value // the error object's data, or the body for Get and Post; nil when absent or over 64 KiB
	// Unsure is set when another endpoint received the same call before this one answered, and its outcome is unknown: a
	// transaction that was refused here may have been accepted there.
	Unsure bool
}

// Error quotes the node's message.
func (e *Error) Error() string {
	s := fmt.Sprintf("node answered error %d: %s", e.Code, quote(e.Message))
	if e.Unsure {
		s += " (another endpoint may have acted on it)"
	}
	return s
}

// WrongChainError is returned by Config.Check for a node of another chain. Both fields are chain ids or genesis hashes.
type WrongChainError struct{ Serves, Configured string }

// Error names both chains.
func (e *WrongChainError) Error() string {
	return fmt.Sprintf("this node serves chain %s, configured is %s", plain(e.Serves), plain(e.Configured))
}

// DefaultRetryable is true for errors that say that a node or gateway cannot answer anything now:
//   - -28: bitcoind warming up (RPC_IN_WARMUP)
//   - -32005: limit exceeded (EIP-1474), node is behind (Solana)
//   - -32016: rate limited (some gateways), minimum context slot not reached (Solana)
//   - -32097, -32429, 429: rate limits of gateways
//   - -32002 with "timed out": geth's own time limit. The bare code is Solana's refusal of a transaction, an answer.
//   - any code with "rate limit" or "too many requests" in the message
func DefaultRetryable(e *Error) bool {
	message := strings.ToLower(e.Message)
	switch e.Code {
	case -28, -32005, -32016, -32097, -32429, 429:
		return true
	case -32002:
		return strings.Contains(message, "timed out")
	}
	return strings.Contains(message, "rate limit") || strings.Contains(message, "too many requests")
}

// speaksOfLimits distinguishes a retryable error that means too many calls from one that means a node which is
// starting or behind.
func speaksOfLimits(e *Error) bool {
	return e.Code == 429 || e.Code == -32429 || quotaPhrases.in(e.Message) ||
		phrases{"limit", "too many", "throttl"}.in(e.Message)
}

// fault is the failure of one endpoint to answer one question. Its text is free of credentials. It wraps no error: a
// caller must never take an inner error for the outcome of the call.
type fault struct {
	text       string
	wrong      *WrongChainError
	retryAfter time.Duration
	lag        bool
	sent       bool // the node may have received the question, so its outcome is unknown
	unreached  bool // no connection was made
	limited    bool // too many calls: the endpoint said so, or its quota is used up
	unwell     bool // the node itself said that it cannot answer now
	slow       bool // no whole answer within Config.Timeout
	huge       bool // the answer exceeded the bound
	status     int  // of HTTP, if an answer came
}

func (f *fault) Error() string { return f.text }

type endpointFault struct {
	name string
	*fault
}

// unavailableError is ErrUnavailable with the fault of each endpoint.
type unavailableError struct {
	op     string
	faults []endpointFault
}

// add adds the faults of endpoints that are not in the list yet.
func (e *unavailableError) add(faults []endpointFault) {
	for _, f := range faults {
		if !slices.ContainsFunc(e.faults, func(known endpointFault) bool { return known.name == f.name }) {
			e.faults = append(e.faults, f)
		}
	}
}

func (e *unavailableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.op, ErrUnavailable)
	for i, f := range e.faults {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", f.name, f.text)
	}
	return b.String()
}

// Unwrap returns ErrUnavailable and every WrongChainError, and nothing else of the faults.
func (e *unavailableError) Unwrap() []error {
	errs := []error{ErrUnavailable}
	for _, f := range e.faults {
		if f.wrong != nil {
			errs = append(errs, f.wrong)
		}
	}
	return errs
}

const maxQuote = 200

// quote renders external text for an error: bounded, on one line, without control characters.
func quote(s string) string { return strconv.Quote(cut(s, maxQuote)) }

// plain is quote without the quotes, for text that is expected to be harmless.
func plain(s string) string {
	q := quote(s)
	return q[1 : len(q)-1]
}

// cut shortens s to about n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
