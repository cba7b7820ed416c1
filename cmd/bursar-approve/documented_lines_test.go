package main

import (
	"io"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
)

// TestDocumentedCommandLinesAreComplete has every command that a document shows to be typed parsed as the program
// does.
func TestDocumentedCommandLinesAreComplete(t *testing.T) {
	t.Parallel()
	reference.CheckLines(t, "../..", "bursar-approve", 8, func(args []string) error {
		parser, err := newParser(&session{out: io.Discard, err: io.Discard}, &commands{}, func(int) {})
		if err == nil {
			_, err = parser.Parse(args)
		}
		return err
	})
}
