package solana

import (
	"bytes"
	"cmp"
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
		Format                                 format // empty: legacy
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
		if v.Valid && (err != nil || parsed != bursar.Address{Base: v.Address}) ||
			!v.Valid && !errors.Is(err, bursar.ErrBadAddress) {
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
			t.Errorf("an address with a memo: %s, want an error", address)
		}
	}
}

// A transaction is encoded byte for byte as by other software, and decoded into its original contents.
func TestTransactionVectors(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	for _, v := range readVectors(t).Transactions {
		seed, err := hex.DecodeString(v.Seed)
		if err != nil {
			t.Fatal(err)
		}
		private := ed25519.NewKeyFromSeed(seed)
		m := &message{format: cmp.Or(v.Format, legacy), payer: key(private.Public().(ed25519.PublicKey)), limit: v.Limit,
			price: v.Price, blockhash: mustKey(v.Blockhash)}
		for _, p := range v.Payments {
			m.transfers = append(m.transfers, transfer{mustKey(p.To), p.Lamports})
		}
		want, err := base64.StdEncoding.DecodeString(v.Raw)
		if err != nil {
			t.Fatal(err)
		}
		raw := m.transaction(ed25519.Sign(private, m.encode()), m.encode())
		if !bytes.Equal(raw, want) {
			t.Errorf("%s (%s):\n%x, want\n%x", v.ID, v.Source, raw, want)
			continue
		}
		if _, back, err := open(raw); err != nil || !bytes.Equal(back.encode(), m.encode()) || back.price != v.Price ||
			back.limit != v.Limit {
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

// The highest configurable number of transfers fits into a packet, in every format.
func TestTheLongestTransactionFits(t *testing.T) {
	t.Parallel()
	for _, f := range []format{legacy, v0, v1} {
		m := &message{format: f, payer: mustKey(ours), limit: unitsFor(maxTransfers), price: 1}
		for i := range maxTransfers {
			m.transfers = append(m.transfers, transfer{key{byte(i + 1)}, 1 << 63})
		}
		if n := len(m.transaction(make([]byte, 64), m.encode())); n > packetSize {
			t.Fatalf("%s: %d bytes, want at most %v", f, n, packetSize)
		}
	}
}

// Messages of version 1 are encoded byte for byte as by other software.
func TestMessageVectorsOfVersion1(t *testing.T) {
	t.Parallel()
	fill := func(b byte) (k key) {
		for i := range k {
			k[i] = b
		}
		return k
	}
	cases := map[string]struct {
		message compiled
		want    []any // bytes and keys
	}{
		"solana-message 4.6, versions/v1/message.rs, byte_layout_without_config": {
			compiled{format: v1, signers: 1, blockhash: fill(0xAB), keys: []key{fill(1), fill(2)},
				steps: []step{{1, []byte{0}, []byte{0xDE, 0xAD}}}},
			[]any{0x81, 1, 0, 0, 0, 0, 0, 0, fill(0xAB), 1, 2, fill(1), fill(2), 1, 1, 2, 0, 0, 0xDE, 0xAD}},
		"solana-message 4.6, versions/v1/message.rs, byte_layout_with_config": {
			compiled{format: v1, signers: 1, blockhash: fill(0xBB), keys: []key{fill(1), fill(2)}, steps: []step{{program: 1}},
				reserve: reserve{mask: 7, fee: 0x0102030405060708, units: 0x11223344}},
			[]any{0x81, 1, 0, 0, 7, 0, 0, 0, fill(0xBB), 1, 2, fill(1), fill(2), 8, 7, 6, 5, 4, 3, 2, 1, 0x44, 0x33, 0x22, 0x11,
				1, 0, 0, 0}},
		"@solana/kit 56cfbe2, transaction-messages codecs/v1 message-test, no config values": {
			compiled{format: v1, signers: 2, readSigned: 1, readUnsigned: 1, blockhash: fill(10),
				keys: []key{fill(11), fill(12)}, steps: []step{{1, []byte{0}, []byte{1, 2, 3}}}},
			[]any{129, 2, 1, 1, 0, 0, 0, 0, fill(10), 1, 2, fill(11), fill(12), 1, 1, 3, 0, 0, 1, 2, 3}},
		"@solana/kit 56cfbe2, transaction-messages codecs/v1 message-test, all config values": {
			compiled{format: v1, signers: 1, blockhash: fill(10), keys: []key{fill(11)},
				reserve: reserve{mask: 31, fee: 5000, units: 200_000, loaded: 64_000, heap: 256_000}},
			[]any{129, 1, 0, 0, 31, 0, 0, 0, fill(10), 0, 1, fill(11), 136, 19, 0, 0, 0, 0, 0, 0, 64, 13, 3, 0, 0, 250, 0, 0, 0,
				232, 3, 0}},
	}
	for name, test := range cases {
		var want []byte
		for _, part := range test.want {
			switch p := part.(type) {
			case int:
				want = append(want, byte(p))
			case key:
				want = append(want, p[:]...)
			}
		}
		if got := test.message.encode(); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x, want\n%x", name, got, want)
		}
		if back, err := compiledFrom(want); err != nil || back.reserve != test.message.reserve || back.format != v1 {
			t.Errorf("%s is read as %+v, %v, want %v and %v", name, back, err, test.message.reserve, v1)
		}
	}
}

// A transaction of version 1 from a mainnet block is decoded, and encoded to the same bytes. The recording's signatures
// do not verify, so it proves the layout alone; the test against the real virtual machine, in sandbox/nodes/solana,
// proves the signed part.
func TestARecordedTransactionOfVersion1(t *testing.T) {
	t.Parallel()
	raw := readBlocks(t).V1
	body := raw[:len(raw)-2*len(signature{})]
	c, err := compiledFrom(body)
	if err != nil || c.format != v1 || c.signers != 2 || len(c.keys) != 37 || len(c.steps) != 3 ||
		c.reserve != (reserve{mask: 12, units: 600_000, loaded: mostLoaded}) {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := decodeMessage(body); err == nil {
		t.Fatal("other instructions were accepted as a payment, want an error")
	}
}

// Inspect accepts a payment in every format, both unsigned and signed.
func TestEveryFormatIsInspected(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	for _, f := range []format{legacy, v0, v1} {
		m := &message{format: f, payer: key(private.Public().(ed25519.PublicKey)), limit: 1500, blockhash: mustKey(other),
			transfers: []transfer{{mustKey(ours), 77}}}
		if err := m.offer(1_000_001); err != nil {
			t.Fatal(err)
		}
		e := envelope{index: 3, slot: 9, lastHeight: 200, message: m.encode()}
		contents, err := r.Inspect(e.pack())
		if err != nil || contents.Fee != bursar.Units(6501) || contents.Weight != 1500 || len(contents.Payments) != 1 ||
			contents.Payments[0].Amount != bursar.Units(77) {
			t.Fatalf("%s: %+v, %v, want %v and 1500 and 1 of them and %v", f, contents, err, bursar.Units(6501),
				bursar.Units(77))
		}
		tx, err := r.Assemble(chain.UnsignedTx{Bytes: e.pack()}, [][]byte{ed25519.Sign(private, contents.Inputs[0].Digest)})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		again, err := r.InspectSigned(tx.Raw)
		if err != nil || again.Fee != contents.Fee || again.Payments[0] != contents.Payments[0] {
			t.Fatalf("%s: %+v, %v, want %v and %v", f, again, err, contents.Fee, contents.Payments[0])
		}
		for i := range tx.Raw {
			spoilt := bytes.Clone(tx.Raw)
			spoilt[i] ^= 1
			if _, _, err := open(spoilt); err == nil {
				t.Fatalf("%s: byte %d does not matter", f, i)
			}
		}
	}
}
