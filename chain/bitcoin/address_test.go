package bitcoin

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/cosmos/go-bip39"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestAddressesOfPublishedKeys(t *testing.T) {
	t.Parallel()
	chains, tried := chainsOf(t), 0
	for _, v := range readVectors(t).FromMnemonic {
		c := chains[v.Coin]
		if parsed, err := c.ParseAddress(v.Address); err != nil || parsed.Base != v.Address {
			t.Errorf("%s parses to %v (%v) [%s]", v.Address, parsed, err, v.Source)
		}
		if v.Script != "p2wpkh" {
			continue
		}
		tried++
		pub := publicKey(t, v.Mnemonic, v.Passphrase, v.Path)
		if v.PublicKey != "" && hex.EncodeToString(pub) != v.PublicKey {
			t.Errorf("%s has key %x, want %s [%s]", v.Path, pub, v.PublicKey, v.Source)
		}
		if got, err := c.Address(pub, 0); err != nil || got.String() != v.Address {
			t.Errorf("%s is %v (%v), want %s [%s]", v.Path, got, err, v.Address, v.Source)
		}
	}
	if tried < 6 {
		t.Errorf("only %d addresses were derived", tried)
	}
}

func publicKey(t *testing.T, mnemonic, passphrase, path string) []byte {
	t.Helper()
	key, err := hdkeychain.NewMaster(bip39.NewSeed(mnemonic, passphrase), &chaincfg.MainNetParams)
	if err != nil {
		t.Fatal(err)
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "m/"), "/") {
		number, hard := strings.CutSuffix(step, "'")
		index, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			t.Fatal(err)
		}
		if hard {
			index += hdkeychain.HardenedKeyStart
		}
		if key, err = key.Derive(uint32(index)); err != nil {
			t.Fatal(err)
		}
	}
	pub, err := key.ECPubKey()
	if err != nil {
		t.Fatal(err)
	}
	return pub.SerializeCompressed()
}

func TestPublishedAddressesParse(t *testing.T) {
	t.Parallel()
	chains := chainsOf(t)
	v := readVectors(t)
	for _, entry := range v.FromKey {
		c := chains[entry.Coin]
		if got, err := c.ParseAddress(entry.Address); err != nil || got.Base != entry.Address {
			t.Errorf("%s parses to %v (%v) [%s]", entry.Address, got, err, entry.Source)
		}
	}
	for _, entry := range v.Validity {
		c := chains[entry.Coin]
		got, err := c.ParseAddress(entry.Address)
		// Some versions and lengths are valid segwit but are refused, because nobody can spend them safely today.
		want := entry.Valid && (entry.Script == "" || payableScript(entry.Script))
		if want != (err == nil) || err != nil && !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%s parses to %v (%v), want valid %v [%s]", entry.Address, got, err, want, entry.Source)
		}
		if err == nil && entry.Script != "" && hex.EncodeToString(script(t, c, got.Base)) != entry.Script {
			t.Errorf("%s has script %x, want %s [%s]", entry.Address, script(t, c, got.Base), entry.Script, entry.Source)
		}
	}
}

func payableScript(s string) bool {
	script, err := hex.DecodeString(s)
	return err == nil && formOf(script) != formNone
}

func TestAddressQuirks(t *testing.T) {
	t.Parallel()
	c := mainnet(t)
	const segwit = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"
	if got, err := c.ParseAddress(strings.ToUpper(segwit)); err != nil || got.Base != segwit {
		t.Errorf("upper case parses to %v (%v), want %v", got, err, segwit)
	}
	for why, bad := range map[string]string{
		"a public key in hex":        "0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c",
		"pay to anchor":              "bc1pfeessrawgf",
		"mixed case":                 "bc1Qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
		"regtest":                    "bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx",
		"a testnet P2PKH":            "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
		"a Litecoin address":         "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9",
		"a space before":             " " + segwit,
		"a line feed after":          segwit + "\n",
		"leading zeros (base58)":     "1" + "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA",
		"a URI":                      "bitcoin:" + segwit,
		"an uppercase base58":        strings.ToUpper("1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"),
		"unknown letters":            "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyb",
		"only a prefix":              "bc1",
		"a human-readable part only": "bc",
		"a zero byte":                segwit[:20] + "\x00" + segwit[21:],
	} {
		if got, err := c.ParseAddress(bad); !errors.Is(err, bursar.ErrBadAddress) {
			t.Errorf("%s: %q parses to %v (%v), want %v", why, bad, got, err, bursar.ErrBadAddress)
		}
	}
	if _, err := c.ParseContract(segwit); !errors.Is(err, bursar.ErrBadAddress) {
		t.Errorf("a contract is accepted: %v, want %v", err, bursar.ErrBadAddress)
	}
	key := keys.Public(chain.KeyRef{})
	if _, err := c.Address(key, 1); err == nil {
		t.Error("a memo is accepted, want an error")
	}
	for _, bad := range []chain.PublicKey{nil, key[:32], append(chain.PublicKey{4}, key[1:]...), make([]byte, 33)} {
		if got, err := c.Address(bad, 0); err == nil {
			t.Errorf("key %x has address %s, want an error", bad, got)
		}
	}
}

func TestNetworksAreBitcoinCores(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]*chaincfg.Params{
		"main": &chaincfg.MainNetParams, "testnet4": &chaincfg.TestNet4Params,
		"signet": &chaincfg.SigNetParams, "regtest": &chaincfg.RegressionNetParams,
	} {
		n := network(t, name)
		if n.HRP != params.Bech32HRPSegwit || n.PubKeyHash != params.PubKeyHashAddrID ||
			n.ScriptHash[0] != params.ScriptHashAddrID || n.Genesis != params.GenesisHash.String() {
			t.Errorf("%s is %+v, want %v and %v and %v and %v", name, n, params.Bech32HRPSegwit, params.PubKeyHashAddrID,
				params.ScriptHashAddrID, params.GenesisHash.String())
		}
	}
	if _, err := Bitcoin("mainnet"); err == nil {
		t.Error("an unknown network is accepted")
	}
}

func TestBaseEncoderAgainstBtcd(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, hrp := range []string{"bc", "tb", "bcrt", "ltc", "tltc", "rltc"} {
		e := newBaseEncoder(hrp)
		params := chaincfg.MainNetParams
		params.Bech32HRPSegwit = hrp
		same := func(hash [sizeKeyHash]byte) {
			t.Helper()
			want, err := address.NewAddressWitnessPubKeyHash(hash[:], &params)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.encode(hash); got != want.EncodeAddress() || len(got) != e.size() {
				t.Fatalf("%x is %s, want %s", hash, got, want)
			}
			if got := string(e.append([]byte("before "), &hash)); got != "before "+want.EncodeAddress() {
				t.Fatalf("%x is %s, want %s", hash, got, want)
			}
		}
		var hash [sizeKeyHash]byte
		for i := range hash { // every entry of its table once
			for value := range 256 {
				hash[i] = byte(value)
				same(hash)
			}
		}
		for range 500 {
			for i := range hash {
				hash[i] = byte(random.Uint32())
			}
			same(hash)
		}
	}
}

func TestDustIsBitcoinCores(t *testing.T) {
	t.Parallel()
	c := mainnet(t)
	for address, want := range map[string]uint64{
		"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu":                     294,
		"bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3": 330,
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": 330,
		"3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy":                             540,
		"1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA":                             546,
	} {
		if got := c.network.dust(script(t, c, address)); got != want {
			t.Errorf("dust of %s is %d, want %d", address, got, want)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{
		"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
		"1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "BC1SW50QGDZ25J", "bc1", "", "1",
	} {
		f.Add(seed)
	}
	c := mainnet(f)
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := c.ParseAddress(s)
		if err != nil {
			if !errors.Is(err, bursar.ErrBadAddress) {
				t.Fatalf("%q: %v, want %v", s, err, bursar.ErrBadAddress)
			}
			return
		}
		if again, err := c.ParseAddress(parsed.Base); err != nil || again != parsed {
			t.Fatalf("%q parses to %v, and that to %v (%v)", s, parsed, again, err)
		}
		reference, err := address.DecodeAddress(s, &chaincfg.MainNetParams)
		if err != nil || reference.EncodeAddress() != parsed.Base {
			t.Fatalf("%q parses to %v, btcd reads %v (%v), want %v", s, parsed, reference, err, parsed.Base)
		}
	})
}
