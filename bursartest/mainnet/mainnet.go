// Package mainnet simulates a node of mainnet for each chain from answers that real nodes gave: nodes.json has them,
// each with its source and with what is not as it was recorded.
//
// It owns those answers, and never asks a real node. Its invariant: an answer depends only on the request and the time,
// so a test that reads a node twice reads the same. Times of new blocks are those of the test, since a node whose
// newest block is old is behind.
package mainnet

import (
	"crypto/sha512"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed nodes.json
var recorded []byte

// answer is what a node says to a request: the method of a JSON-RPC call, or the path of another one, and behind a
// space its parameters with sorted names. A request fits that begins with what is before the first * of Ask and has
// what is between the others.
type answer struct {
	Ask    string
	Result any
}

func (a answer) fits(ask string) bool {
	parts := strings.Split(a.Ask, "*")
	for _, part := range parts[1:] {
		if !strings.Contains(ask, part) {
			return false
		}
	}
	return strings.HasPrefix(ask, parts[0])
}

// Nodes starts a node for each chain, and returns their URLs by chain. They end with the test. What was
// not recorded they answer as a node does that lacks the method, which doctor reports.
func Nodes(t testing.TB) map[string]string {
	t.Helper()
	var chains map[string]struct{ Answers []answer }
	if err := json.Unmarshal(recorded, &chains); err != nil {
		t.Fatal(err)
	}
	urls := map[string]string{}
	for chain, node := range chains {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := serve(w, r, chain, node.Answers); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		urls[chain] = server.URL
	}
	return urls
}

// request is a call of JSON-RPC.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params any             `json:"params"`
}

// serve answers one call, several in one request, or a request to a path.
func serve(w io.Writer, r *http.Request, chain string, answers []answer) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.URL.Path != "" && r.URL.Path != "/" {
		result, _, err := find(chain, answers, r.URL.Path, json.RawMessage(body))
		return send(w, result, err)
	}
	var several []request
	if json.Unmarshal(body, &several) == nil {
		var all []any
		for _, one := range several {
			all = append(all, call(chain, answers, one))
		}
		return send(w, all, nil)
	}
	var one request
	if err := json.Unmarshal(body, &one); err != nil {
		return fmt.Errorf("%s is asked %.300s: %w", chain, body, err)
	}
	return send(w, call(chain, answers, one), nil)
}

// call answers a call as the node's protocol has it; what was not recorded, as a node does that lacks the method.
func call(chain string, answers []answer, one request) any {
	out := map[string]any{"jsonrpc": "2.0", "id": one.ID}
	result, known, err := find(chain, answers, one.Method, one.Params)
	if err != nil || !known {
		out["error"] = map[string]any{"code": -32601, "message": "Method not found"}
		return out
	}
	out["result"] = result
	return out
}

func send(w io.Writer, value any, err error) error {
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(value)
}

// find returns the first answer that fits.
func find(chain string, answers []answer, method string, params any) (result any, known bool, err error) {
	if raw, is := params.(json.RawMessage); is {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, false, fmt.Errorf("%s is asked %s %.300s: %w", chain, method, raw, err)
		}
	}
	text, err := json.Marshal(params) // sorts names
	if err != nil {
		return nil, false, err
	}
	for _, a := range answers {
		if a.fits(method + " " + string(text)) {
			return filled(a.Result, time.Now().Unix(), nil), true, nil
		}
	}
	return nil, false, nil
}

// rippleEpoch is 2000-01-01 in Unix seconds, the start of the XRP Ledger's time.
const rippleEpoch = 946_684_800

// filled puts the time, and the hash of an XRP Ledger's ledger that has it, in the places of an answer.
func filled(value any, now int64, ledger map[string]any) any {
	closed := (now - rippleEpoch) / 10 * 10
	switch v := value.(type) {
	case map[string]any:
		if inner, has := v["ledger"].(map[string]any); has {
			ledger = inner
		}
		if v["total_coins"] != nil {
			ledger = v
		}
		out := map[string]any{}
		for name, inner := range v {
			out[name] = filled(inner, now, ledger)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = filled(inner, now, ledger)
		}
		return out
	case string:
		switch v {
		case "@unix":
			return now
		case "@hex":
			return "0x" + strconv.FormatInt(now, 16)
		case "@millis":
			return now * 1000
		case "@ripple":
			return closed
		case "@ledger":
			return hashOf(ledger, uint32(closed))
		}
	}
	return value
}

// hashOf is the hash of a ledger that closed at a time, as rippled's LedgerHeader.cpp computes it; zeros for none.
func hashOf(ledger map[string]any, closed uint32) string {
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(fmt.Sprint(ledger[name]), 10, 64)
		if f, is := ledger[name].(float64); is { // as JSON has it
			n = uint64(f)
		}
		return n
	}
	b := binary.BigEndian.AppendUint32([]byte("LWR\x00"), uint32(number("ledger_index")))
	b = binary.BigEndian.AppendUint64(b, number("total_coins"))
	for _, name := range []string{"parent_hash", "transaction_hash", "account_hash"} {
		text, _ := ledger[name].(string)
		part, err := hex.DecodeString(text)
		if err != nil || len(part) != 32 {
			return strings.Repeat("0", 64)
		}
		b = append(b, part...)
	}
	b = binary.BigEndian.AppendUint32(b, closed) // of the parent
	b = binary.BigEndian.AppendUint32(b, closed)
	b = append(b, byte(number("close_time_resolution")), byte(number("close_flags")))
	sum := sha512.Sum512(b)
	return strings.ToUpper(hex.EncodeToString(sum[:32]))
}
