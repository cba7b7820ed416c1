package main

import (
	"io"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar/bursartest/reference"
)

// unset has a parser forget what the line before set: a new one for each line would take most of the test's time.
func unset(n *kong.Node) {
	for _, f := range n.Flags {
		f.Set = false
	}
	for _, p := range n.Positional {
		p.Set = false
	}
	for _, child := range n.Children {
		unset(child)
	}
}

// TestDocumentedCommandLinesAreComplete has every command that a document shows to be typed parsed as the program
// does.
func TestDocumentedCommandLinesAreComplete(t *testing.T) {
	t.Parallel()
	var into commands
	c := &call{}
	c.Stdout, c.Stderr = io.Discard, io.Discard
	parser, err := newParser(c, &into, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	reference.CheckLines(t, "../..", "bursar", 400, func(args []string) error {
		into = commands{}
		unset(parser.Model.Node)
		_, err := parser.Parse(args)
		return err
	})
}
