package signer

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// PublicKeys is everything needed to derive addresses, as JSON. It cannot spend, but links every address to its owner:
// it must be kept private.
type PublicKeys struct {
	Version     int                      `json:"version"`
	Network     Network                  `json:"network"`
	Fingerprint string                   `json:"fingerprint"` // of the seed, as Keys.Fingerprint
	Accounts    map[bursar.Family]string `json:"accounts"`    // extended public key of purpose'/coin'/0', as xpub or tpub
	// Hot are the hot wallet's keys of families on ed25519, of which nothing else can be derived without the seed.
	Hot map[bursar.Family]chain.PublicKey `json:"hot,omitempty"`

	Epoch chain.Epoch  `json:"epoch,omitempty"` // the epoch that has the hot wallet and all new addresses
	Later []PublicKeys `json:"later,omitempty"` // of the epochs that follow the first, in their order
}

const (
	publicKeysVersion = 1
	accountDepth      = 3 // purpose', coin', account'
)

// Errors of deriving from public keys alone.
var (
	ErrNeedsSeed     = errors.New("these keys can only be derived from the seed")
	ErrBadPublicKeys = errors.New("the exported public keys are not usable")
)

// Deriver derives the public keys of the secp256k1 families without the seed. It is immutable and safe for concurrent
// use.
type Deriver struct {
	network     Network
	fingerprint string
	xpubs       map[bursar.Family]string
	nodes       map[bursar.Family]*[branches]*node
	hot         map[bursar.Family]chain.PublicKey

	later []*Deriver // of the epochs that follow
	epoch chain.Epoch

	onceBase sync.Once
	base     *multiples // for Publics
}

// FromPublic returns a Deriver over exported keys. The error is ErrBadPublicKeys for an unknown version, network or
// family, and for a key that is not the public account key of that network.
func FromPublic(exported PublicKeys) (*Deriver, error) {
	if exported.Version != publicKeysVersion || exported.Fingerprint == "" {
		return nil, fmt.Errorf("%w: version %d, fingerprint %q", ErrBadPublicKeys, exported.Version, exported.Fingerprint)
	}
	if _, err := exported.Network.params(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadPublicKeys, err)
	}
	d := newDeriver(exported.Network, exported.Fingerprint)
	for family, text := range exported.Accounts {
		account, err := parseAccount(text, exported.Network)
		if err == nil {
			err = d.add(family, account)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: family %q: %w", ErrBadPublicKeys, family, err)
		}
	}
	d.hot = map[bursar.Family]chain.PublicKey{}
	for family, key := range exported.Hot {
		if p, known := paths[family]; !known || p.Curve != chain.Ed25519 || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%w: family %q: it has no hot key of %d bytes", ErrBadPublicKeys, family, len(key))
		}
		d.hot[family] = bytes.Clone(key)
	}
	return d, d.addLater(exported)
}

// parseAccount parses an xpub or tpub. No error quotes the text: somebody may have pasted a private key.
func parseAccount(text string, network Network) (*hdkeychain.ExtendedKey, error) {
	account, err := hdkeychain.NewKeyFromString(text)
	if err != nil {
		return nil, errors.New("not an extended key")
	}
	if account.IsPrivate() {
		account.Zero()
		return nil, errors.New("the key is private and must not be here")
	}
	params, err := network.params()
	if err != nil {
		return nil, err
	}
	if !account.IsForNet(params) || account.Depth() != accountDepth {
		return nil, fmt.Errorf("the key is not an account key of %s", network)
	}
	return account, nil
}

func newDeriver(network Network, fingerprint string) *Deriver {
	return &Deriver{
		network: network, fingerprint: fingerprint,
		xpubs: map[bursar.Family]string{}, nodes: map[bursar.Family]*[branches]*node{},
	}
}

// add derives a family's branch keys once, so that each address costs one step.
func (d *Deriver) add(family bursar.Family, account *hdkeychain.ExtendedKey) error {
	if p, known := paths[family]; !known || p.Curve != chain.Secp256k1 {
		return ErrUnknownFamily
	}
	parent, err := newNode(account)
	if err != nil {
		return err
	}
	var nodes [branches]*node
	for branch := range nodes {
		if nodes[branch], err = parent.child(uint32(branch)); err != nil {
			return err
		}
	}
	d.nodes[family], d.xpubs[family] = &nodes, account.String()
	return nil
}

// Public returns a key's public half. The error is ErrNeedsSeed for deposit keys on ed25519 and what was not exported,
// ErrUnknownFamily, or ErrBadKeyRef for a branch or index that does not exist.
func (d *Deriver) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	if _, err := checkRef(ref); err != nil {
		return nil, fmt.Errorf("derive a public key: %w", err)
	}
	d, ref, err := d.of(ref)
	if err != nil {
		return nil, fmt.Errorf("derive a public key: %w", err)
	}
	if key := d.hot[ref.Family]; key != nil && ref == chain.Hot(ref.Family) {
		return bytes.Clone(key), nil
	}
	nodes := d.nodes[ref.Family]
	if nodes == nil {
		return nil, fmt.Errorf("derive a public key of family %q: %w", ref.Family, ErrNeedsSeed)
	}
	key, err := nodes[ref.Branch].child(ref.Index)
	if err != nil {
		return nil, fmt.Errorf("derive a public key: %w", err)
	}
	return key.public(), nil
}

// Fingerprint returns the fingerprint of the seed that the keys come from.
func (d *Deriver) Fingerprint() string { return d.fingerprint }
