package signer

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// vectors are known answers of public test suites; each entry of the file names its source.
type vectors struct {
	BIP39 []struct {
		Entropy, Mnemonic, Passphrase, Seed string
		MasterXprv                          string `json:"master_xprv"`
	}
	SLIP10 []struct {
		Seed, Path, Private, Public string
		ChainCode                   string `json:"chain_code"`
	} `json:"slip10_ed25519"`
	Xpub []struct {
		Coin, Mnemonic, Passphrase, Xpub string
	}
	PublicKeys []struct {
		ID, Mnemonic, Passphrase, Path string
		PublicKey                      string `json:"public_key"`
	} `json:"public_keys"`
	SolanaAddresses []struct {
		ID, Mnemonic, Passphrase, Path, Address string
	} `json:"solana_addresses"`
	Signatures []struct {
		ID, Mnemonic, Path, Digest, Signature string
		PrivateKey                            string `json:"private_key"`
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	content, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(content, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustMnemonic(t testing.TB, text string) Mnemonic {
	t.Helper()
	m, err := ParseMnemonic(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func keysOf(t testing.TB, mnemonic, passphrase string, network Network) *Keys {
	t.Helper()
	seed, err := mustMnemonic(t, mnemonic).Seed(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := KeysFromSeed(seed, network)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func mustPublic(t testing.TB, keys interface {
	Public(chain.KeyRef) (chain.PublicKey, error)
}, ref chain.KeyRef) chain.PublicKey {
	t.Helper()
	public, err := keys.Public(ref)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func TestBIP39Vectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).BIP39 {
		if got := fromEntropy(unhex(t, v.Entropy)).Reveal(); got != v.Mnemonic {
			t.Errorf("entropy %s gives %q, want %q", v.Entropy, got, v.Mnemonic)
		}
		m := mustMnemonic(t, v.Mnemonic)
		seed, err := m.Seed(v.Passphrase)
		if err != nil || hex.EncodeToString(seed) != v.Seed {
			t.Errorf("%q gives seed %x (%v), want %s", v.Mnemonic, seed, err, v.Seed)
		}
		master, err := hdkeychain.NewMaster(seed, &chaincfg.MainNetParams)
		if err != nil || master.String() != v.MasterXprv {
			t.Errorf("%q gives another master key (%v), want %v", v.Mnemonic, err, v.MasterXprv)
		}
	}
}

// steps parses "m/44'/501'/0'" into its numbers, without the hardening marks.
func steps(t *testing.T, path string) []uint32 {
	t.Helper()
	var list []uint32
	for _, part := range strings.Split(path, "/")[1:] {
		n, err := strconv.ParseUint(strings.TrimSuffix(part, "'"), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, uint32(n))
	}
	return list
}

func TestSLIP10Vectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).SLIP10 {
		key := slip10Master(unhex(t, v.Seed))
		for _, step := range steps(t, v.Path) {
			key = key.child(step)
		}
		public := key.private().Public().(ed25519.PublicKey)
		if hex.EncodeToString(key.key[:]) != v.Private || hex.EncodeToString(key.code[:]) != v.ChainCode ||
			"00"+hex.EncodeToString(public) != v.Public {
			t.Errorf("%s %s gives %x, %x, %x, want %v and %v and %v", v.Seed, v.Path, key.key, key.code, public, v.Private,
				v.ChainCode, v.Public)
		}
	}
}

func TestXpubVectors(t *testing.T) {
	t.Parallel()
	families := map[string]bursar.Family{"BTC": chain.FamilyBitcoin, "LTC": chain.FamilyLitecoin}
	for _, v := range readVectors(t).Xpub {
		published, err := hdkeychain.NewKeyFromString(v.Xpub)
		if err != nil {
			t.Fatal(err)
		}
		want, err := published.CloneWithVersion(chaincfg.MainNetParams.HDPublicKeyID[:])
		if err != nil {
			t.Fatal(err)
		}
		got := keysOf(t, v.Mnemonic, v.Passphrase, Mainnet).ExportPublic().Accounts[families[v.Coin]]
		if got != want.String() {
			t.Errorf("%s account of %q is %s, want %s", v.Coin, v.Mnemonic, got, want)
		}
	}
}

// familyAt finds the family whose keys have a path of five steps, and the reference of the key.
func familyAt(t *testing.T, path string) chain.KeyRef {
	t.Helper()
	s := steps(t, path)
	for family, p := range paths {
		if p.Curve == chain.Secp256k1 && p.Purpose == s[0] && p.Coin == s[1] && s[2] == 0 {
			return chain.KeyRef{Family: family, Branch: s[3], Index: s[4]}
		}
	}
	t.Fatalf("no family at %s", path)
	return chain.KeyRef{}
}

func TestPublicKeyVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).PublicKeys {
		public := mustPublic(t, keysOf(t, v.Mnemonic, v.Passphrase, Mainnet), familyAt(t, v.Path))
		if hex.EncodeToString(public) != v.PublicKey {
			t.Errorf("%s: %s gives %x, want %s", v.ID, v.Path, public, v.PublicKey)
		}
	}
}

// base58 encodes in Bitcoin's alphabet, in which Solana writes a public key.
func base58(b []byte) string {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(58), new(big.Int)
	var text []byte
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		text = append([]byte{alphabet[digit.Int64()]}, text...)
	}
	return strings.Repeat("1", len(b)-len(bytes.TrimLeft(b, "\x00"))) + string(text)
}

func TestSolanaVectors(t *testing.T) {
	t.Parallel()
	ours := 0
	for _, v := range readVectors(t).SolanaAddresses {
		seed, err := mustMnemonic(t, v.Mnemonic).Seed(v.Passphrase)
		if err != nil {
			t.Fatal(err)
		}
		s := steps(t, v.Path)
		key := slip10Master(seed)
		for _, step := range s {
			key = key.child(step)
		}
		if got := base58(key.private().Public().(ed25519.PublicKey)); got != v.Address {
			t.Errorf("%s: %s gives %s, want %s", v.ID, v.Path, got, v.Address)
		}
		if len(s) != 4 {
			continue
		}
		ours++
		ref := chain.KeyRef{Family: chain.FamilySolana, Branch: s[3], Index: s[2]}
		if got := base58(mustPublic(t, keysOf(t, v.Mnemonic, v.Passphrase, Mainnet), ref)); got != v.Address {
			t.Errorf("%s: %+v gives %s, want %s", v.ID, ref, got, v.Address)
		}
	}
	if ours == 0 {
		t.Error("no vector has the path of a deposit key")
	}
}

// TestSignatureVectors compares with signatures that others published: RFC 6979 makes them equal bit for bit.
func TestSignatureVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).Signatures {
		digest := unhex(t, v.Digest)
		var signature []byte
		var err error
		if v.PrivateKey != "" {
			private, public := btcec.PrivKeyFromBytes(unhex(t, v.PrivateKey))
			signature, err = signDigest(private, public.SerializeCompressed(), digest)
		} else {
			signature, err = keysOf(t, v.Mnemonic, "", Mainnet).sign(familyAt(t, v.Path), digest)
		}
		if err != nil {
			t.Errorf("%s: %v", v.ID, err)
			continue
		}
		if len(signature) != 65 || !strings.HasPrefix(hex.EncodeToString(signature), v.Signature) {
			t.Errorf("%s: signature is %x, want %s", v.ID, signature, v.Signature)
		}
	}
}
