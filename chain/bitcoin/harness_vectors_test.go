package bitcoin

import (
	"encoding/json"
	"os"
	"testing"
)

// vectors are known answers from public test suites; every entry names its source.
type vectors struct {
	FromMnemonic []struct {
		Coin, Script, Mnemonic, Passphrase, Path, Address, Source string
		PublicKey                                                 string `json:"public_key"`
	} `json:"address_from_mnemonic"`
	FromKey  []struct{ Coin, Address, Source string } `json:"key_to_address"`
	Validity []struct {
		Coin, Address, Source string
		Valid                 bool
		Script                string `json:"script_pubkey"`
	} `json:"address_validity"`
	Transactions []struct {
		Source   string
		Unsigned string `json:"unsigned_raw"`
		Signed   string `json:"signed_raw"`
		Inputs   []struct {
			SigHash    string
			Script     string `json:"script_pubkey"`
			Value      uint64 `json:"value_sat"`
			PrivateKey string `json:"private_key"`
		}
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func mainnet(t testing.TB) *Chain {
	t.Helper()
	return open(t, newFake(), func(cfg *Config) { cfg.Network = network(t, "main") })
}

// chainsOf returns an adapter for each currency of the vectors.
func chainsOf(t testing.TB) map[string]*Chain {
	t.Helper()
	chains := map[string]*Chain{"BTC": mainnet(t)}
	for symbol, name := range map[string]string{"LTC": "main", "LTC-testnet": "testnet4", "LTC-regtest": "regtest"} {
		chains[symbol] = open(t, newFake(), func(cfg *Config) { cfg.Network = litecoin(t, name) })
	}
	return chains
}

func network(t testing.TB, name string) Network {
	t.Helper()
	n, err := Bitcoin(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
