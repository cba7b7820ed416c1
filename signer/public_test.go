package signer

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestPublicRefuses(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, legal, "", Mainnet)
	exported, err := FromPublic(keys.ExportPublic())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		ref            chain.KeyRef
		want, unseeded error
	}{
		{chain.KeyRef{Family: "dogecoin"}, ErrUnknownFamily, ErrUnknownFamily},
		{chain.KeyRef{}, ErrUnknownFamily, ErrUnknownFamily},
		{chain.KeyRef{Family: chain.FamilyEVM, Branch: 2}, ErrBadKeyRef, ErrBadKeyRef},
		{chain.KeyRef{Family: chain.FamilyEVM, Index: hardened}, ErrBadKeyRef, ErrBadKeyRef},
		{chain.KeyRef{Family: chain.FamilySolana, Branch: 2}, ErrBadKeyRef, ErrBadKeyRef},
		{chain.KeyRef{Family: chain.FamilySolana, Index: hardened}, ErrBadKeyRef, ErrBadKeyRef},
		{chain.KeyRef{Family: chain.FamilySolana}, nil, ErrNeedsSeed},
		{chain.KeyRef{Family: chain.FamilyEVM, Index: hardened - 1}, ErrBadKeyRef, ErrBadKeyRef},
	}
	for _, test := range tests {
		if _, err := keys.Public(test.ref); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v, want %v", test.ref, err, test.want)
		}
		if _, err := exported.Public(test.ref); !errors.Is(err, test.unseeded) {
			t.Errorf("%+v without the seed: %v", test.ref, err)
		}
		if _, err := keys.sign(test.ref, make([]byte, 32)); !errors.Is(err, test.want) {
			t.Errorf("signing with %+v: %v, want %v", test.ref, err, test.want)
		}
	}
	if _, err := KeysFromSeed(make([]byte, 64), "regtest"); !errors.Is(err, ErrBadNetwork) {
		t.Errorf("an unknown network: %v", err)
	}
	if _, err := KeysFromSeed(make([]byte, 15), Mainnet); err == nil {
		t.Error("a seed of 15 bytes is taken, want an error")
	}
}

func TestExportPublic(t *testing.T) {
	t.Parallel()
	for _, network := range []Network{Mainnet, Testnet} {
		keys := keysOf(t, legal, "", network)
		text, err := json.Marshal(keys.ExportPublic())
		if err != nil || bytes.Contains(text, []byte("prv")) {
			t.Fatalf("exported as %s, %v", text, err)
		}
		var read PublicKeys
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		d, err := FromPublic(read)
		if err != nil || d.Fingerprint() != keys.Fingerprint() {
			t.Fatalf("read back with %v", err)
		}
		for _, family := range Families(chain.Secp256k1) {
			if got, want := mustPublic(t, d, chain.Hot(family)),
				mustPublic(t, keys, chain.Hot(family)); !bytes.Equal(got, want) {
				t.Errorf("hot key of %s is %x, want %x", family, got, want)
			}
		}
		for _, family := range Families(chain.Ed25519) {
			if got, want := mustPublic(t, d, chain.Hot(family)),
				mustPublic(t, keys, chain.Hot(family)); !bytes.Equal(got, want) {
				t.Errorf("hot key of %s is %x, want %x", family, got, want)
			}
		}
	}
}

func TestFromPublicRefuses(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, legal, "", Mainnet)
	master, err := hdkeychain.NewMaster(make([]byte, 32), &chaincfg.MainNetParams)
	if err != nil {
		t.Fatal(err)
	}
	account, err := descend(master, 44, 60, 0)
	if err != nil {
		t.Fatal(err)
	}
	neutered, err := master.Neuter()
	if err != nil {
		t.Fatal(err)
	}
	evm := keys.ExportPublic().Accounts[chain.FamilyEVM]
	tests := map[string]func(*PublicKeys){
		"version":         func(p *PublicKeys) { p.Version = 2 },
		"network":         func(p *PublicKeys) { p.Network = "" },
		"other network":   func(p *PublicKeys) { p.Network = Testnet },
		"no fingerprint":  func(p *PublicKeys) { p.Fingerprint = "" },
		"unknown family":  func(p *PublicKeys) { p.Accounts["dogecoin"] = evm },
		"ed25519":         func(p *PublicKeys) { p.Accounts[chain.FamilySolana] = evm },
		"a private key":   func(p *PublicKeys) { p.Accounts[chain.FamilyEVM] = account.String() },
		"not an account":  func(p *PublicKeys) { p.Accounts[chain.FamilyEVM] = neutered.String() },
		"a bad character": func(p *PublicKeys) { p.Accounts[chain.FamilyEVM] = evm[:50] + "z" + evm[51:] },
		"empty":           func(p *PublicKeys) { p.Accounts[chain.FamilyEVM] = "" },
		"a short hot key": func(p *PublicKeys) { p.Hot[chain.FamilySolana] = p.Hot[chain.FamilySolana][:31] },
		"a hot key of a curve that needs none": func(p *PublicKeys) {
			p.Hot[chain.FamilyEVM] = p.Hot[chain.FamilySolana]
		},
	}
	for name, spoil := range tests {
		exported := keys.ExportPublic()
		spoil(&exported)
		_, err := FromPublic(exported)
		if !errors.Is(err, ErrBadPublicKeys) || strings.Contains(err.Error(), account.String()) {
			t.Errorf("%s: %v, want %v and no %v", name, err, ErrBadPublicKeys, account.String())
		}
	}
}

func BenchmarkPublic(b *testing.B) {
	keys := keysOf(b, legal, "", Mainnet)
	for _, family := range []bursar.Family{chain.FamilyBitcoin, chain.FamilySolana} {
		b.Run(string(family), func(b *testing.B) {
			index := uint32(0)
			for b.Loop() {
				if _, err := keys.Public(chain.KeyRef{Family: family, Index: index}); err != nil {
					b.Fatal(err)
				}
				index++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}

// BenchmarkPublicOracle measures hdkeychain at the same step.
func BenchmarkPublicOracle(b *testing.B) {
	account, err := hdkeychain.NewKeyFromString(keysOf(b, legal, "", Mainnet).ExportPublic().Accounts[chain.FamilyBitcoin])
	if err != nil {
		b.Fatal(err)
	}
	branch, err := account.Derive(0)
	if err != nil {
		b.Fatal(err)
	}
	index := uint32(0)
	for b.Loop() {
		if _, err := branch.Derive(index); err != nil {
			b.Fatal(err)
		}
		index++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}
