package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// signature returns the value of the header webhook-signature as Standard Webhooks defines it: "v1," and the base64 of
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

// timestamp formats a time for the header webhook-timestamp.
func timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// secretsAt returns the secrets that sign an account's events: the current one, and the one before until the overlap
// ends. It returns nil where a secret is missing, because a receiver may verify with either.
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
