package solana

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

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
		Public, Address, Source string
	}
	Transactions []struct {
		ID, Kind, Seed, Blockhash, Raw, Source string
		Limit                                  uint32
		Price                                  uint64
		Payments                               []struct {
			To       string
			Lamports uint64
		}
	}
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Addresses) < 10 || len(v.Keys) < 3 || len(v.Transactions) < 8 {
		t.Fatal("vectors are missing")
	}
	return v
}

func rulesOf(t testing.TB) *Rules {
	t.Helper()
	r, err := NewRules(Mainnet())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAddressVectors(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	for _, v := range readVectors(t).Addresses {
		parsed, err := r.ParseAddress(v.Address)
		if v.Valid && (err != nil || parsed != bursar.Address{Base: v.Address}) || !v.Valid && !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%s: %s, %v, want valid %v (%s)", v.Address, parsed, err, v.Valid, v.Source)
		}
	}
	for _, v := range readVectors(t).Keys {
		public, err := hex.DecodeString(v.Public)
		if err != nil {
			t.Fatal(err)
		}
		if address, err := r.Address(public, 0); err != nil || address.Base != v.Address {
			t.Errorf("%s: %s, %v, want %s", v.Public, address, err, v.Address)
		}
		if address, err := r.Address(public, 1); err == nil {
			t.Errorf("an address with a memo: %s", address)
		}
	}
}

// A transaction comes out byte for byte as other software makes it, and is read back as what it was made of.
func TestTransactionVectors(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	for _, v := range readVectors(t).Transactions {
		seed, err := hex.DecodeString(v.Seed)
		if err != nil {
			t.Fatal(err)
		}
		private := ed25519.NewKeyFromSeed(seed)
		m := &message{payer: key(private.Public().(ed25519.PublicKey)), limit: v.Limit, price: v.Price, blockhash: mustKey(v.Blockhash)}
		for _, p := range v.Payments {
			m.transfers = append(m.transfers, transfer{mustKey(p.To), p.Lamports})
		}
		want, err := base64.StdEncoding.DecodeString(v.Raw)
		if err != nil {
			t.Fatal(err)
		}
		raw := append([]byte{1}, ed25519.Sign(private, m.encode())...)
		if raw = append(raw, m.encode()...); !bytes.Equal(raw, want) {
			t.Errorf("%s (%s):\n%x, want\n%x", v.ID, v.Source, raw, want)
			continue
		}
		if _, back, err := open(raw); err != nil || !bytes.Equal(back.encode(), m.encode()) || back.price != v.Price || back.limit != v.Limit {
			t.Errorf("%s is read as %+v, %v", v.ID, back, err)
		}
		contents, err := r.InspectSigned(raw)
		if (err == nil) != (v.Limit > 0) {
			t.Errorf("%s is inspected as %+v, %v", v.ID, contents, err)
		}
		if err != nil {
			continue
		}
		for i, p := range v.Payments {
			if contents.Payments[i] != (chain.Payment{Address: bursar.Address{Base: p.To}, Amount: bursar.Units(p.Lamports)}) {
				t.Errorf("%s pays %+v", v.ID, contents.Payments[i])
			}
		}
	}
}

// The most transfers that may be configured fit into a packet.
func TestTheLongestTransactionFits(t *testing.T) {
	t.Parallel()
	m := &message{payer: mustKey(ours), limit: unitsFor(maxTransfers), price: 1}
	for i := range maxTransfers {
		m.transfers = append(m.transfers, transfer{key{byte(i + 1)}, 1 << 63})
	}
	if n := 1 + len(signature{}) + len(m.encode()); n > packetSize {
		t.Fatalf("%d bytes", n)
	}
}
