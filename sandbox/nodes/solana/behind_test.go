package solana_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/solana"
)

type question struct {
	method string
	params []any
}

func (q question) put(t *testing.T, url string) string {
	t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": q.method,
		"params": append([]any{}, q.params...)})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBehindStaysAsItWas checks that a node that fell behind gives the same answers for ever, through payments,
// blocks and reorgs that reach below its head, and that a transaction sent to it arrives all the same.
func TestBehindStaysAsItWas(t *testing.T) {
	t.Parallel()
	n, w := funded(t, solana.Config{FinalityDepth: 6})
	old, err := n.Pay(w.address(), sol)
	if err != nil {
		t.Fatal(err)
	}
	mine(t, n, 2) // confirmed, not final
	height := n.Height()
	questions := []question{
		{"getAccountInfo", []any{w.address(), object{"commitment": "processed"}}},
		{"getBalance", []any{w.address(), object{"commitment": "finalized"}}},
		{"getSlot", []any{object{"commitment": "processed"}}}, {"getSlot", []any{object{"commitment": "finalized"}}},
		{"getBlockHeight", nil},
		{"getLatestBlockhash", []any{object{"commitment": "finalized"}}},
		{"getTransaction", []any{old, object{"commitment": "confirmed", "encoding": "base64"}}},
		{"getSignatureStatuses", []any{[]string{old}}},
		{"getBlocks", []any{1, height + 5, object{"commitment": "confirmed"}}},
		{"getBlock", []any{height + 1, object{"commitment": "confirmed", "transactionDetails": "signatures"}}},
		{"getEpochInfo", nil},
	}
	server := httptest.NewServer(n.Behind())
	defer server.Close()
	before := make([]string, len(questions))
	for i, q := range questions {
		before[i] = q.put(t, n.URL())
	}
	if _, err := n.Pay(w.address(), 7*sol); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 2)
	if err := n.Reorg(4, []string{old}); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 8)
	for i, q := range questions {
		if got := q.put(t, server.URL); got != before[i] {
			t.Errorf("%s %v changed from %s to %s", q.method, q.params, before[i], got)
		}
		if q.put(t, n.URL()) == before[i] {
			t.Errorf("%s %v answers the same for the past and the present", q.method, q.params)
		}
	}
	s := plan{from: w, to: n.NewAddress(), lamports: sol, blockhash: latest(t, n, "finalized")}
	send := question{"sendTransaction", []any{base64.StdEncoding.EncodeToString(s.bytes()), object{"encoding": "base64"}}}
	var sent struct{ Result string }
	if err := json.Unmarshal([]byte(send.put(t, server.URL)), &sent); err != nil || sent.Result == "" {
		t.Fatalf("the transaction is not forwarded: %v", err)
	}
	mine(t, n, 1)
	if balance(t, n, s.to) != sol {
		t.Error("a transaction sent to the node that is behind is in no block")
	}
}
