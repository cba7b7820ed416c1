package bitcoin

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/ltcsuite/ltcd/chaincfg"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestNetworksAreLitecoinCores(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]*chaincfg.Params{
		"main": &chaincfg.MainNetParams, "testnet4": &chaincfg.TestNet4Params, "regtest": &chaincfg.RegressionNetParams,
	} {
		n := litecoin(t, name)
		if n.HRP != params.Bech32HRPSegwit || n.PubKeyHash != params.PubKeyHashAddrID ||
			n.ScriptHash[0] != params.ScriptHashAddrID || n.Genesis != params.GenesisHash.String() {
			t.Errorf("%s is %+v, want %v and %v and %v and %v", name, n, params.Bech32HRPSegwit, params.PubKeyHashAddrID,
				params.ScriptHashAddrID, params.GenesisHash.String())
		}
		if btc := network(t, name); n.ScriptHash[1] != btc.ScriptHash[0] { // what P2SH addresses were before
			t.Errorf("%s has %v, want %v", name, n.ScriptHash, btc.ScriptHash[0])
		}
	}
	if _, err := Litecoin("signet"); err == nil {
		t.Error("an unknown network is accepted")
	}
}

func TestLitecoinAddresses(t *testing.T) {
	t.Parallel()
	c := chainsOf(t)["LTC"]
	for why, good := range map[string][2]string{
		"M":             {"MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2", "MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2"},
		"3, the old M":  {"3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "MQMHBtvnBfxTzt3K2bdxgSE7qZPHSXWsGM"},
		"L":             {"LgUPnP2UZxmFBJb8FDgNd5JcU9b7CNfrw1", "LgUPnP2UZxmFBJb8FDgNd5JcU9b7CNfrw1"},
		"ltc1":          {"ltc1qhd8fxxp2dx3vsmpac43z6ev0kllm4n53t5sk0u", "ltc1qhd8fxxp2dx3vsmpac43z6ev0kllm4n53t5sk0u"},
		"in upper case": {"LTC1QHD8FXXP2DX3VSMPAC43Z6EV0KLLM4N53T5SK0U", "ltc1qhd8fxxp2dx3vsmpac43z6ev0kllm4n53t5sk0u"},
	} {
		if got, err := c.ParseAddress(good[0]); err != nil || got.Base != good[1] {
			t.Errorf("%s: %s is %v (%v), want %s", why, good[0], got, err, good[1])
		}
	}
	for why, bad := range map[string]string{
		"of the extension":     "ltcmweb1qqg9kvfp6xcuk9juj7cxyjxpkp3z3e9ke24u5lty6sxg35hh8t6j57qmflsvkz7gpzqmwccvefh8eyc0pxneawfrruf7htpfdkats50jejgmtvhg8",
		"short, with its name": "ltcmweb1qqg9kvfp6xcuk9juj7cxyjxpkp3z3e9ke24u5lty6sxg35hh8",
		"Bitcoin's P2PKH":      "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA",
		"Bitcoin's segwit":     "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
		"of testnet":           "tltc1qpftpsvdn6mjp8celrkj0qxqy4jlapl959rlwg9",
	} {
		if got, err := c.ParseAddress(bad); !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%s: %q parses to %v (%v), want %v", why, bad, got, err, bursar.ErrBadAddress)
		}
	}
}

// TestInputsFromTheExtensionAreNotUTXOs reads litecoind's answer about a transaction's inputs if some are in the
// extension: they have neither an outpoint nor an amount, and are never taken for UTXOs.
func TestInputsFromTheExtensionAreNotUTXOs(t *testing.T) {
	t.Parallel()
	const known = `{"ismweb":false,"txid":"aa00000000000000000000000000000000000000000000000000000000000000","vout":1,
		"prevout":{"height":7,"value":1.5,"scriptPubKey":{"hex":"00"}}}`
	const hidden = `{"ismweb":true,"output_id":"bb00000000000000000000000000000000000000000000000000000000000000"}`
	spends := func(n int) *transaction {
		return &transaction{inputs: slices.Repeat([]input{{from: outpoint{index: 1, tx: [32]byte{31: 0xaa}}}}, n)}
	}
	for answer, test := range map[string]struct {
		tx   *transaction
		good bool
	}{
		"[" + known + "]":                {spends(1), true},
		"[" + known + "," + hidden + "]": {spends(2), false},
		"[" + hidden + "]":               {spends(1), false},
		"[" + known + "," + known + "]":  {spends(1), false},
	} {
		var inputs []inputInfo
		if err := json.Unmarshal([]byte(answer), &inputs); err != nil {
			t.Fatal(err)
		}
		outputs, good := fromUndo(test.tx, inputs)
		if good != test.good || good && (len(outputs) != 1 || outputs[0].value != 1.5e8) {
			t.Errorf("%s gives %+v (%v)", answer, outputs, good)
		}
	}
}

func TestLitecoinCapabilities(t *testing.T) {
	t.Parallel()
	c := chainsOf(t)["LTC"]
	capabilities := c.Capabilities()
	if capabilities.Family != "litecoin" || capabilities.Confirmations != 24 || capabilities.BumpAfter != 0 ||
		capabilities.Model != chain.UTXOModel {
		t.Errorf("capabilities are %+v, want %q and 24 and 0 and %v", capabilities, "litecoin", chain.UTXOModel)
	}
	braver := open(t, newFake(), func(cfg *Config) {
		cfg.Network, cfg.Confirmations, cfg.BumpAfter = litecoin(t, "main"), 6, 20
	}).Capabilities()
	if braver.Confirmations != 6 || braver.BumpAfter != 20 {
		t.Errorf("capabilities are %+v, want 6 and 20", braver)
	}
	if btc := mainnet(t).Capabilities(); btc.Confirmations != 3 || btc.BumpAfter != 6 {
		t.Errorf("Bitcoin's capabilities are %+v, want 3 and 6", btc)
	}
}
