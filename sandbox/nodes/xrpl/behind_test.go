package xrpl

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// answerOf is a handler's answer by JSON-RPC.
func answerOf(t *testing.T, h http.Handler, method string, params object) string {
	t.Helper()
	body, err := json.Marshal(object{"method": method, "params": []any{params}})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body))))
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %s %v, want %v", method, answer.Code, text, err, http.StatusOK)
	}
	return string(text)
}

// TestBehindStaysAsItWas checks that a node that fell behind gives the same answers for ever, about ledgers and about
// what waited, and that a transaction sent to it arrives all the same.
func TestBehindStaysAsItWas(t *testing.T) {
	t.Parallel()
	clock := time.Now()
	n := begin(t, Config{Options: host.Options{Now: func() time.Time { return clock }}})
	o, other := newOwner(t, n, 100_000_000), newOwner(t, n, 50_000_000)
	waiting := o.payment(n, other.address, nil)
	if result := submitted(t, n, waiting); result != "tesSUCCESS" {
		t.Fatal(result)
	}
	questions := []struct {
		method string
		params object
	}{
		{"server_info", nil}, {"ledger_closed", nil}, {"ledger_current", nil},
		{"ledger", object{"ledger_index": "validated", "transactions": true}},
		{"ledger", object{"ledger_index": n.Height() + 1}}, {"ledger", object{"ledger_index": n.Height() + 2}},
		{"account_info", object{"account": o.address, "ledger_index": "validated"}},
		{"account_info", object{"account": o.address, "ledger_index": "current"}},
		{"account_tx", object{"account": o.address}}, {"tx", object{"transaction": half("TXN\x00", waiting).String()}},
		{"account_info", object{"account": other.address, "ledger_index": "validated"}}, {"fee", nil},
	}
	present, past := http.HandlerFunc(n.handle), n.Behind()
	before := make([]string, len(questions))
	for i, q := range questions {
		before[i] = answerOf(t, present, q.method, q.params)
	}
	if err := n.Mine(2); err != nil {
		t.Fatal(err)
	}
	if err := n.Mark(other.address, lsfRequireTag); err != nil {
		t.Fatal(err)
	}
	newOwner(t, n, 7_000_000)
	for i, q := range questions {
		if got := answerOf(t, past, q.method, q.params); got != before[i] {
			t.Errorf("%s %v changed from %s to %s", q.method, q.params, before[i], got)
		}
		if answerOf(t, present, q.method, q.params) == before[i] {
			t.Errorf("%s %v answers the same for the past and the present", q.method, q.params)
		}
	}
	third := newOwner(t, n, 5_000_000)
	answer := answerOf(t, past, "submit", object{"tx_blob": hex.EncodeToString(o.payment(n, third.address, nil))})
	if !strings.Contains(answer, `"tesSUCCESS"`) {
		t.Errorf("the transaction is not forwarded: %s", answer)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	if held, err := n.Balance(third.address); err != nil || held != 6_000_000 {
		t.Errorf("a transaction sent to the node that is behind is in no ledger: %d %v", held, err)
	}
}

// TestBehindAnnouncesNothing checks that the WebSocket of a node that fell behind answers from the past, announces
// nothing and ends with the node.
func TestBehindAnnouncesNothing(t *testing.T) {
	t.Parallel()
	n := begin(t, Config{})
	server := httptest.NewServer(n.Behind())
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(server.URL, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	for _, command := range []string{`{"id":1,"command":"subscribe","streams":["ledger"]}`,
		`{"id":2,"command":"ledger_closed"}`} {
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Type   string
			Result struct {
				Index uint32 `json:"ledger_index"`
			}
		}
		_, text, err := conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &answer)
		}
		if err != nil || answer.Type != "response" || answer.Result.Index != 1 {
			t.Errorf("%s: %s %v, want %q and 1", command, text, err, "response")
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the connection outlives the node: %v, want an error and nil", err)
	}
}
