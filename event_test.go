package bursar_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/wire"
)

func TestEventBodiesHaveTheContractedShape(t *testing.T) {
	c := bursar.Currency{Code: "BTC", Decimals: 8, Places: 8}
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, WalletID: bursar.ID{3}, Purpose: bursar.ForWallet,
		Currency: "BTC", TxID: "t",
		Address: bursar.Address{Base: "bc1"}, Amount: bursar.Units(150_000_000), Status: bursar.DepositConfirmed, Height: 7,
		Webhook: "https://x", Metadata: "<&>"}
	e, err := wire.DepositEvent(bursar.Rate{}, bursar.ID{9}, bursar.EventDeposit, d, c,
		wire.ConfirmationContext{Latest: 9, Required: 3},
		time.Unix(0, 0).UTC())
	if err != nil || e.URL != "https://x" {
		t.Fatal(err)
	}
	for _, part := range []string{`{"success":true,"response":{"webhook":{"accountID":"02000000-0000-0000-0000-000000000000","type":"wallet","event":"deposit","eventID":"09000000-`,
		`"hashID":"t"`, `"amount":"1.50000000"`, `"fee":"0.00000000"`, `"confirmations":3`, `"walletID":"03000000-`} {
		if !bytes.Contains(e.Body, []byte(part)) {
			t.Errorf("the body lacks %s:\n%s", part, e.Body)
		}
	}
	if bytes.Contains(e.Body, []byte("https://x")) {
		t.Error("the body contains the receiver's own URL")
	}
}
