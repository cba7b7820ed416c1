package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/store"
)

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// mistaken returns an error of the command line or the configuration.
func mistaken(err error) error { return command.UsageError{Err: err} }

func wrong(format string, args ...any) error { return command.Wrong(format, args...) }

// usage adds which command's help to read.
func usage(err error) error {
	var parse *kong.ParseError
	command := "bursar"
	if errors.As(err, &parse) && parse.Context != nil {
		for _, p := range parse.Context.Path {
			if p.Command != nil {
				command = p.Command.FullPath()
			}
		}
	}
	text := strings.ReplaceAll(err.Error(), `must be one of "",`, "must be one of ") // the flag may be left out
	return wrong("%s; see `%s --help`", text, command)
}

// fail prints an error for the operator and returns the exit code.
func (c *call) fail(err error) int {
	fmt.Fprintln(c.Stderr, "bursar: "+sentence(err))
	if configuration(err) {
		return exitUsage
	}
	return exitFailed
}

// configuration reports whether the operator must change the command line, the configuration or the environment.
func configuration(err error) bool {
	return command.Mistaken(err) || errors.Is(err, store.ErrBadURL)
}

// sentence returns an error's message for the operator, without the public code of a refusal.
func sentence(err error) string {
	var refused *bursar.Error
	switch {
	case errors.As(err, &refused):
		return refused.Message
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return err.Error()
}

// named replaces bursar.ErrNotFound by an error message that says what was not found and where to look.
func named(err error, format string, args ...any) error {
	if errors.Is(err, bursar.ErrNotFound) || errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf(format, args...)
	}
	return err
}
