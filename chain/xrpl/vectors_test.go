package xrpl

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

type xVector struct {
	Classic string
	Tag     *uint32
	Main    string `json:"mainnet_x"`
	Test    string `json:"testnet_x"`
}

type txVector struct {
	ID         string
	Fields     vectorFields
	SignedBlob string `json:"signed_blob"`
	TxID       string
}

// vectorFields are the JSON fields of a transaction.
type vectorFields struct {
	Account, Destination       string
	Amount, Fee                string
	Flags, Sequence, NetworkID uint32
	LastLedgerSequence         uint32
	DestinationTag             *uint32
	SigningPubKey              string
	TxnSignature               string
}

type vectors struct {
	XAddress []xVector
	Invalid  []struct{ X, Why string } `json:"xaddress_invalid"`
	Keys     []struct {
		PublicKey string `json:"public_key"`
		Address   string
	}
	Valid        []struct{ Address string }
	Transactions []txVector
	Codec        []struct {
		Binary string
		JSON   vectorFields
	}
	Payments []struct {
		JSON       vectorFields
		Signing    string
		SignedBlob string `json:"signed_blob"`
		TxID       string
	}
	Header []json.RawMessage
}

func loadVectors(t testing.TB) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.XAddress) == 0 || len(v.Transactions) == 0 || len(v.Payments) == 0 || len(v.Codec) == 0 ||
		len(v.Header) == 0 {
		t.Fatal("a kind of vectors is missing")
	}
	return v
}

func rules(t testing.TB, network Network, id uint32) *Rules {
	t.Helper()
	r, err := NewRules(Config{ID: bursar.XRPL, Network: network, NetworkID: id})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestXAddressesAreTheirClassicAddressAndTag(t *testing.T) {
	t.Parallel()
	mainnet, testnet := rules(t, Mainnet, 0), rules(t, Testnet, 1)
	for _, v := range loadVectors(t).XAddress {
		want := bursar.Address{Base: v.Classic}
		if v.Tag != nil {
			want.Memo, want.HasMemo = *v.Tag, true
		}
		for _, c := range []struct {
			rules *Rules
			text  string
			other string
		}{{mainnet, v.Main, v.Test}, {testnet, v.Test, v.Main}} {
			for _, text := range []string{c.text, want.String()} {
				if got, err := c.rules.ParseAddress(text); err != nil || got != want {
					t.Errorf("%s parses to %v (%v), want %v", text, got, err, want)
				}
			}
			if got, err := c.rules.ParseAddress(c.other); !errors.Is(err, bursar.ErrBadAddress) {
				t.Errorf("%s of the other network parses to %v (%v)", c.other, got, err)
			}
		}
	}
}

func TestBadAddressesAreRefused(t *testing.T) {
	t.Parallel()
	r, v := rules(t, Mainnet, 0), loadVectors(t)
	good := v.XAddress[0]
	bad := []string{
		good.Main + ":1", good.Main[:46], good.Main + "r", "r" + good.Classic, good.Classic + ":4294967296",
		good.Classic + ":-1",
		good.Classic + ":00", good.Classic + ":", good.Classic + "::1", good.Classic + ":0x1", strings.Repeat("r", 40),
		encodeCheck(append([]byte{1}, make([]byte, 20)...)), encodeCheck(make([]byte, 20)), encodeCheck(make([]byte, 22)),
		xText(2, 5, 0), xText(1, 5, 1), xText(0, 0, 1), xText(0, 7, 0), "snoPBrXtMeMyMHUVTgbuqAfg1SUTb",
	}
	for _, invalid := range v.Invalid {
		bad = append(bad, invalid.X)
	}
	for i := range good.Main {
		bad = append(bad, good.Main[:i]+other(good.Main[i])+good.Main[i+1:])
	}
	for _, text := range bad {
		if got, err := r.ParseAddress(text); !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%q parses to %v (%v)", text, got, err)
		}
	}
	if got, err := r.ParseAddress(xText(1, 5, 0)); err != nil || got.Memo != 5 {
		t.Errorf("the valid form of these addresses parses to %v (%v)", got, err)
	}
}

// xText returns a mainnet X-address with any flag, tag byte and byte above the tag.
func xText(flag, tag, above byte) string {
	payload := append([]byte{0x05, 0x44}, make([]byte, 20)...)
	return encodeCheck(append(payload, flag, tag, 0, 0, 0, above, 0, 0, 0))
}

func other(c byte) string {
	if c == 'r' {
		return "p"
	}
	return "r"
}

func TestAddressesOfKeys(t *testing.T) {
	t.Parallel()
	r, v := rules(t, Mainnet, 0), loadVectors(t)
	for _, key := range v.Keys {
		pub := unhex(t, key.PublicKey)
		if got := accountOf(pub).String(); got != key.Address {
			t.Errorf("account of %s is %s, want %s", key.PublicKey, got, key.Address)
		}
		if pub[0] == 0xed { // ed25519, which this adapter does not sign with
			if got, err := r.Address(pub, 0); err == nil {
				t.Errorf("an address %v was made of an ed25519 key", got)
			}
			continue
		}
		for memo, want := range map[uint32]string{0: key.Address, 7: key.Address + ":7"} {
			if got, err := r.Address(pub, memo); err != nil || got.String() != want {
				t.Errorf("address %d of %s is %v (%v), want %s", memo, key.PublicKey, got, err, want)
			}
		}
	}
	for _, valid := range v.Valid {
		if _, err := r.ParseAddress(valid.Address); err != nil {
			t.Errorf("%s: %v", valid.Address, err)
		}
	}
}
