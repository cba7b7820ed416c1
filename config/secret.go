package config

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
)

const hidden = "[secret]"

// Secret is a text with credentials. Printing, logging or encoding it gives "[secret]", even in an unexported field: of
// a function, fmt prints only the address. The zero Secret is the empty text.
type Secret struct{ reveal func() string }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{func() string { return text }} }

// HoldsSecrets reports whether the configuration holds credentials of the database, of nodes, of a
// source of rates or of a receiver of notices.
func (c Config) HoldsSecrets() bool {
	if c.databaseHasPassword() || c.Rates.URL.Reveal() != "" {
		return true
	}
	for _, f := range c.Prices.Feeds {
		if f.URL.Reveal() != "" {
			return true
		}
	}
	if slices.ContainsFunc(c.Notices.Receivers, func(r NoticeReceiver) bool { return r.Webhook.Reveal() != "" }) {
		return true
	}
	for _, of := range c.Chains {
		if len(of.HeadersInClear()) > 0 || slices.ContainsFunc(append(of.URLs(), of.SolidURLs()...), func(url string) bool {
			return strings.Contains(url, "@")
		}) {
			return true
		}
	}
	return false
}

// Reveal returns the text in the clear, for the client that connects with it.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Format writes "[secret]" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns "[secret]".
func (Secret) String() string { return hidden }

// GoString returns "[secret]".
func (Secret) GoString() string { return hidden }

// LogValue returns "[secret]".
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalYAML returns "[secret]".
func (Secret) MarshalYAML() (any, error) { return hidden, nil }
