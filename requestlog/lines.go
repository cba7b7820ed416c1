package requestlog

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
)

// Naming returns a handler of log lines that adds the request to those that one caused: "request", as in the log of
// requests and in the X-Request-ID of the answer.
func Naming(h slog.Handler) slog.Handler { return naming{h} }

type naming struct{ slog.Handler }

// Handle adds the request and passes the line on.
func (n naming) Handle(ctx context.Context, line slog.Record) error {
	if id := bursar.RequestOf(ctx); id != "" {
		line = line.Clone()
		line.AddAttrs(slog.String("request", id))
	}
	return n.Handler.Handle(ctx, line)
}

// WithAttrs returns the handler with attributes.
func (n naming) WithAttrs(attrs []slog.Attr) slog.Handler { return naming{n.Handler.WithAttrs(attrs)} }

// WithGroup returns the handler with a group.
func (n naming) WithGroup(name string) slog.Handler { return naming{n.Handler.WithGroup(name)} }
