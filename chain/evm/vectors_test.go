package evm

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// vectors are known answers; each names its source.
type vectors struct {
	Addresses []struct {
		Address, Source string
		Valid           bool
	}
	Keys []struct {
		ID, Address, Source string
		PrivateKey          string `json:"private_key"`
	}
	Transactions []struct {
		ID, To, Data, Source string
		ChainID              uint64 `json:"chain_id"`
		Nonce                uint64
		Gas                  uint64 `json:"gas_limit"`
		MaxFee               string `json:"max_fee"`
		MaxTip               string `json:"max_tip"`
		Value                string `json:"value_wei"`
		PrivateKey           string `json:"private_key"`
		Raw                  string `json:"signed_raw"`
	}
}

func loadVectors(t testing.TB) (v vectors) {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func decimal(t testing.TB, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("number %q", text)
	}
	return n
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// rulesOf returns a chain with one token.
func rulesOf(t testing.TB, chainID uint64, token string) *Rules {
	t.Helper()
	cfg := Ethereum()
	cfg.ChainID = chainID
	if token != "" {
		cfg.Tokens = []Token{{Contract: token, Decimals: 18}}
	}
	r, err := NewRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAddressVectors(t *testing.T) {
	t.Parallel()
	v := loadVectors(t)
	r := rulesOf(t, 1, "")
	for _, vector := range v.Addresses {
		got, err := r.ParseAddress(vector.Address)
		if (err == nil) != vector.Valid || err != nil && !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%s (%s): %v", vector.Address, vector.Source, err)
		}
		if vector.Valid && !strings.EqualFold(got.Base, vector.Address) {
			t.Errorf("%s becomes %s", vector.Address, got.Base)
		}
	}
	for _, vector := range v.Keys {
		key, err := crypto.ToECDSA(unhex(t, vector.PrivateKey))
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Address(crypto.CompressPubkey(&key.PublicKey), 0)
		if err != nil || got.Base != vector.Address {
			t.Errorf("%s: %s, %v, want %s", vector.ID, got, err, vector.Address)
		}
	}
	if _, err := r.Address(make(chain.PublicKey, 33), 0); err == nil {
		t.Error("an address was made without a key")
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	r := rulesOf(t, 1, "")
	const right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	for text, want := range map[string]string{
		right: right, strings.ToLower(right): right, "0x" + strings.ToUpper(right[2:]): right,
		"0X" + right[2:]: "", right[2:]: "", right + "0": "", right[:41]: "", " " + right: "", right + "\n": "",
		"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed": "", "0x" + strings.Repeat("0", 40): "", "": "",
		"0x" + strings.Repeat("g", 40): "", right + ":1": "", "0x" + strings.Repeat("é", 20): "",
	} {
		got, err := r.ParseAddress(text)
		if got.Base != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%q: %q, %v, want %q", text, got.Base, err, want)
		}
		contract, err := r.ParseContract(text)
		if contract != want || (err == nil) != (want != "") {
			t.Errorf("contract %q: %q, %v, want %q", text, contract, err, want)
		}
	}
}

// TestTransactionVectors signs each vector's transaction through an unsigned transaction and compares the bytes.
// Transactions with call data other than a token transfer are sealed below Inspect, which refuses them.
func TestTransactionVectors(t *testing.T) {
	t.Parallel()
	whole := 0
	for _, vector := range loadVectors(t).Transactions {
		key, err := crypto.ToECDSA(unhex(t, vector.PrivateKey))
		if err != nil {
			t.Fatal(err)
		}
		r := rulesOf(t, vector.ChainID, strings.ToLower(vector.To))
		to, err := parseAddress(strings.ToLower(vector.To))
		if err != nil {
			t.Fatal(err)
		}
		source := chain.Source{Key: chain.Hot("evm"), Base: address(crypto.PubkeyToAddress(key.PublicKey)).String()}
		unsigned, err := r.pack(payload{
			ChainID: vector.ChainID, Nonce: vector.Nonce, Tip: decimal(t, vector.MaxTip), MaxFee: decimal(t, vector.MaxFee),
			Gas: vector.Gas, To: to, Value: decimal(t, vector.Value), Data: unhex(t, vector.Data),
		}, source)
		if err != nil {
			t.Fatal(err)
		}
		want := unhex(t, vector.Raw)
		var reference types.Transaction
		if err := reference.UnmarshalBinary(want); err != nil {
			t.Fatal(err)
		}
		e, p, err := r.unpack(unsigned)
		if err != nil {
			t.Fatal(err)
		}
		digest := types.LatestSignerForChainID(reference.ChainId()).Hash(&reference)
		signature, err := crypto.Sign(digest[:], key)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := seal(e, p, signature)
		if err != nil || hex.EncodeToString(tx.Raw) != vector.Raw || tx.TxID != reference.Hash().Hex() {
			t.Errorf("%s: %x, %v\nwant %s", vector.ID, tx.Raw, err, vector.Raw)
		}
		contents, err := r.Inspect(unsigned)
		if _, _, token := readTransfer(unhex(t, vector.Data)); !token {
			if !errors.Is(err, errUnsigned) {
				t.Errorf("%s: call data that is not a transfer was accepted: %+v", vector.ID, contents)
			}
			continue
		}
		whole++
		assembled, err := r.Assemble(chain.UnsignedTx{Bytes: unsigned}, [][]byte{signature})
		if err != nil || hex.EncodeToString(assembled.Raw) != vector.Raw || hash(contents.Inputs[0].Digest) != hash(digest) {
			t.Errorf("%s: %+v, %v", vector.ID, assembled, err)
		}
		payment := chain.Payment{
			Address:  bursar.Address{Base: common.HexToAddress("0x5322b34c88ed0691971bf52a7047448f0f4efc84").Hex()},
			Contract: to.String(), Amount: bursar.Units(2e18),
		}
		if contents.Payments[0] != payment || contents.Fee != bursar.Units(78009*3*gwei) || contents.Weight != 78009 ||
			contents.Inputs[0].Source != source {
			t.Errorf("%s: inspected as %+v", vector.ID, contents)
		}
	}
	if whole == 0 {
		t.Error("no vector was signed")
	}
}
