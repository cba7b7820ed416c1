package signer

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Keys holds what was derived from a seed: the account keys of every family and the root of the webhook secrets. The
// seed itself is not kept. It is immutable and safe for concurrent use until Wipe.
type Keys struct {
	redacted
	public *Deriver
	secret vault[material]
	master [4]byte // the master key's fingerprint of BIP 32, which is public

	later []*Keys     // of the epochs that follow this seed's
	epoch chain.Epoch // which of them all is in force
}

// material holds the secrets.
type material struct {
	private map[bursar.Family]*[branches]btcec.ModNScalar // secp256k1: the branch keys
	trees   map[bursar.Family]*slip10                     // ed25519: purpose'/coin'
	webhook [sha256.Size]byte                             // the root of the webhook secrets
	logKey  ed25519.PrivateKey                            // signs entries of the signer's log
}

// NewKeys derives the keys of a mnemonic without a BIP 39 passphrase.
func NewKeys(mnemonic Mnemonic, network Network) (*Keys, error) {
	seed, err := mnemonic.Seed("")
	if err != nil {
		return nil, fmt.Errorf("derive keys: %w", err)
	}
	defer clear(seed)
	return KeysFromSeed(seed, network)
}

// KeysFromSeed derives the keys of a seed of 16 to 64 bytes. It keeps no reference to it; the caller clears it.
func KeysFromSeed(seed []byte, network Network) (*Keys, error) {
	params, err := network.params()
	if err != nil {
		return nil, fmt.Errorf("derive keys: %w", err)
	}
	master, err := newMaster(seed, params)
	if err != nil {
		return nil, fmt.Errorf("derive keys: %w", err)
	}
	defer master.Zero()
	fingerprint, err := hkdf.Key(sha256.New, seed, nil, "bursar seed fingerprint v1", 16)
	if err != nil {
		return nil, fmt.Errorf("derive the fingerprint: %w", err)
	}
	m := &material{private: map[bursar.Family]*[branches]btcec.ModNScalar{}, trees: map[bursar.Family]*slip10{}}
	if m.webhook, err = webhookRoot(seed); err != nil {
		return nil, err
	}
	if m.logKey, err = logKeyOf(seed); err != nil {
		return nil, err
	}
	k := &Keys{public: newDeriver(network, hex.EncodeToString(fingerprint)), secret: conceal(m)}
	if top, err := master.ECPubKey(); err != nil {
		return nil, fmt.Errorf("derive the master key's fingerprint: %w", err)
	} else {
		k.master = fingerprintOf(top.SerializeCompressed())
	}
	for family, p := range paths {
		if p.Curve == chain.Ed25519 {
			m.trees[family] = slip10Tree(seed, p.Purpose, p.slip44On(network))
			continue
		}
		if err := k.addAccount(family, p, master); err != nil {
			return nil, fmt.Errorf("derive the account key of %q: %w", family, err)
		}
	}
	return k, nil
}

// newMaster is hdkeychain.NewMaster, after BIP 32, without leaving a copy of the seed in memory.
func newMaster(seed []byte, params *chaincfg.Params) (*hdkeychain.ExtendedKey, error) {
	if len(seed) < hdkeychain.MinSeedBytes || len(seed) > hdkeychain.MaxSeedBytes {
		return nil, hdkeychain.ErrInvalidSeedLen
	}
	sum := keyedSum([]byte("Bitcoin seed"), seed)
	var scalar btcec.ModNScalar
	defer scalar.Zero()
	if overflow := scalar.SetByteSlice(sum[:32]); overflow || scalar.IsZero() {
		return nil, hdkeychain.ErrUnusableSeed
	}
	return hdkeychain.NewExtendedKey(params.HDPrivateKeyID[:], sum[:32], sum[32:], make([]byte, 4), 0, 0, true), nil
}

// addAccount derives purpose'/coin'/0' and, below it, the private keys of both branches.
func (k *Keys) addAccount(family bursar.Family, p path, master *hdkeychain.ExtendedKey) error {
	account, err := descend(master, p.Purpose, p.slip44On(k.public.network), 0)
	if err != nil {
		return err
	}
	defer account.Zero()
	neutered, err := account.Neuter()
	if err != nil {
		return err
	}
	if err := k.public.add(family, neutered); err != nil {
		return err
	}
	parent, err := newNode(neutered)
	if err != nil {
		return err
	}
	private, err := account.ECPrivKey()
	if err != nil {
		return err
	}
	defer private.Zero()
	var scalars [branches]btcec.ModNScalar
	for branch := range scalars {
		if scalars[branch], err = parent.childScalar(&private.Key, uint32(branch)); err != nil {
			return err
		}
	}
	k.secret.open().private[family] = &scalars
	return nil
}

// descend derives hardened steps and clears the intermediate keys.
func descend(key *hdkeychain.ExtendedKey, steps ...uint32) (*hdkeychain.ExtendedKey, error) {
	for i, step := range steps {
		child, err := key.Derive(hardened + step) // not DeriveNonStandard: that one drops leading zeros
		if i > 0 {
			key.Zero()
		}
		if err != nil {
			return nil, err
		}
		key = child
	}
	return key, nil
}

// Public returns a key's public half: 33 bytes on secp256k1, 32 on ed25519. The error is ErrUnknownFamily or
// ErrBadKeyRef.
func (k *Keys) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	of, ref, err := k.of(ref)
	if err != nil {
		return nil, fmt.Errorf("derive a public key: %w", err)
	}
	if paths[ref.Family].Curve != chain.Ed25519 {
		return of.public.Public(ref)
	}
	private, err := of.ed25519Key(ref)
	if err != nil {
		return nil, fmt.Errorf("derive a public key: %w", err)
	}
	defer clear(private)
	return append(chain.PublicKey(nil), private[ed25519.SeedSize:]...), nil
}

// Publics is Deriver.Publics.
func (k *Keys) Publics(first chain.KeyRef, n int) ([]chain.PublicKey, error) {
	of, place, err := k.of(first)
	if err != nil {
		return nil, fmt.Errorf("derive %d public keys: %w", n, err)
	}
	return of.public.Publics(place, n)
}

// ed25519Key returns the key at purpose'/coin'/index'/branch'; the caller clears it.
func (k *Keys) ed25519Key(ref chain.KeyRef) (ed25519.PrivateKey, error) {
	if _, err := checkRef(ref); err != nil {
		return nil, err
	}
	tree := k.secret.open().trees[ref.Family]
	if tree == nil {
		return nil, fmt.Errorf("%w: %q on ed25519", ErrUnknownFamily, ref.Family)
	}
	account := tree.child(ref.Index)
	defer account.wipe()
	leaf := account.child(ref.Branch)
	defer leaf.wipe()
	return leaf.private(), nil
}

// secp256k1Key returns the private key at branch and index; the caller clears it.
func (k *Keys) secp256k1Key(ref chain.KeyRef) (*btcec.PrivateKey, error) {
	if _, err := checkRef(ref); err != nil {
		return nil, err
	}
	scalars, nodes := k.secret.open().private[ref.Family], k.public.nodes[ref.Family]
	if scalars == nil || nodes == nil {
		return nil, fmt.Errorf("%w: %q on secp256k1", ErrUnknownFamily, ref.Family)
	}
	scalar, err := nodes[ref.Branch].childScalar(&scalars[ref.Branch], ref.Index)
	if err != nil {
		return nil, err
	}
	defer scalar.Zero()
	return btcec.PrivKeyFromScalar(&scalar), nil
}

// ExportPublic returns what deriving addresses without the seed needs. It leaves out families on ed25519, whose keys
// have no public derivation.
func (k *Keys) ExportPublic() PublicKeys {
	exported := PublicKeys{
		Version: publicKeysVersion, Network: k.public.network, Fingerprint: k.public.fingerprint,
		Accounts: maps.Clone(k.public.xpubs), Hot: map[bursar.Family]chain.PublicKey{},
	}
	for _, family := range Families(chain.Ed25519) {
		if key, err := k.Public(chain.Hot(family)); err == nil { // every seed has it
			exported.Hot[family] = key
		}
	}
	exported.Epoch = k.epoch
	for _, one := range k.later {
		exported.Later = append(exported.Later, one.ExportPublic())
	}
	return exported
}

// Fingerprint identifies the seed by 32 hexadecimal digits: public, constant on every network, and of no use to find
// the seed. A database stores it, so that it is never used with another seed.
func (k *Keys) Fingerprint() string { return k.public.fingerprint }

// Wipe overwrites the private keys as far as Go allows. The Keys must not be used afterwards.
func (k *Keys) Wipe() {
	for _, one := range k.later {
		one.Wipe()
	}
	m := k.secret.open()
	for _, scalars := range m.private {
		for branch := range scalars {
			scalars[branch].Zero()
		}
	}
	for _, tree := range m.trees {
		tree.wipe()
	}
	clear(m.webhook[:])
	clear(m.logKey)
}
