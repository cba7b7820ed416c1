package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
)

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
