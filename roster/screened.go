package roster

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
)

// ScreeningKeyText returns how the key of a screening service is written: 32 bytes in standard Base64.
func ScreeningKeyText(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

func readScreeningKey(r *approval.Reader) ed25519.PublicKey {
	text := r.Word("screening_key")
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	r.Demand(r.Err() != nil || err == nil && len(key) == ed25519.PublicKeySize,
		"screening_key is %.60q, want an Ed25519 public key: 32 bytes in Base64", text)
	return key
}

func hasScreener(list []ed25519.PublicKey, key ed25519.PublicKey) bool {
	return slices.ContainsFunc(list, func(one ed25519.PublicKey) bool { return one.Equal(key) })
}

// soundScreening refuses a rule that no payment could meet, and one that only seems to demand a pass.
func (p Policy) soundScreening() error {
	texts := make([]string, len(p.Screeners))
	for i, key := range p.Screeners {
		texts[i] = ScreeningKeyText(key)
	}
	if !sorted(texts) {
		return unsound("the screening keys must be sorted, each once")
	}
	for _, r := range p.Rules {
		switch {
		case r.Screened == 0:
		case r.Deny || !slices.Contains(r.For, KindWithdrawal):
			return unsound("%s: only withdrawals are screened", r.ID)
		case len(p.Screeners) == 0:
			return unsound("%s demands a pass of the screening service, and there is no screening_key", r.ID)
		case r.Screened > approval.Longest:
			return unsound("%s: a pass counts for at most %s", r.ID, span(approval.Longest))
		}
	}
	return nil
}

func diffScreeners(old, next Policy, add adder) {
	for _, key := range next.Screeners {
		if !hasScreener(old.Screeners, key) {
			add(true, "screening key %s is new", ScreeningKeyText(key))
		}
	}
	for _, key := range old.Screeners {
		if !hasScreener(next.Screeners, key) {
			add(false, "screening key %s is gone", ScreeningKeyText(key))
		}
	}
}

// screened returns which pass a rule still needs; "" if none.
func (r Rule) screened(q Question) string {
	switch {
	case r.Screened == 0:
		return ""
	case q.Passed.IsZero():
		return "the screening service has not passed it"
	case q.Now.After(q.Passed.Add(r.Screened)):
		return "the screening service passed it at " + q.Passed.UTC().Format(time.RFC3339) + ", and that counts for " +
			span(r.Screened)
	}
	return ""
}
