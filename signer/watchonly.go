package signer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// KeyExport is what a remote signer exports to a service that runs without the seed, as JSON. It cannot spend, but
// anyone who has it can link all addresses to each other and sign webhooks in our name.
type KeyExport struct {
	Public      PublicKeys                        `json:"public"`
	Hot         map[bursar.Family]chain.PublicKey `json:"hot"` // of families whose public keys need the seed
	WebhookRoot []byte                            `json:"webhookRoot"`
	LogKey      []byte                            `json:"desk"` // the ed25519 key that signs entries of the signer's log

	// Epochs is the signature with LogKey over the public keys of all epochs and over which one is in force; see
	// VerifyEpochs.
	Epochs []byte `json:"epochs,omitempty"`
}

// Export returns what a service without the seed needs.
func (k *Keys) Export() (KeyExport, error) {
	h := KeyExport{Public: k.ExportPublic(), Hot: map[bursar.Family]chain.PublicKey{}, LogKey: k.LogKey()}
	h.Public.Hot = nil // it is beside it here
	root := k.secret.open().webhook
	h.WebhookRoot = root[:]
	for _, family := range Families(chain.Ed25519) {
		pub, err := k.Public(chain.Hot(family))
		if err != nil {
			return KeyExport{}, err
		}
		h.Hot[family] = pub
	}
	h.Epochs = ed25519.Sign(k.secret.open().logKey, h.epochsText())
	return h, nil
}

// VerifyEpochs returns ErrBadPublicKeys unless the owner of LogKey, which the caller compares with the key that it
// knows, said which epoch is in force and what the public keys are. The keys of the first seed alone need no signature:
// who knows LogKey from a database knows them from there too.
//
// The attack: somebody who answers in the signer's place says that an epoch has begun, of a seed of his own, and from
// then on all customers pay to him.
func (h KeyExport) VerifyEpochs() error {
	if h.Public.Epoch == 0 && len(h.Public.Later) == 0 {
		return nil
	}
	if len(h.LogKey) != ed25519.PublicKeySize || !ed25519.Verify(h.LogKey, h.epochsText(), h.Epochs) {
		return fmt.Errorf("%w: the key of the signer's log did not sign the epochs", ErrBadPublicKeys)
	}
	return nil
}

// epochsText is what is signed. Its first line distinguishes it from all else that the key signs.
func (h KeyExport) epochsText() []byte {
	text := fmt.Appendf(nil, "bursar-epochs/1\n%s %s\nepoch %d of %d\n", h.Public.Network, h.Public.Fingerprint,
		h.Public.Epoch, len(h.Public.Later))
	digests := h.digests(len(h.Public.Later))
	for _, family := range slices.Sorted(maps.Keys(digests)) {
		text = fmt.Appendf(text, "%s %s\n", family, digests[family])
	}
	return text
}

// WatchOnly derives everything that can be derived without the seed. It is immutable and safe for concurrent use.
type WatchOnly struct {
	redacted
	public *Deriver
	hot    map[bursar.Family]chain.PublicKey
	root   vault[[sha256.Size]byte]
	logKey ed25519.PublicKey

	digests map[bursar.Family]string
	// deposit keys of families whose public keys need the seed, from index 0 on
	pool map[bursar.Family][]chain.PublicKey
	// the same of later epochs, from their first index on
	laterPools []map[bursar.Family][]chain.PublicKey
}

// FromKeyExport imports a key export. The error is ErrBadPublicKeys.
func FromKeyExport(h KeyExport) (*WatchOnly, error) {
	public, err := FromPublic(h.Public)
	if err != nil {
		return nil, err
	}
	if len(h.WebhookRoot) != sha256.Size {
		return nil, fmt.Errorf("%w: a webhook root of %d bytes", ErrBadPublicKeys, len(h.WebhookRoot))
	}
	if len(h.LogKey) != 0 && len(h.LogKey) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: a key of the signer's log of %d bytes", ErrBadPublicKeys, len(h.LogKey))
	}
	root := [sha256.Size]byte(h.WebhookRoot)
	return &WatchOnly{public: public, hot: h.Hot, root: conceal(&root), logKey: bytes.Clone(h.LogKey),
			digests: h.Digests()},
		nil
}

// Public is Keys.Public, except that it returns ErrNeedsSeed for deposit keys on ed25519 that are not listed.
func (s *WatchOnly) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	if pub := s.hot[ref.Family]; len(pub) > 0 && ref == chain.Hot(ref.Family) {
		return append(chain.PublicKey(nil), pub...), nil
	}
	place := uint64(ref.Place().Index)
	if listed := s.listed(ref); ref.Branch == chain.DepositBranch && place < uint64(len(listed)) {
		return bytes.Clone(listed[place]), nil
	} else if len(listed) > 0 && ref.Branch == chain.DepositBranch {
		return nil, fmt.Errorf("%w: the watch-only file lists %d keys of %s, and this is number %d: export more with "+
			"`bursar seed export-watch-only --keys`", ErrNeedsSeed, len(listed), ref.Family, place+1)
	}
	return s.public.Public(ref)
}

// listed returns the listed deposit keys of a key's family and epoch.
func (s *WatchOnly) listed(ref chain.KeyRef) []chain.PublicKey {
	e := ref.Epoch()
	switch {
	case e == 0:
		return s.pool[ref.Family]
	case int(e) <= len(s.laterPools):
		return s.laterPools[e-1][ref.Family]
	}
	return nil
}

// Publics is Keys.Publics.
func (s *WatchOnly) Publics(first chain.KeyRef, n int) ([]chain.PublicKey, error) {
	return s.public.Publics(first, n)
}

// WebhookSecret is Keys.WebhookSecret.
func (s *WatchOnly) WebhookSecret(account bursar.ID, generation uint32) []byte {
	return webhookSecret(s.root.open(), account, generation)
}

// Fingerprint is Keys.Fingerprint.
func (s *WatchOnly) Fingerprint() string { return s.public.Fingerprint() }
