package signer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// watchOnlyFile is the file with which a service runs without the seed. The signature is by the key of the signer's log
// over the content in its shortest spelling.
type watchOnlyFile struct {
	Version   int             `json:"version"`
	Content   json.RawMessage `json:"content"`
	Signature []byte          `json:"signature"`
}

// watchOnlyContent is what a service without the seed and without a signer needs.
type watchOnlyContent struct {
	Keys KeyExport `json:"keys"`
	// Pool holds the keys of deposit addresses from index 0 on, of families whose public keys need the seed.
	Pool map[bursar.Family][]chain.PublicKey `json:"pool"`
	// Later is the same of the epochs that follow the first.
	Later []map[bursar.Family][]chain.PublicKey `json:"later,omitempty"`
}

const (
	watchOnlyVersion = 1

	// MaxWatchOnlyKeys is the most keys of a family that a watch-only file may list.
	MaxWatchOnlyKeys = 1_000_000
	// maxWatchOnly bounds the file, in bytes: as many keys of one family, in base64.
	maxWatchOnly = 64 << 20
)

// ExportWatchOnly returns the file with which a service runs without the seed, as JSON on one line: the key export, and
// the first count deposit keys of each family on ed25519. It cannot spend. Anyone who has it can link all addresses and
// sign webhooks in our name, and anyone who could change it unnoticed would receive what customers pay: the signature
// of the seed's own key over all of it prevents that for a database that knows that key.
func (k *Keys) ExportWatchOnly(count int) ([]byte, error) {
	exported, err := k.Export()
	if err != nil {
		return nil, err
	}
	content := watchOnlyContent{Keys: exported}
	if content.Pool, err = k.poolOf(count); err != nil {
		return nil, err
	}
	for _, later := range k.later {
		pool, err := later.poolOf(count)
		if err != nil {
			return nil, err
		}
		content.Later = append(content.Later, pool)
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("write the watch-only file: %w", err)
	}
	signature := ed25519.Sign(k.secret.open().logKey, watchOnlyText(text))
	return json.Marshal(watchOnlyFile{watchOnlyVersion, text, signature})
}

// poolOf returns the first count deposit keys of this seed, of each family on ed25519.
func (k *Keys) poolOf(count int) (map[bursar.Family][]chain.PublicKey, error) {
	pool := map[bursar.Family][]chain.PublicKey{}
	for _, family := range Families(chain.Ed25519) {
		keys := make([]chain.PublicKey, min(max(count, 0), MaxWatchOnlyKeys))
		for i := range keys {
			pub, err := k.Public(chain.KeyRef{Family: family, Branch: chain.DepositBranch, Index: uint32(i)})
			if err != nil {
				return nil, err
			}
			keys[i] = pub
		}
		pool[family] = keys
	}
	return pool, nil
}

// watchOnlyText is what is signed. Its first line distinguishes it from all else that the key signs.
func watchOnlyText(content []byte) []byte {
	return fmt.Appendf(nil, "bursar-watch-only/%d\n%x\n", watchOnlyVersion, sha256.Sum256(content))
}

// ReadWatchOnly reads what ExportWatchOnly wrote. The error is ErrBadPublicKeys for anything else, such as a file that
// was changed after it was signed. The key that verifies the signature is in the file: the caller compares it with the
// one that is known.
func ReadWatchOnly(r io.Reader) (*WatchOnly, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxWatchOnly+1))
	if err != nil {
		return nil, fmt.Errorf("read the watch-only file: %w", err)
	}
	if len(text) > maxWatchOnly {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrBadPublicKeys, maxWatchOnly)
	}
	var file watchOnlyFile
	if err := json.Unmarshal(text, &file); err != nil || file.Version != watchOnlyVersion {
		return nil, fmt.Errorf("%w: the file is not a watch-only file of version %d", ErrBadPublicKeys, watchOnlyVersion)
	}
	var compact bytes.Buffer
	var content watchOnlyContent
	if err := json.Compact(&compact, file.Content); err != nil {
		return nil, fmt.Errorf("%w: its content is not JSON", ErrBadPublicKeys)
	}
	if err := json.Unmarshal(compact.Bytes(), &content); err != nil {
		return nil, fmt.Errorf("%w: its content cannot be read", ErrBadPublicKeys)
	}
	logKey := content.Keys.LogKey
	if len(logKey) != ed25519.PublicKeySize || !ed25519.Verify(logKey, watchOnlyText(compact.Bytes()), file.Signature) {
		return nil, fmt.Errorf("%w: the file was changed after it was signed", ErrBadPublicKeys)
	}
	keys, err := FromKeyExport(content.Keys)
	if err != nil {
		return nil, err
	}
	for _, pool := range append(content.Later, content.Pool) {
		if err := checkPool(pool); err != nil {
			return nil, err
		}
	}
	keys.pool, keys.laterPools = content.Pool, content.Later
	return keys, nil
}

// checkPool refuses what are no deposit keys of families whose public keys need the seed.
func checkPool(pool map[bursar.Family][]chain.PublicKey) error {
	for family, keys := range pool {
		short := func(pub chain.PublicKey) bool { return len(pub) != ed25519.PublicKeySize }
		if !slices.Contains(Families(chain.Ed25519), family) || slices.ContainsFunc(keys, short) {
			return fmt.Errorf("%w: family %q with %d listed keys", ErrBadPublicKeys, family, len(keys))
		}
	}
	return nil
}

// Listed returns how many deposit keys are listed of a family whose public keys need the seed, in the present epoch.
func (s *WatchOnly) Listed(family bursar.Family) int {
	return len(s.listed(chain.KeyRef{Family: family}.In(s.Epoch())))
}

// Network returns the network that the keys are for.
func (s *WatchOnly) Network() Network { return s.public.network }

// Digests returns, for each family, the SHA-256 digest of the public keys from which its addresses follow, in
// hexadecimal digits: of the account's extended key, or of the hot wallet's key where there is none. Those of later
// epochs that have begun are named family@epoch; a seed that is only prepared can still be replaced by another one.
func (h KeyExport) Digests() map[bursar.Family]string { return h.digests(int(h.Public.Epoch)) }

// digests is Digests up to an epoch.
func (h KeyExport) digests(last int) map[bursar.Family]string {
	digests := map[bursar.Family]string{}
	digest := func(family bursar.Family, text []byte) {
		sum := sha256.Sum256(text)
		digests[family] = hex.EncodeToString(sum[:])
	}
	for family, account := range h.Public.Accounts {
		digest(family, []byte(account))
	}
	for family, pub := range h.Hot {
		digest(family, pub)
	}
	for i, later := range h.Public.Later {
		if i >= last {
			break
		}
		for family, account := range later.Accounts {
			digest(laterFamily(family, i+1), []byte(account))
		}
		for family, pub := range later.Hot {
			digest(laterFamily(family, i+1), pub)
		}
	}
	return digests
}

// laterFamily is the name of a family's keys of a later epoch in Digests.
func laterFamily(family bursar.Family, epoch int) bursar.Family {
	return bursar.Family(fmt.Sprintf("%s@%d", family, epoch))
}

// Digests is KeyExport.Digests of the keys.
func (s *WatchOnly) Digests() map[bursar.Family]string { return s.digests }

// Digests is KeyExport.Digests of what the seed exports.
func (k *Keys) Digests() map[bursar.Family]string {
	exported, err := k.Export()
	if err != nil {
		return nil // no key of the hot wallet: Export's callers say so
	}
	return exported.Digests()
}
