package service

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

const (
	usdtPolygon = "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"
	usdtTron    = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
)

// spelt returns a configuration with two contracts in some spelling, the first of Polygon and the second of Tron.
func spelt(t *testing.T, polygon, tron string) config.Config {
	t.Helper()
	cfg, err := config.Parse("bursar.yaml",
		[]byte("chains: {polygon: {rpc: 'http://127.0.0.1:1'}, tron: {rpc: 'http://127.0.0.1:1'}}\ncurrencies:\n"+
			"  USDT-MATIC: {contract: \""+polygon+"\", hourly_limit: 100}\n  USDT: {contract: \""+tron+
			"\", hourly_limit: 100}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A contract is the same in every valid spelling: in the registry, for the adapter and for the signer's limits.
func TestContractsAreTheSameInEverySpelling(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Mainnet)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ polygon, tron string }{
		{usdtPolygon, usdtTron},
		{strings.ToLower(usdtPolygon), "41a614f803b6fd780986a42c78ec9c7f77e6ded13c"},
		{"0xC2132D05D31C914A87C6611C10748AEB04B58E8F", "41A614F803B6FD780986A42C78EC9C7F77E6DED13C"},
		{usdtPolygon, "0x41a614f803b6fd780986a42c78ec9c7f77e6ded13c"},
	} {
		cfg, err := host.Canonical(spelt(t, test.polygon, test.tron))
		if err != nil {
			t.Errorf("%v: %v", test, err)
			continue
		}
		parts, err := connector{network: cfg.Network, keys: keys, registry: cfg.Registry}.all(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		limits := policies(parts, cfg.Registry, cfg.Network)
		for id, want := range map[bursar.ChainID]string{"polygon": usdtPolygon, "tron": usdtTron} {
			if c, found := cfg.Registry.Asset(id, want); !found || !c.IsToken() {
				t.Errorf("%v: the registry does not know %s", test, want)
			}
			if got := limits[id].Payments[want].Hour; got != bursar.Units(100_000_000) || len(limits[id].Payments) != 1 {
				t.Errorf("%v: the signer limits %v, want %v and 1 of them", test, limits[id].Payments, bursar.Units(100_000_000))
			}
		}
	}
}

// Opening a service, or a signer, makes contracts canonical.
func TestOpeningIsCanonical(t *testing.T) {
	t.Parallel()
	registry, err := host.Usable(spelt(t, strings.ToLower(usdtPolygon), "41a614f803b6fd780986a42c78ec9c7f77e6ded13c"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[bursar.ChainID]string{"polygon": usdtPolygon, "tron": usdtTron} {
		if _, found := registry.Asset(id, want); !found {
			t.Errorf("the registry does not know %s", want)
		}
	}
}

// An invalid contract stops the start with its line, and so does one contract in two spellings.
func TestInvalidContractsNameTheirLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ polygon, tron, want string }{
		{"0xC2132D05D31c914a87C6611C10748AEb04B58e8F", usdtTron,
			"bursar.yaml:3: currencies.USDT-MATIC.contract: this is not a contract of polygon: "},
		{usdtPolygon, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T",
			"bursar.yaml:4: currencies.USDT.contract: this is not a contract of tron: "},
		{usdtPolygon, usdtPolygon, "bursar.yaml:4: currencies.USDT.contract: this is not a contract of tron: "},
		{usdtPolygon, usdtTron +
			"\", minimum: 1}\n  TWICE: {chain: tron, decimals: 6, minimum: 1, contract: " +
			"\"41a614f803b6fd780986a42c78ec9c7f77e6ded13c",
			"bursar.yaml:5: currencies.TWICE.contract: it is the same asset as USDT: "},
	} {
		_, err := host.Canonical(spelt(t, test.polygon, test.tron))
		var mistakes config.Mistakes
		if !errors.As(err, &mistakes) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s and %s give %v, want %s", test.polygon, test.tron, err, test.want)
		}
		if _, err := host.Usable(spelt(t, test.polygon, test.tron)); err == nil {
			t.Errorf("%s and %s open, want an error", test.polygon, test.tron)
		}
	}
}

func TestAnUnknownProviderNamesItsLine(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("bursar.yaml",
		[]byte("chains:\n  tron:\n    rpc: http://127.0.0.1:1\n    provider: trongird\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = host.Canonical(cfg); err == nil ||
		!strings.HasPrefix(err.Error(),
			`bursar.yaml:4: chains.tron.provider: "trongird" is unknown; allowed are none, alchemy, `) {
		t.Errorf("got %v", err)
	}
}
