package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// signature is the value of the header webhook-signature after Standard Webhooks: "v1," and the base64 of
// HMAC-SHA256(secret, id.timestamp.body) for each secret, separated by spaces.
func signature(secrets [][]byte, id string, at time.Time, body []byte) string {
	var text []byte
	for i, secret := range secrets {
		if i > 0 {
			text = append(text, ' ')
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + timestamp(at) + "."))
		mac.Write(body)
		text = base64.StdEncoding.AppendEncode(append(text, "v1,"...), mac.Sum(nil))
	}
	return string(text)
}

// timestamp is a time as webhook-timestamp carries it.
func timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// secretsAt returns what an account's events are signed with: its secret, and the one before until the overlap ends. It
// returns nothing where a secret is missing, since a receiver that pins either must not be sent less.
func secretsAt(secrets Secrets, a bursar.Account, now time.Time) [][]byte {
	generations := []uint32{a.WebhookGeneration}
	if a.WebhookGeneration > 1 && now.Before(a.WebhookOverlap) {
		generations = append(generations, a.WebhookGeneration-1)
	}
	var list [][]byte
	for _, g := range generations {
		secret := secrets.WebhookSecret(a.ID, g)
		if len(secret) == 0 {
			return nil
		}
		list = append(list, secret)
	}
	return list
}
