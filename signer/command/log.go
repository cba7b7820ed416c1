package command

import (
	"io"
	"log/slog"
)

// LogFlags are the logging flags of a long-running process.
type LogFlags struct {
	LogFormat string `enum:"text,json" default:"text" help:"Format of log lines on standard error: text or json."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"Lowest level that is logged: debug, info, warn or error."`
}

// Logger returns the logger that the flags describe.
func (cmd *LogFlags) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(cmd.LogLevel)) != nil {
		level = slog.LevelInfo // kong has validated the value
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if cmd.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// readable formats durations with their unit, which JSON would lack.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
