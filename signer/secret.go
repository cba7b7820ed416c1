package signer

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what every formatter, logger and encoder outputs for a secret.
const hidden = "[secret]"

// redacted is embedded in types that contain secrets. The secrets are also kept in a vault, because fmt does not call
// the methods of a value in an unexported field of another package's struct, but prints its content.
type redacted struct{}

// vault hides a value behind a function. fmt prints the address of a function, whatever the verb; it would follow a
// pointer for a verb that does not suit it, such as %s.
type vault[T any] func() *T

func conceal[T any](v *T) vault[T] { return func() *T { return v } }

// open returns the hidden value, nil for a zero vault.
func (v vault[T]) open() *T {
	if v == nil {
		return nil
	}
	return v()
}

// Format writes "[secret]" for every verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String returns "[secret]".
func (redacted) String() string { return hidden }

// GoString returns "[secret]".
func (redacted) GoString() string { return hidden }

// LogValue returns "[secret]".
func (redacted) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText returns "[secret]".
func (redacted) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON returns "[secret]" as a JSON string.
func (redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }
