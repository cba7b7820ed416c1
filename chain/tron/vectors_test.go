package tron

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

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
	Transactions []transactionVector
}

type transactionVector struct {
	ID, Kind, TxID, Signature string
	Owner, To, Contract, Data string
	PrivateKey                string `json:"private_key"`
	RefBytes                  string `json:"ref_block_bytes"`
	RefHash                   string `json:"ref_block_hash"`
	Raw                       string `json:"raw_data_hex"`
	Timestamp, Expiration     uint64
	FeeLimit                  uint64 `json:"fee_limit"`
	Amount                    string
	AmountSun                 uint64 `json:"amount_sun"`
	Memo                      string
	Header                    *struct {
		Number uint64
		Parent string `json:"parent_hash"`
		Root   string `json:"tx_trie_root"`
	} `json:"block_header"`
}

func loadVectors(t testing.TB) (v vectors) {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	// Some vectors have an object where others have a text: textual reads those.
	var loose struct {
		Addresses, Keys json.RawMessage
		Transactions    []map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &loose); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.Unmarshal(loose.Addresses, &v.Addresses), json.Unmarshal(loose.Keys, &v.Keys)); err != nil {
		t.Fatal(err)
	}
	for _, fields := range loose.Transactions {
		v.Transactions = append(v.Transactions, flattened(t, fields))
	}
	if len(v.Addresses) < 4 || len(v.Keys) < 1 || len(v.Transactions) < 7 {
		t.Fatalf("%d addresses, %d keys, %d transactions", len(v.Addresses), len(v.Keys), len(v.Transactions))
	}
	return v
}

// flattened converts both forms of transaction vectors into one.
func flattened(t testing.TB, fields map[string]json.RawMessage) (v transactionVector) {
	t.Helper()
	var parts struct {
		Owner    string `json:"owner_address"`
		Contract string `json:"contract_address"`
		To       string `json:"to_address"`
		Amount   uint64
		Data     string
	}
	if bytes.HasPrefix(bytes.TrimSpace(fields["contract"]), []byte("{")) {
		if err := json.Unmarshal(fields["contract"], &parts); err != nil {
			t.Fatal(err)
		}
		delete(fields, "contract")
		var tx map[string]json.RawMessage
		if err := json.Unmarshal(fields["tx"], &tx); err != nil {
			t.Fatal(err)
		}
		for key, value := range tx {
			fields[key] = value
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if parts.Owner != "" {
		v.Owner, v.Contract, v.To, v.AmountSun, v.Data = parts.Owner, parts.Contract, parts.To, parts.Amount, parts.Data
	}
	return v
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// rulesOf returns a private network with tokens.
func rulesOf(t testing.TB, tokens ...string) *Rules {
	t.Helper()
	cfg := Config{}
	for _, token := range tokens {
		cfg.Tokens = append(cfg.Tokens, Token{Contract: token, Decimals: 6})
	}
	r, err := NewRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func addressFrom(t testing.TB, text string) address {
	t.Helper()
	a, err := parseAddress(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return a
}

func TestAddressVectors(t *testing.T) {
	t.Parallel()
	v, r := loadVectors(t), rulesOf(t)
	for _, vector := range v.Addresses {
		got, err := r.ParseAddress(vector.Address)
		if (err == nil) != vector.Valid || err != nil && !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%s (%s): %v", vector.Address, vector.Source, err)
		}
		if vector.Valid && got.Base != vector.Address {
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

// All forms mean the same address.
func TestParseAddress(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	const right, plain = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC", "415cd0fb0ab3ce40f3051414c604b27756e69e43db"
	for text, want := range map[string]string{
		right: right, plain: right, strings.ToUpper(plain): right,
		"": "", "T": "", plain[2:]: "", "0x" + plain[2:]: "", "0x" + plain: right, "0X" + strings.ToUpper(plain): right,
		"0x" + right: "", right + "1": "", right[:33]: "", " " + right: "",
		right + "\n": "", right + ":1": "", strings.ToLower(right): "", strings.Replace(right, "W", "V", 1): "",
		"a0" + plain[2:]: "", "41" + strings.Repeat("0", 40): "", "41" + strings.Repeat("g", 40): "",
		"T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb": "", "27ZESitosJfKouTBrGg6Nk5yEjnJHXMbkZp": "", strings.Repeat("é", 17): "",
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
