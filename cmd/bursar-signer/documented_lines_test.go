package main

import (
	"io"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
	"github.com/bursar/bursar/signer/command"
)

// TestDocumentedCommandLinesAreComplete has every command that a document shows to be typed parsed as the program
// does.
func TestDocumentedCommandLinesAreComplete(t *testing.T) {
	t.Parallel()
	reference.CheckLines(t, "../..", "bursar-signer", 30, func(args []string) error {
		parser, err := newParser(&command.Call{Stdout: io.Discard, Stderr: io.Discard}, &commands{}, func(int) {})
		if err == nil {
			_, err = parser.Parse(args)
		}
		return err
	})
}
