package xrpl

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
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
				t.Errorf("%s of the other network parses to %v (%v), want %v", c.other, got, err, bursar.ErrBadAddress)
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
			t.Errorf("%q parses to %v (%v), want %v", text, got, err, bursar.ErrBadAddress)
		}
	}
	if got, err := r.ParseAddress(xText(1, 5, 0)); err != nil || got.Memo != 5 {
		t.Errorf("the valid form of these addresses parses to %v (%v), want 5", got, err)
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
				t.Errorf("an address %v was made of an ed25519 key, want an error", got)
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

// wantPayment compares a parsed payment with the JSON of the same transaction.
func wantPayment(t *testing.T, p payment, f vectorFields) {
	t.Helper()
	same := strconv.FormatUint(p.Amount, 10) == f.Amount && strconv.FormatUint(p.Fee, 10) == f.Fee && p.Flags == f.Flags &&
		p.Sequence == f.Sequence && p.LastLedger == f.LastLedgerSequence && p.NetworkID == f.NetworkID &&
		p.Destination.String() == f.Destination && (f.Account == "" || p.Account.String() == f.Account) &&
		(p.Tag == nil) == (f.DestinationTag == nil) && (p.Tag == nil || *p.Tag == *f.DestinationTag) &&
		(f.SigningPubKey == "" || strings.EqualFold(hex.EncodeToString(p.SigningKey[:]), f.SigningPubKey)) &&
		(f.TxnSignature == "" || strings.EqualFold(hex.EncodeToString(p.Signature), f.TxnSignature))
	if !same {
		t.Errorf("parsed %+v\nwant %+v", p, f)
	}
}

func TestPaymentsAreTheirVectorsByteForByte(t *testing.T) {
	t.Parallel()
	v := loadVectors(t)
	blobs := map[string]vectorFields{}
	for _, tx := range v.Transactions {
		blobs[tx.SignedBlob] = tx.Fields
		if got := txID(unhex(t, tx.SignedBlob)).String(); tx.TxID != "" && got != tx.TxID {
			t.Errorf("%s has id %s, want %s", tx.ID, got, tx.TxID)
		}
	}
	for _, c := range v.Codec {
		blobs[c.Binary] = c.JSON
	}
	for _, p := range v.Payments {
		blobs[p.SignedBlob] = p.JSON
	}
	for blob, fields := range blobs {
		raw := unhex(t, blob)
		p, err := parsePayment(raw)
		if err != nil {
			t.Errorf("%s: %v", blob, err)
			continue
		}
		wantPayment(t, p, fields)
		if again := p.encode(); !bytes.Equal(again, raw) {
			t.Errorf("%s\nencodes to\n%X, want %x", blob, again, raw)
		}
		bare := p
		bare.Signature = nil
		signature, err := ecdsa.ParseDERSignature(p.Signature)
		if err != nil {
			t.Fatal(err)
		}
		key, err := btcec.ParsePubKey(p.SigningKey[:])
		if err != nil {
			t.Fatal(err)
		}
		if digest := signingHash(bare.encode()); !signature.Verify(digest[:], key) {
			t.Errorf("the signature of %s does not match its digest", blob)
		}
	}
}

// An unsigned transaction that is signed with the key of the vectors becomes exactly the bytes that xrpl.js made.
func TestAssembledTransactionsAreTheVectors(t *testing.T) {
	t.Parallel()
	key, _ := btcec.PrivKeyFromBytes(unhex(t, "1acaaedece405b2a958212629e16f2eb46b153eee94cdd350fdeff52795525b7"))
	for _, v := range loadVectors(t).Payments {
		network := Mainnet
		if v.JSON.NetworkID != 0 {
			network = Private
		}
		r := rules(t, network, v.JSON.NetworkID)
		p, err := parsePayment(unhex(t, v.SignedBlob))
		if err != nil {
			t.Fatal(err)
		}
		p.Signature = nil
		e := envelope{Key: chain.Hot("xrpl"), Since: p.LastLedger - 60, Payload: p.encode()}
		if got := strings.ToUpper("53545800" + hex.EncodeToString(e.Payload)); got != v.Signing {
			t.Errorf("signed is %s\nwant %s", got, v.Signing)
		}
		contents, err := r.Inspect(e.encode())
		if err != nil {
			t.Fatal(err)
		}
		signature := compactSignature(key, contents.Inputs[0].Digest)
		tx, err := r.Assemble(chain.UnsignedTx{Bytes: e.encode()}, [][]byte{signature})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ToUpper(hex.EncodeToString(tx.Raw)); got != v.SignedBlob || tx.TxID != v.TxID {
			t.Errorf("assembled %s\n%s\nwant %s\n%s", tx.TxID, got, v.TxID, v.SignedBlob)
		}
	}
}

func compactSignature(key *btcec.PrivateKey, digest []byte) []byte {
	compact := ecdsa.SignCompact(key, digest, true)
	return append(compact[1:], compact[0]-31)
}

func TestHeaderHashIsTheLedgers(t *testing.T) {
	t.Parallel()
	for _, raw := range loadVectors(t).Header {
		var h header
		if err := unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		if err := h.check(15202439, true); err != nil {
			t.Error(err)
		}
		h.Flags ^= 1
		if err := h.check(15202439, true); !errors.Is(err, errHeader) {
			t.Errorf("a header with another flag: %v, want %v", err, errHeader)
		}
	}
}
