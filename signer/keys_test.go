package signer

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// TestKeysAgainstOracle derives random keys of random seeds with hdkeychain step by step, on both halves.
func TestKeysAgainstOracle(t *testing.T) {
	t.Parallel()
	families := Families(chain.Secp256k1)
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 16, 64).Draw(t, "seed")
		network := rapid.SampledFrom([]Network{Mainnet, Testnet}).Draw(t, "network")
		keys, err := KeysFromSeed(seed, network)
		if err != nil {
			t.Fatal(err)
		}
		exported, err := FromPublic(keys.ExportPublic())
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			ref := chain.KeyRef{
				Family: rapid.SampledFrom(families).Draw(t, "family"),
				Branch: rapid.Uint32Range(0, 1).Draw(t, "branch"),
				Index:  rapid.Uint32Range(0, chain.EpochIndexes-1).Draw(t, "index"),
			}
			wantPublic, wantPrivate := oracle(t, seed, ref, network)
			public, err := keys.Public(ref)
			if err != nil || !bytes.Equal(public, wantPublic) {
				t.Fatalf("%+v: public key %x (%v), want %x", ref, public, err, wantPublic)
			}
			if public, err = exported.Public(ref); err != nil || !bytes.Equal(public, wantPublic) {
				t.Fatalf("%+v: without the seed %x (%v), want %x", ref, public, err, wantPublic)
			}
			private, err := keys.secp256k1Key(ref)
			if err != nil || !bytes.Equal(private.Serialize(), wantPrivate) {
				t.Fatalf("%+v: another private key (%v), want %x", ref, err, wantPrivate)
			}
		}
	})
}

func oracle(t *rapid.T, seed []byte, ref chain.KeyRef, network Network) (public, private []byte) {
	key, err := hdkeychain.NewMaster(seed, &chaincfg.MainNetParams)
	if err != nil {
		t.Fatal(err)
	}
	p := paths[ref.Family]
	slip44 := p.Coin
	if network == Testnet {
		slip44 = p.TestCoin
	}
	for _, step := range []uint32{p.Purpose | hardened, slip44 | hardened, hardened, ref.Branch, ref.Index} {
		if key, err = key.Derive(step); err != nil {
			t.Fatal(err)
		}
	}
	ec, err := key.ECPrivKey()
	if err != nil {
		t.Fatal(err)
	}
	return ec.PubKey().SerializeCompressed(), ec.Serialize()
}

func TestNewKeys(t *testing.T) {
	t.Parallel()
	keys, err := NewKeys(mustMnemonic(t, twelve), Mainnet)
	if err != nil {
		t.Fatal(err)
	}
	want := keysOf(t, twelve, "", Mainnet)
	if keys.Fingerprint() != want.Fingerprint() || !reflect.DeepEqual(keys.ExportPublic(), want.ExportPublic()) {
		t.Error("the keys are not those of the seed without a passphrase")
	}
	if keys, err := NewKeys(Mnemonic{}, Mainnet); !errors.Is(err, ErrWordCount) || keys != nil {
		t.Errorf("no words give keys (%v)", err)
	}
}

// TestFrozen has values that must never change: addresses, databases and clients depend on them. The fingerprint and
// the secrets were computed by another program.
func TestFrozen(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, twelve, "", Mainnet)
	if got := keys.Fingerprint(); got != "cdea24a399dcc10e85bd77a54ca76c4c" {
		t.Errorf("fingerprint is %s, want %q", got, "cdea24a399dcc10e85bd77a54ca76c4c")
	}
	if keysOf(t, twelve, "", Testnet).Fingerprint() != keys.Fingerprint() ||
		keysOf(t, legal, "", Mainnet).Fingerprint() == keys.Fingerprint() {
		t.Error("the fingerprint must differ by seed and by nothing else")
	}
	account, err := bursar.ParseID("0198c0ff-ee00-7000-8000-00000000002a")
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{
		"960b15125c3aff8a742577eb504fb7c4ceabf1e6c2e7b12d4d13ad8b290bb4d8",
		"4f05cf33aa71f20b0b008d35e76c633c761aaf80ac3a227eec804aca3c88062d",
	}
	for generation, want := range secrets {
		if got := keys.WebhookSecret(account, uint32(generation)); hex.EncodeToString(got) != want {
			t.Errorf("webhook secret %d is %x, want %v", generation, got, want)
		}
	}
	seen := map[string]chain.KeyRef{}
	for family := range paths {
		for _, ref := range []chain.KeyRef{chain.Hot(family), {Family: family}, {Family: family, Index: 1},
			{Family: family, Branch: 1, Index: 1}} {
			public := string(mustPublic(t, keys, ref))
			if other, twice := seen[public]; twice {
				t.Errorf("%+v and %+v are one key", ref, other)
			}
			seen[public] = ref
		}
	}
}

func TestWebhookSecret(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, legal, "", Mainnet)
	rapid.Check(t, func(t *rapid.T) {
		account := bursar.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "account"))
		generation := rapid.Uint32().Draw(t, "generation")
		info := "bursar webhook secret v1" + string(account[:]) +
			string([]byte{byte(generation >> 24), byte(generation >> 16), byte(generation >> 8), byte(generation)})
		want, err := hkdf.Expand(sha256.New, keys.secret.open().webhook[:], info, 32)
		if err != nil || !bytes.Equal(keys.WebhookSecret(account, generation), want) {
			t.Fatalf("the secret of %s is not HKDF-Expand's (%v)", account, err)
		}
	})
	text := WebhookSecretText(keys.WebhookSecret(bursar.ID{1}, 0))
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	if err != nil || !strings.HasPrefix(text, "whsec_") || len(raw) != 32 {
		t.Errorf("text form has %d bytes, %v, want %q first and 32 of them", len(raw), err, "whsec_")
	}
}

func TestKeysConcurrently(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, legal, "", Mainnet)
	want := map[chain.KeyRef]string{}
	for family := range paths {
		for index := range uint32(5) {
			ref := chain.KeyRef{Family: family, Index: index}
			want[ref] = string(mustPublic(t, keys, ref))
		}
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for ref, public := range want {
				if got, err := keys.Public(ref); err != nil || string(got) != public {
					t.Errorf("%+v: %x, %v, want %v", ref, got, err, public)
				}
				if _, err := keys.sign(ref, make([]byte, 32)); err != nil {
					t.Errorf("sign with %+v: %v", ref, err)
				}
			}
		})
	}
	group.Wait()
}

func TestWipe(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, legal, "", Mainnet)
	keys.Wipe()
	for family, scalars := range keys.secret.open().private {
		if !scalars[0].IsZero() || !scalars[1].IsZero() {
			t.Errorf("keys of %s are left, want zero", family)
		}
	}
	for family, tree := range keys.secret.open().trees {
		if *tree != (slip10{}) {
			t.Errorf("keys of %s are left, want %+v", family, slip10{})
		}
	}
	if keys.secret.open().webhook != [32]byte{} {
		t.Errorf("the webhook root is left, want %+v", [32]byte{})
	}
	if _, err := keys.sign(chain.Hot(chain.FamilyEVM), make([]byte, 32)); !errors.Is(err, errBadSignature) {
		t.Errorf("a wiped key signs: %v, want %v", err, errBadSignature)
	}
}

func BenchmarkSignDigest(b *testing.B) {
	keys := keysOf(b, legal, "", Mainnet)
	for _, family := range []bursar.Family{chain.FamilyBitcoin, chain.FamilySolana} {
		b.Run(string(family), func(b *testing.B) {
			for b.Loop() {
				if _, err := keys.sign(chain.Hot(family), make([]byte, 32)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
