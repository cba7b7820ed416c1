package client_test

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
)

// A client that signs its orders signs its refunds: of exactly the amount and the address that it sends.
func TestARefundIsSigned(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public, err := orderkey.New(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Order, Amount, Address string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("the body: %v, want JSON", err)
		}
		signature, err := orderkey.ParseSignature(r.Header.Get(orderkey.Header))
		if err == nil {
			err = public.Verify(body.Order, signature)
		}
		o, parsed := approval.ParseOrder(body.Order)
		if err != nil || parsed != nil || o.Units != bursar.Units(150_000_000) || o.To.Base != body.Address ||
			o.MaxFee != bursar.Units(7) {
			t.Errorf("the order is %+v (%v, %v), want 1.5 to %s, signed", o, parsed, err, body.Address)
		}
		texts = append(texts, body.Order)
		if _, err := w.Write([]byte(`{"success":true,"response":{"charge":{},"withdrawal":{}}}`)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c, err := client.New(client.Config{BaseURL: server.URL, Key: "k", Secret: "s", Orders: &client.Orders{Key: key,
		Account: "0193a6a0-0000-7000-8000-000000000000", Instance: "I",
		Assets: map[string]client.Asset{"BTC": {Chain: "bitcoin", Decimals: 8}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := client.Refund{ChargeID: "c", DepositID: "d", Address: "b", Amount: "1.5", Currency: "BTC", MaxFee: "7",
		IdempotencyKey: "refund 1", Created: at}
	for range 2 {
		if _, _, err := c.RefundCharge(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if len(texts) != 2 || texts[0] != texts[1] {
		t.Errorf("the orders are %q, want the same twice", texts)
	}
	for _, lacking := range []client.Refund{{Currency: "BTC", Part: "all"}, {Amount: "1"}} {
		if _, _, err := c.RefundCharge(t.Context(), lacking); err == nil ||
			!strings.Contains(err.Error(), "Amount and Currency") {
			t.Errorf("%+v: got %v, want that Amount and Currency are needed", lacking, err)
		}
	}
}
