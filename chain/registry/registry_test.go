package registry_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

// Every currency of the API is on a listed chain and has the decimals of the chain's native asset; a token's contract
// can be read.
func TestEveryStandardCurrencyHasItsChain(t *testing.T) {
	t.Parallel()
	native := map[bursar.ChainID]bool{}
	for _, c := range bursar.Standard() {
		d := registry.Of(c.Chain)
		if d.ID != c.Chain || d.New == nil {
			t.Errorf("%s is on the chain %s, which is not listed", c.Code, c.Chain)
		}
		if c.IsToken() {
			text, err := d.Contract(c.Contract)
			if err != nil || text != c.Contract {
				t.Errorf("%s: the contract %s is read as %s (%v), want itself", c.Code, c.Contract, text, err)
			}
			continue
		}
		native[c.Chain] = true
		if c.Decimals != d.Decimals {
			t.Errorf("%s has %d decimals, want %d as its chain's native asset", c.Code, c.Decimals, d.Decimals)
		}
	}
	if all := registry.All(); len(all) != len(native) || len(all) != len(registry.IDs()) {
		t.Errorf("%d chains are listed, %d have a native currency, want as many", len(all), len(native))
	}
}

// The fee bounds of every chain can be read with its decimals, and its family has key paths.
func TestFeeBoundsAndKeyPathsOfEveryChainAreValid(t *testing.T) {
	t.Parallel()
	paths := chain.KeyPaths()
	for _, d := range append(registry.All(), registry.Of("another")) {
		if _, err := bursar.ParseDecimal(d.MaxFee, d.Decimals); err != nil {
			t.Errorf("%s: parse MaxFee %q: %v", d.ID, d.MaxFee, err)
		}
		if _, err := bursar.ParseDecimal(d.MaxFeeRate, d.RateDecimals); d.MaxFeeRate != "" && err != nil {
			t.Errorf("%s: parse MaxFeeRate %q: %v", d.ID, d.MaxFeeRate, err)
		}
		if _, has := paths[d.Family]; !has {
			t.Errorf("%s: the family %s has no key path", d.ID, d.Family)
		}
		if d.Family == chain.FamilyEVM && d.ID != "another" && d.ChainIDs[chain.Mainnet] == 0 {
			t.Errorf("%s has no chain id on the main network", d.ID)
		}
	}
}

// A chain that an operator names is an EVM chain.
func TestAChainThatIsNotBuiltInIsAnEVMChain(t *testing.T) {
	t.Parallel()
	if d := registry.Of("another"); d.ID != "another" || d.Family != chain.FamilyEVM || d.Decimals != 18 {
		t.Errorf("got %+v, want an EVM chain with 18 decimals", d)
	}
}
