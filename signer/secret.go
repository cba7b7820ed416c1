package signer

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what every formatter, logger and encoder gets to see of a secret.
const hidden = "[secret]"

// redacted is embedded in types that hold secrets. What they hold stands in a vault as well, because fmt does not call
// the methods of a value in an unexported field of somebody else's struct, but prints what it finds inside.
type redacted struct{}

// vault hides a value behind a function. Of a function fmt prints the address, whatever the verb; a pointer would be
// followed for a verb that does not suit it, such as %s.
type vault[T any] func() *T

func conceal[T any](v *T) vault[T] { return func() *T { return v } }

// open returns what is hidden, nil in a zero vault.
func (v vault[T]) open() *T {
	if v == nil {
		return nil
	}
	return v()
}

// Format writes "[secret]" whatever the verb.
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
