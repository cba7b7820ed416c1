package tron

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// answerOf is a handler's answer.
func answerOf(t *testing.T, h http.Handler, path string, params object) string {
	t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body))))
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %s %v, want %v", path, answer.Code, text, err, http.StatusOK)
	}
	return string(text)
}

// TestBehindStaysAsItWas checks that a node that fell behind gives the same answers for ever, through payments,
// blocks and reorgs that reach below its head, and that a transaction sent to it arrives all the same.
func TestBehindStaysAsItWas(t *testing.T) {
	t.Parallel()
	n, key, own := payer(t)
	old, err1 := n.Pay(toBase58(own), 1_000_000)
	err2 := n.Mine(1)
	waiting, err3 := n.PayToken(n.Token(), toBase58(own), big.NewInt(5))
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	questions := map[string]object{
		"/wallet/getnowblock": nil, "/walletsolidity/getnowblock": nil, "/wallet/getblockbylatestnum": {"num": 9},
		"/wallet/getblockbynum": {"num": n.Height() + 1}, "/walletsolidity/getblockbynum": {"num": n.Height()},
		"/wallet/gettransactioninfobyid": {"value": old}, "/wallet/gettransactionbyid": {"value": waiting},
		"/wallet/gettransactionlistfrompending": nil, "/wallet/gettransactioninfobyblocknum": {"num": n.Height()},
		"/wallet/getaccount": {"address": toBase58(own)}, "/walletsolidity/getaccount": {"address": toBase58(own)},
		"/wallet/getnodeinfo": nil,
		"/wallet/triggerconstantcontract": {"owner_address": toBase58(own), "contract_address": n.Token(), "visible": true,
			"function_selector": "balanceOf(address)",
			"parameter":         hex.EncodeToString(callAddress("balanceOf(address)", own)[4:])},
	}
	present, past := n.handler(), n.Behind()
	before := map[string]string{}
	for path, params := range questions {
		before[path] = answerOf(t, present, path, params)
	}
	if _, err := n.Pay(toBase58(own), 7_000_000); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(2); err != nil {
		t.Fatal(err)
	}
	if err := n.Reorg(3, []string{old}); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(6); err != nil {
		t.Fatal(err)
	}
	for path, params := range questions {
		if got := answerOf(t, past, path, params); got != before[path] {
			t.Errorf("%s changed from %s to %s", path, before[path], got)
		}
		if path != "/wallet/gettransactionlistfrompending" && answerOf(t, present, path, params) == before[path] {
			t.Errorf("%s answers the same for the past and the present", path)
		}
	}
	tx := &transaction{kind: transfer, owner: own, to: n.bank, amount: 1_000}
	n.anchor(tx)
	built, err := tx.build(key)
	if err != nil {
		t.Fatal(err)
	}
	if answer := answerOf(t, past, "/wallet/broadcasthex",
		object{"transaction": hex.EncodeToString(built.bytes)}); !strings.Contains(answer, `"SUCCESS"`) {
		t.Errorf("the transaction is not forwarded: %s", answer)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	if _, mined := n.places[built.id]; !mined {
		t.Error("a transaction sent to the node that is behind is in no block")
	}
}
