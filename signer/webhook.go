package signer

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/bursar/bursar"
)

// webhookRoot returns the key that all webhook secrets are derived from. It separates them from the seed, so that a
// service without the seed can be given this root and nothing else.
func webhookRoot(seed []byte) ([sha256.Size]byte, error) {
	root, err := hkdf.Key(sha256.New, seed, nil, "bursar webhook root v1", sha256.Size)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("derive the webhook root: %w", err)
	}
	return [sha256.Size]byte(root), nil
}

// WebhookSecret returns the 32 bytes that sign an account's webhooks. They are constant for an account and generation,
// so no database needs to store them.
func (k *Keys) WebhookSecret(account bursar.ID, generation uint32) []byte {
	return webhookSecret(&k.secret.open().webhook, account, generation)
}

func webhookSecret(root *[sha256.Size]byte, account bursar.ID, generation uint32) []byte {
	// One block of HKDF-Expand (RFC 5869, section 2.3), which for 32 bytes is one HMAC of the info and the byte 1.
	mac := hmac.New(sha256.New, root[:])
	mac.Write([]byte("bursar webhook secret v1"))
	mac.Write(account[:])
	mac.Write(binary.BigEndian.AppendUint32(nil, generation))
	mac.Write([]byte{1})
	return mac.Sum(nil)
}

// WebhookSecretText returns the text form in which a client receives a secret, after Standard Webhooks.
func WebhookSecretText(secret []byte) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(secret)
}
