package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/netip"
	"net/url"
	"time"
)

// Screening configures the screening service that must pass deposits before they are credited and payouts before they
// are signed. The zero Screening means that nothing is screened.
type Screening struct {
	URL           Secret            // where the service is asked; it may contain a password
	Key           ed25519.PublicKey // with which it signs its answers
	Timeout       time.Duration     // of one question
	AllowNetworks []netip.Prefix    // networks in which it may be besides public addresses
}

// On reports whether something is screened.
func (s Screening) On() bool { return len(s.Key) > 0 }

var screeningSettings = []setting[Screening]{
	{"url", func(r *reader, n *node, to *Screening) { keep(&to.URL)(r.nodeURL(n)) }},
	{"key", func(r *reader, n *node, to *Screening) {
		text, ok := r.text(n)
		key, err := base64.StdEncoding.Strict().DecodeString(text)
		if ok && (err != nil || len(key) != ed25519.PublicKeySize) {
			r.fail(n, "%.60q is not an Ed25519 public key: 32 bytes in Base64", text)
			return
		}
		keep(&to.Key)(ed25519.PublicKey(key), ok)
	}},
	{"timeout", func(r *reader, n *node, to *Screening) {
		keep(&to.Timeout)(r.period(n, time.Second, 2*time.Minute))
	}},
	{"allow_networks", func(r *reader, n *node, to *Screening) { to.AllowNetworks = r.networks(n) }},
}

// screening reads the section. Both url and key are required: without the key every answer would be believed, and a
// section that asks nobody would look as if something were screened.
func (r *reader) screening(section *node, cfg *Config) {
	if section == nil {
		return
	}
	before := len(r.mistakes)
	to := Screening{Timeout: 30 * time.Second}
	read(r, section, screeningSettings, &to)
	if len(r.mistakes) > before {
		return
	}
	at, _ := url.Parse(to.URL.Reveal())
	switch {
	case to.URL.Reveal() == "":
		r.fail(section, "url is required: where the screening service is asked")
	case len(to.Key) == 0:
		r.fail(section, "key is required: the Ed25519 public key with which the screening service signs its answers")
	case cfg.Network == Mainnet && at.Scheme != "https":
		r.fail(section.field("url"), "on mainnet it must be https: what is asked names customers' payments")
	default:
		cfg.Screening = to
	}
}
