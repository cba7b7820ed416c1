package tron

import (
	"bytes"
	"crypto/sha256"
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
		t.Fatalf("%d addresses, %d keys, %d transactions, want at least 4 and at least 1 and at least 7", len(v.Addresses),
			len(v.Keys), len(v.Transactions))
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

// payloadOf returns a vector's transaction as a payload.
func payloadOf(t testing.TB, v transactionVector) payload {
	t.Helper()
	p := payload{Timestamp: v.Timestamp, Expiration: v.Expiration, FeeLimit: v.FeeLimit, Owner: addressFrom(t, v.Owner)}
	if v.Header != nil { // the vector contains the referenced block
		header := message(nil).number(1, v.Timestamp).bytes(2, unhex(t, v.Header.Root)).bytes(3, unhex(t, v.Header.Parent)).
			number(7, v.Header.Number).bytes(9, unhex(t, "4167e39013be3cdd3814bed152d7439fb5b6791409")).number(10, 30)
		h := header32(header, v.Header.Number)
		p.refer(&h)
	} else {
		copy(p.RefBytes[:], unhex(t, v.RefBytes))
		copy(p.RefHash[:], unhex(t, v.RefHash))
	}
	if v.Data == "" {
		p.Target, p.Amount = addressFrom(t, v.To), v.AmountSun
		return p
	}
	p.Target, p.Data = addressFrom(t, v.Contract), unhex(t, v.Data)
	return p
}

// header32 returns a header with the id of its bytes.
func header32(raw []byte, number uint64) (h header) {
	h.ID = sha256.Sum256(raw)
	for i := range 8 {
		h.ID[i] = byte(number >> (56 - 8*i))
	}
	h.Header.Raw.Number = int64(number)
	return h
}

// TestTransactionVectors compares bytes, ids and signatures with other wallets'. The vector with a memo is assembled
// with it: our payments have none.
func TestTransactionVectors(t *testing.T) {
	t.Parallel()
	for _, v := range loadVectors(t).Transactions {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			p := payloadOf(t, v)
			raw := p.encode()
			if v.Memo != "" {
				raw = withMemo(t, raw, v.Memo)
			} else if hex.EncodeToString(raw) != v.Raw {
				t.Fatalf("encoded\n%x, want\n%s", raw, v.Raw)
			}
			id := sha256.Sum256(raw)
			if hex.EncodeToString(id[:]) != v.TxID {
				t.Fatalf("id %x, want %s", id, v.TxID)
			}
			want := unhex(t, v.Signature)
			if want[64] >= recoveryOffset {
				want[64] -= recoveryOffset
			}
			if err := checkSignature(id, want, p.Owner); err != nil {
				t.Fatalf("the vector's signature: %v", err)
			}
			if v.PrivateKey != "" {
				key, err := crypto.ToECDSA(unhex(t, v.PrivateKey))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := crypto.Sign(id[:], key); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("signature %x, %v, want %x", got, err, want)
				}
			}
			again, err := decodePayload(raw)
			if v.Memo != "" {
				if err == nil {
					t.Fatal("a transaction with a memo was accepted as a payment, want an error")
				}
			} else if err != nil || !bytes.Equal(again.encode(), raw) {
				t.Fatalf("decoded into %+v, %v, want %x", again, err, raw)
			}
		})
	}
}

// withMemo inserts field 10 before the contract.
func withMemo(t testing.TB, raw []byte, memo string) []byte {
	t.Helper()
	f, err := readFields(raw)
	if err != nil {
		t.Fatal(err)
	}
	return message(nil).bytes(rawRefBytes, f.strings[rawRefBytes]).bytes(rawRefHash, f.strings[rawRefHash]).
		number(rawExpiration, f.numbers[rawExpiration]).bytes(10, []byte(memo)).bytes(rawContract, f.strings[rawContract]).
		number(rawTimestamp, f.numbers[rawTimestamp]).number(rawFeeLimit, f.numbers[rawFeeLimit])
}

// TestInspectVectors reads vectors as unsigned transactions: a plain payment and a token transfer are accepted.
// Approvals, and receivers with a leading 41 in call data, which the contract would mask, are not.
func TestInspectVectors(t *testing.T) {
	t.Parallel()
	pays := map[string]string{"tx-062": "18123456", "tx-066": "20690000"}
	for _, v := range loadVectors(t).Transactions {
		if v.Memo != "" {
			continue
		}
		p := payloadOf(t, v)
		var tokens []string
		if v.Contract != "" {
			tokens = append(tokens, v.Contract)
		}
		unsigned, err := pack(&p, chain.Hot(chain.FamilyTron))
		if err != nil {
			t.Fatal(err)
		}
		contents, err := rulesOf(t, tokens...).Inspect(unsigned)
		amount, sound := pays[v.ID]
		if (err == nil) != sound {
			t.Errorf("%s (%s): %+v, %v, want %v", v.ID, v.Kind, contents, err, sound)
		}
		if !sound || err != nil {
			continue
		}
		payment := contents.Payments[0]
		if payment.Amount.String() != amount || (payment.Contract == "") != (v.Contract == "") ||
			hex.EncodeToString(contents.Inputs[0].Digest) != v.TxID || contents.Inputs[0].Source.Base != p.Owner.String() {
			t.Errorf("%s pays %+v by %+v, want %s", v.ID, payment, contents.Inputs, amount)
		}
		if _, err := rulesOf(t).Inspect(unsigned); v.Contract != "" && err == nil {
			t.Errorf("%s: a token that is not listed was accepted", v.ID)
		}
	}
}
