package remote_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursar/bursar/chain"
)

// FuzzSign sends any body for a signature: none ends the process, and what is signed is what the body orders. A request
// is read and written again without a change.
func FuzzSign(f *testing.F) {
	b := newHarness(f)
	good, err := json.Marshal(map[string]any{"chain": "ethereum", "order": b.order, "draft": b.unsigned})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, seed := range []string{``, `{}`, `[]`, `{"chain":"ethereum"}`, `{"order":{"payments":[{},{}]}}`,
		`{"seen":{"instance":"I","number":-1,"hash":"zz","signature":"00"}}`} {
		f.Add([]byte(seed))
	}
	handler := b.server.Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, ask("/v1/sign", bytes.NewReader(body)))
		if w.Code != http.StatusOK {
			return
		}
		var asked struct {
			Order chain.TxRequest  `json:"order"`
			Draft chain.UnsignedTx `json:"draft"`
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Fatalf("%s is signed: %v", body, err)
		}
		text, err := json.Marshal(asked)
		again := asked
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		second, err2 := json.Marshal(again)
		if err != nil || err2 != nil || !bytes.Equal(text, second) {
			t.Fatalf("%s is written as %s, then as %s, want %x", body, text, second, second)
		}
		if len(asked.Order.Payments) != 1 || asked.Order.Payments[0] != b.order.Payments[0] {
			t.Fatalf("it signs %+v, want 1 of them and %v", asked.Order, b.order.Payments[0])
		}
	})
}
