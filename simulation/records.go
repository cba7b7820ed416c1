package main

import (
	"io"
	"log/slog"
)

// newRecords writes what the service logs, without the time of day.
func newRecords(w io.Writer, _ func(string, ...any)) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
}
