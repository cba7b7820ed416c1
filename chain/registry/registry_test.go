package registry_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

// Every currency of the interface lives on a chain that is listed, with the decimals of its native asset, and tokens
// only where the chain's contracts can be read.
func TestEveryStandardCurrencyHasItsChain(t *testing.T) {
	t.Parallel()
	native := map[bursar.ChainID]bool{}
	for _, c := range bursar.Standard() {
		d := registry.Of(c.Chain)
		if d.ID != c.Chain || d.New == nil {
			t.Errorf("%s is on %s, which is not listed", c.Code, c.Chain)
		}
		if c.IsToken() {
			text, err := d.Contract(c.Contract)
			if err != nil || text != c.Contract {
				t.Errorf("%s: its contract %s reads as %s (%v)", c.Code, c.Contract, text, err)
			}
			continue
		}
		native[c.Chain] = true
		if c.Decimals != d.Decimals {
			t.Errorf("%s has %d decimals, its chain's native asset %d", c.Code, c.Decimals, d.Decimals)
		}
	}
	if all := registry.All(); len(all) != len(native) || len(all) != len(registry.IDs()) {
		t.Errorf("%d chains are listed, and %d have a native currency", len(all), len(native))
	}
}

// A chain's amounts can be read with its decimals, and its family has keys.
func TestDefinitionsAreSound(t *testing.T) {
	t.Parallel()
	paths := chain.KeyPaths()
	for _, d := range append(registry.All(), registry.Of("another")) {
		if _, err := bursar.ParseDecimal(d.MaxFee, d.Decimals); err != nil {
			t.Errorf("%s: the highest fee %q: %v", d.ID, d.MaxFee, err)
		}
		if _, err := bursar.ParseDecimal(d.MaxFeeRate, d.RateDecimals); d.MaxFeeRate != "" && err != nil {
			t.Errorf("%s: the highest fee rate %q: %v", d.ID, d.MaxFeeRate, err)
		}
		if _, has := paths[d.Family]; !has {
			t.Errorf("%s: the family %s has no keys", d.ID, d.Family)
		}
		if d.Family == chain.FamilyEVM && d.ID != "another" && d.ChainIDs[chain.Mainnet] == 0 {
			t.Errorf("%s has no chain id on the main network", d.ID)
		}
	}
}

// What an operator names is a chain of Ethereum's kind.
func TestAnotherChainIsOfEthereumsKind(t *testing.T) {
	t.Parallel()
	if d := registry.Of("another"); d.ID != "another" || d.Family != chain.FamilyEVM || d.Decimals != 18 {
		t.Errorf("it is %+v", d)
	}
}
