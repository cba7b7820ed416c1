// Package ceremony defines the bundle that is exchanged between the online machine and the offline signer of a cold
// wallet.
//
// It owns the bundle, a refill as one text with everything that proves it; the description that a person reads, which
// is derived from the transaction's bytes and never part of the bundle; and the frames that show a bundle as QR codes.
// It holds no key. Its invariants: a bundle has one canonical form; nothing in it is believed that its bytes do not
// prove; a bundle of another instance, network or chain is refused.
package ceremony

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
)

const (
	kind = "bursar-refill/1"
	// MaxBundle bounds a bundle, in bytes.
	MaxBundle = 8 << 20
	lineWidth = 76 // of the bytes in base64
	none      = "-"
)

// ErrBundle is wrapped by errors of texts that are no bundle.
var ErrBundle = errors.New("not a bundle of a refill")

// Bundle is a refill: a payment from a cold wallet to the hot wallet, with the transaction that makes it.
type Bundle struct {
	Instance string // the fingerprint of the hot wallet's seed
	Network  string
	ID       bursar.ID
	Wallet   bursar.ColdWallet
	Payment  chain.Payment
	MaxFee   bursar.Amount // in the native asset

	Created, Expires time.Time // to the second

	// Height is the newest block when it was made, as the service says, where a block ends the transaction; 0: none does.
	Height uint64

	Bytes []byte // the transaction, in the format of chain.OfflineRules
}

// Text returns the only spelling of a bundle. Its last line is the SHA-256 of all before it.
func (b Bundle) Text() string {
	w := approval.NewWriter(kind)
	w.Field("instance", b.Instance)
	w.Field("network", b.Network)
	w.Field("refill", b.ID.String())
	w.Field("chain", string(b.Wallet.Chain))
	w.Field("wallet", b.Wallet.Name)
	w.Field("kind", string(b.Wallet.Kind))
	w.Optional("descriptor", b.Wallet.Descriptor)
	for _, base := range b.Wallet.Addresses {
		w.Field("address", base)
	}
	switch b.Wallet.Kind {
	case bursar.ColdPermission:
		w.Field("permission", strconv.Itoa(int(b.Wallet.PermissionID)))
	case bursar.ColdNonce:
		w.Field("nonce_account", b.Wallet.NonceAccount)
	}
	w.Field("asset", approval.AssetText(b.Payment.Contract))
	w.Address(b.Payment.Address)
	w.Amount("units", b.Payment.Amount)
	w.Amount("max_fee", b.MaxFee)
	w.Time("created", b.Created)
	w.Time("expires", b.Expires)
	if b.Height > 0 {
		w.Field("height", strconv.FormatUint(b.Height, 10))
	}
	w.Field("bytes", strconv.Itoa(len(b.Bytes)))
	text := w.Text() + "\n" + wrapped(base64.StdEncoding.EncodeToString(b.Bytes))
	return text + "checksum: " + checksum(text) + "\n"
}

func wrapped(text string) string {
	var lines strings.Builder
	for len(text) > lineWidth {
		lines.WriteString(text[:lineWidth] + "\n")
		text = text[lineWidth:]
	}
	lines.WriteString(text + "\n")
	return lines.String()
}

func checksum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Read reads a bundle. Whatever is not written as Text writes it is an ErrBundle.
func Read(text string) (Bundle, error) {
	b, err := read(text)
	if err != nil {
		return Bundle{}, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	return b, nil
}

func read(text string) (b Bundle, err error) {
	if len(text) > MaxBundle {
		return b, fmt.Errorf("the bundle has %d bytes, at most %d are allowed", len(text), MaxBundle)
	}
	end := strings.LastIndex(text, "checksum: ")
	if end < 0 || text[end:] != "checksum: "+checksum(text[:end])+"\n" {
		return b, errors.New("the bundle's checksum is not that of its text: the bundle was changed, or is incomplete")
	}
	head, body, found := strings.Cut(text[:end], "\n\n")
	if !found {
		return b, errors.New("the bundle has no transaction bytes")
	}
	r := approval.NewReader(head+"\n", kind)
	size := b.readFields(r)
	if err := r.Err(); err != nil {
		return b, err
	}
	if b.Bytes, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(body, "\n", "")); err != nil {
		return b, err
	}
	if int64(len(b.Bytes)) != size || b.Text() != text {
		return b, errors.New("the bundle is not in canonical form")
	}
	return b, nil
}

// readFields reads the fields and returns how many bytes follow.
func (b *Bundle) readFields(r *approval.Reader) int64 {
	b.Instance = r.Word("instance")
	b.Network = r.Word("network")
	b.ID = r.ID("refill", "")
	b.Wallet.Chain = bursar.ChainID(r.Name("chain"))
	b.Wallet.Name = r.Name("wallet")
	b.Wallet.Kind = bursar.ColdKind(r.Name("kind"))
	if text := r.Line("descriptor"); text != none {
		b.Wallet.Descriptor = text
	}
	for r.Has("address") && len(b.Wallet.Addresses) < bursar.MaxColdAddresses {
		b.Wallet.Addresses = append(b.Wallet.Addresses, r.Word("address"))
	}
	switch b.Wallet.Kind {
	case bursar.ColdPermission:
		b.Wallet.PermissionID = int32(r.Number("permission"))
	case bursar.ColdNonce:
		b.Wallet.NonceAccount = r.Word("nonce_account")
	}
	b.Payment.Contract = r.Asset("asset")
	b.Payment.Address = r.Address()
	b.Payment.Amount = r.Amount("units", false)
	b.MaxFee = r.Amount("max_fee", false)
	b.Created, b.Expires = r.Time("created"), r.Time("expires")
	if r.Has("height") {
		b.Height = uint64(r.Number("height"))
	}
	return r.Number("bytes")
}

// Same reports whether two bundles are of one refill: they differ in nothing but the signatures in their bytes.
func (b Bundle) Same(other Bundle) bool {
	b.Bytes, other.Bytes = nil, nil
	return bytes.Equal([]byte(b.Text()), []byte(other.Text()))
}

// Decode returns the bytes of what a device or a program of others returned: as they are, or read from base64 or
// hexadecimal.
func Decode(data []byte) []byte {
	text := strings.Join(strings.Fields(string(data)), "")
	if raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x")); err == nil {
		return raw
	}
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
		return raw
	}
	return data
}
