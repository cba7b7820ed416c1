package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/wire"
)

// TestEventsAreAsDescribed compares the body of every kind of event with the webhooks of the spec.
func TestEventsAreAsDescribed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	btc, err := registry.Get("BTC")
	if err != nil {
		t.Fatal(err)
	}
	d := bursar.Deposit{ID: bursar.ID{1}, Purpose: bursar.ForWallet, AccountID: bursar.ID{2}, WalletID: bursar.ID{3},
		Currency: "BTC", Chain: btc.Chain, TxID: "ab",
		Address: bursar.Address{Base: "bc1q"}, Amount: bursar.Units(5), Status: bursar.DepositConfirmed, Height: 7,
		SeenAt: now, ConfirmedAt: now, Webhook: "https://shop.example"}
	charged, bare := d, d
	charged.Purpose = bursar.ForCharge
	bare.Purpose, bare.WalletID = bursar.ForAccount, bursar.ID{}
	made := map[string][]bursar.Event{}
	add := func(name string, e bursar.Event, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		made[name] = append(made[name], e)
	}
	for name, kind := range map[string]bursar.EventKind{"deposit": bursar.EventDeposit,
		"depositPending": bursar.EventDepositPending, "depositReversed": bursar.EventDepositReversed} {
		for _, one := range []bursar.Deposit{d, charged, bare} {
			e, err := wire.DepositEvent(bursar.Rate{}, bursar.ID{4}, kind, one, btc,
				wire.ConfirmationContext{Latest: 9, Required: 3}, now)
			add(name, e, err)
		}
	}
	paid, err := wire.DepositEvent(bursar.Rate{}, bursar.ID{4}, bursar.EventPaid, charged, btc,
		wire.ConfirmationContext{}, now)
	add("paid", paid, err)
	sum := &bursar.InvoiceDetail{Invoice: bursar.Invoice{ID: bursar.ID{6}, Unit: bursar.UnitOf(btc),
		Required: bursar.Units(5), Late: bursar.HandlingReview, Other: bursar.HandlingReview, RateLock: time.Minute,
		CreatedAt: now, Expires: now.Add(time.Hour), Recorded: bursar.InvoiceRecord{Version: 1}},
		Options:  []bursar.InvoiceOption{{Currency: "BTC", Wallet: 3, WalletID: bursar.ID{3}, Address: d.Address}},
		Payments: []bursar.Payment{{Deposit: d, Rate: bursar.Par(), Decimals: 8, Places: 8}}}
	for _, kind := range append(bursar.InvoiceEvents(), bursar.EventPaid, bursar.EventLate, bursar.EventChargeReversed,
		bursar.EventAttention) {
		e, err := wire.InvoiceEvent(bursar.ID{4}, kind, sum, sum.State(now), registry, now)
		add("charge", e, err)
	}
	for _, status := range []bursar.WithdrawalStatus{bursar.WithdrawalQueued, bursar.WithdrawalFailed} {
		w := bursar.Withdrawal{ID: bursar.ID{5}, Currency: "BTC", Amount: bursar.Units(1),
			Address: bursar.Address{Base: "bc1q"}, Status: status, CreatedAt: now}
		e, err := wire.WithdrawalEvent(bursar.ID{4}, "https://shop.example", w, btc, now)
		add("withdrawal", e, err)
	}
	test, err := webhook.TestEvent(bursar.ID{4}, bursar.ID{2}, "https://shop.example", now)
	add("test", test, err)

	s := theSpec(t)
	for name, hook := range s.Webhooks {
		if len(made[name]) == 0 {
			t.Errorf("no code makes %s", name)
		}
		for _, e := range made[name] {
			var body any
			if err := json.Unmarshal(e.Body, &body); err != nil {
				t.Fatal(err)
			}
			schema := hook.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
			if err := schema.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
				t.Errorf("%s: %v\n%s", name, err, e.Body)
			}
		}
	}
	if len(made) != len(s.Webhooks) {
		t.Errorf("the spec has %d webhooks, %d kinds are made", len(s.Webhooks), len(made))
	}
}
