// Package command implements the commands of the person who holds the seed, shared by the programs bursar and
// bursar-signer.
//
// It owns their names, flags and texts, and decides nothing. Its invariants: results go to standard output and
// everything else to standard error; a secret is printed only by the command that makes it; it links neither the API
// nor the database of the service.
package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os/user"
	"strings"
	"time"
	"unicode"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

// Call is one run of a command with its inputs and outputs.
type Call struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	Config         string // --config; empty: not given
	Terminal       *bool  // whether a person can answer at Stdin; nil: as Stdin is

	said *collected // nil: what is said is printed at once
}

// Getenv returns a variable of the environment, as os.Getenv.
func (c *Call) Getenv(name string) (value string) {
	for _, pair := range c.Environ {
		if found, ok := strings.CutPrefix(pair, name+"="); ok {
			value = found
		}
	}
	return value
}

// Note writes something for the operator that is not a result.
func (c *Call) Note(format string, args ...any) { fmt.Fprintf(c.Stderr, format+"\n", args...) }

// Say prints a line of result, or keeps it for Finish.
func (c *Call) Say(format string, args ...any) error {
	if c.said != nil {
		c.said.sentences = append(c.said.sentences, fmt.Sprintf(format, args...))
		return nil
	}
	if _, err := fmt.Fprintf(c.Stdout, format+"\n", args...); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// PrintJSON prints a value on one line.
func (c *Call) PrintJSON(value any) error {
	encoder := json.NewEncoder(c.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// Load reads the configuration. If no file is named and the default file does not exist, the environment may hold all
// of it. The error is a UsageError.
func (c *Call) Load() (config.Config, error) {
	path := c.file()
	cfg, err := config.Load(path, c.Environ)
	if c.Config == "" && errors.Is(err, fs.ErrNotExist) && config.HasSettings(c.Environ) {
		cfg, err = config.Parse(path, nil, c.Environ)
	}
	if err == nil {
		cfg, err = host.Canonical(cfg)
	}
	if err != nil {
		return config.Config{}, UsageError{Err: err}
	}
	return cfg, nil
}

// Protect readies this process for the seed: its memory as host.Protect does, and its files as host.Private does.
func (c *Call) Protect(cfg config.Config, log *slog.Logger) error {
	if err := host.Protect(cfg, log); err != nil {
		return err
	}
	var files []string
	if cfg.HoldsSecrets() {
		files = append(files, c.file())
	}
	return host.Private(cfg, log, files...)
}

// file returns the configuration file.
func (c *Call) file() string {
	if c.Config == "" {
		return config.DefaultFile
	}
	return c.Config
}

// UsageError is a mistake in the command line or the configuration: nothing was attempted.
type UsageError struct{ Err error }

// Error returns the mistake's text.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e UsageError) Unwrap() error { return e.Err }

// Wrong returns a UsageError.
func Wrong(format string, args ...any) error { return UsageError{Err: fmt.Errorf(format, args...)} }

// Mistaken reports whether the operator must change the command line, the configuration or the environment.
func Mistaken(err error) bool {
	var u UsageError
	return errors.As(err, &u) || errors.Is(err, signer.ErrNoPassphrase) || errors.Is(err, signer.ErrTwoPassphrases) ||
		errors.Is(err, host.ErrEnvironment)
}

// Actor is the operator who does something.
type Actor struct {
	By string `placeholder:"NAME" help:"Name of the operator. Default: the user of this process."`
}

// Name returns the operator's name.
func (a Actor) Name() string {
	if a.By != "" {
		return a.By
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}

// Begin holds the flags of every command that halts or freezes.
type Begin struct {
	Reason string `required:"" placeholder:"TEXT" help:"Reason, for the record."`
	Actor
}

// Cell formats a value for one cell, so that it cannot move a terminal's cursor or break the table.
func Cell(value any) string {
	text := fmt.Sprint(value)
	if t, ok := value.(time.Time); ok {
		text = Moment(t)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if text == "" {
		return "-"
	}
	return text
}

// Moment formats a time for a table.
func Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
