package bursar_test

import (
	"bytes"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/wire"
)

func TestIDsIncreaseAndAreVersion7(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	ids := bursar.NewIDs(func() time.Time { return at }, rand.Reader)
	var last bursar.ID
	for range 10_000 {
		id := ids.Next()
		if bytes.Compare(last[:], id[:]) >= 0 {
			t.Fatalf("%s does not follow %s", id, last)
		}
		last = id
	}
	text := last.String()
	if text[14] != '7' || !bytes.ContainsRune([]byte("89ab"), rune(text[19])) {
		t.Errorf("%s is not a version 7 UUID", text)
	}
	if back, err := bursar.ParseID(text); err != nil || back != last {
		t.Errorf("%s is read back as %s, %v, want %v", text, back, err, last)
	}
	for _, bad := range []string{"", text[1:], text + "0", "{" + text[:34] + "}", text[:8] + "_" + text[9:],
		"g" + text[1:]} {
		if _, err := bursar.ParseID(bad); err == nil {
			t.Errorf("%q is taken for a UUID, want an error", bad)
		}
	}
}

func TestIDsAreUniqueAcrossGoroutines(t *testing.T) {
	ids := bursar.NewIDs(time.Now, nil)
	var mu sync.Mutex
	seen := map[bursar.ID]bool{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 1000 {
				id := ids.Next()
				mu.Lock()
				if seen[id] {
					t.Error("an id was made twice")
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
}

func TestAddressesWithMemos(t *testing.T) {
	for text, want := range map[string]bursar.Address{
		"r": {Base: "r"}, "r:0": {Base: "r", HasMemo: true}, "r:4294967295": {Base: "r", Memo: 1<<32 - 1, HasMemo: true},
	} {
		if got, err := bursar.SplitMemo(text); err != nil || got != want || got.String() != text {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"r:", "r:01", "r:-1", "r:4294967296", "r:1:2", "r:+1", "r: 1"} {
		if _, err := bursar.SplitMemo(bad); err == nil {
			t.Errorf("%q is accepted, want an error", bad)
		}
	}
}

func TestTheStandardCurrenciesAreThoseOfTheAPI(t *testing.T) {
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	places := map[bursar.CurrencyCode]int{"BTC": 8, "ETH": 8, "LTC": 8, "BNB": 8, "SOL": 8, "MATIC": 2, "XRP": 2, "TRX": 2,
		"USDT": 2, "USDT-MATIC": 2, "USDC-MATIC": 2}
	if len(registry.All()) != len(places) {
		t.Fatalf("%d currencies, want %v of them", len(registry.All()), len(places))
	}
	for code, want := range places {
		c, err := registry.Get(code)
		if err != nil || c.Places != want || c.Minimum.IsZero() || c.WithdrawalMinimum.IsZero() {
			t.Errorf("%s: %+v, %v, want %v and not zero", code, c, err, want)
		}
	}
	if _, err := registry.Get("btc"); err == nil {
		t.Error("codes are taken in another case, want an error")
	}
	if _, found := registry.Asset(bursar.Polygon, "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"); !found {
		t.Error("a token is not found by its contract")
	}
}

func TestARegistryRefusesContradictions(t *testing.T) {
	good := bursar.Currency{Code: "A", Chain: "c", Decimals: 8, Places: 8}
	for name, list := range map[string][]bursar.Currency{
		"a code twice":       {good, good},
		"an asset twice":     {good, {Code: "B", Chain: "c", Decimals: 8}},
		"places > decimals":  {{Code: "A", Chain: "c", Decimals: 2, Places: 3}},
		"no chain":           {{Code: "A", Decimals: 2}},
		"too many decimals":  {{Code: "A", Chain: "c", Decimals: 39}},
		"negative decimals?": {{Code: "A", Chain: "c", Decimals: -1, Places: -1}},
	} {
		if _, err := bursar.NewRegistry(list); err == nil {
			t.Errorf("%s is accepted, want an error", name)
		}
	}
}

// An amount for an operator never fails to be written, also for a currency that is no longer configured.
func TestAmountsAreWrittenWithTheirCode(t *testing.T) {
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "BTC", Chain: "bitcoin", Decimals: 8, Places: 8},
		{Code: "USDT", Chain: "tron", Contract: "token", Decimals: 6, Places: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{
		"0.60000000 BTC":                      registry.Text("BTC", bursar.Units(60_000_000)),
		"1.50 USDT":                           registry.Text("USDT", bursar.Units(1_500_000)),
		"0.000001 USDT":                       registry.AssetText("tron", "token", bursar.Units(1)),
		"0.00000001 BTC":                      registry.AssetText("bitcoin", "", bursar.Units(1)),
		"7 units of OLD":                      registry.Text("OLD", bursar.Units(7)),
		"7 units of the contract old":         registry.AssetText("tron", "old", bursar.Units(7)),
		"7 units of the native asset of tron": registry.AssetText("tron", "", bursar.Units(7)),
	} {
		if got != want {
			t.Errorf("the amount is written as %q, want %q", got, want)
		}
	}
}

func TestStatusesMoveAlongTheirTables(t *testing.T) {
	for _, c := range []struct {
		allowed bool
		name    string
	}{
		{bursar.DepositPending.MayBecome(bursar.DepositConfirmed), "pending → confirmed"},
		{bursar.DepositConfirmed.MayBecome(bursar.DepositReversed), "confirmed → reversed"},
		{bursar.DepositReversed.MayBecome(bursar.DepositPending), "reversed → pending"},
		{!bursar.DepositBelowMinimum.MayBecome(bursar.DepositConfirmed), "below minimum → confirmed"},
		{!bursar.DepositConfirmed.MayBecome(bursar.DepositPending), "confirmed → pending"},
		{bursar.WithdrawalQueued.MayBecome(bursar.WithdrawalSigned), "queued → signed"},
		{!bursar.WithdrawalBroadcast.MayBecome(bursar.WithdrawalCancelled), "broadcast → cancelled"},
		{bursar.WithdrawalBroadcast.MayBecome(bursar.WithdrawalQueued), "broadcast → queued"},
		{!bursar.WithdrawalConfirmed.MayBecome(bursar.WithdrawalFailed), "confirmed → failed"},
		{!bursar.WithdrawalFailed.MayBecome(bursar.WithdrawalConfirmed), "failed → confirmed"},
		{!bursar.OutgoingSigned.MayBecome(bursar.OutgoingNew), "signed → new"},
		{!bursar.OutgoingAbandoned.MayBecome(bursar.OutgoingSent), "abandoned → sent"},
	} {
		if !c.allowed {
			t.Errorf("%s", c.name)
		}
	}
}

func TestAChargeIsPaidInTimeAndInFull(t *testing.T) {
	end := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	c := bursar.Charge{Minimum: bursar.Units(10), Expires: end}
	for _, test := range []struct {
		units uint64
		seen  time.Time
		paid  bool
	}{{10, end.Add(-1), true}, {9, end.Add(-1), false}, {10, end, false}, {11, end.Add(-time.Hour), true}} {
		if got := c.PaidWith(bursar.Units(test.units), test.seen); got != test.paid {
			t.Errorf("%d units seen %s before its end: paid %v, want %v", test.units, end.Sub(test.seen), got, test.paid)
		}
	}
	if c.Expired(end.Add(-1)) || !c.Expired(end) {
		t.Error("it does not expire at its end")
	}
	c.PaidBy = bursar.ID{1}
	if c.Expired(end) || c.PaidWith(bursar.Units(10), end.Add(-1)) {
		t.Error("a paid charge expires or is paid again")
	}
}

func TestEventBodiesHaveTheContractedShape(t *testing.T) {
	c := bursar.Currency{Code: "BTC", Decimals: 8, Places: 8}
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, WalletID: bursar.ID{3}, Purpose: bursar.ForWallet,
		Currency: "BTC", TxID: "t",
		Address: bursar.Address{Base: "bc1"}, Amount: bursar.Units(150_000_000), Status: bursar.DepositConfirmed, Height: 7,
		Webhook: "https://x", Metadata: "<&>"}
	e, err := wire.DepositEvent(bursar.ID{9}, bursar.EventDeposit, d, c, wire.ConfirmationContext{Latest: 9, Required: 3},
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
