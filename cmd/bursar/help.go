package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/docs/site"
)

type helpCommand struct {
	Topic []string `arg:"" optional:"" help:"A command, a document, or words to look for in the documents."`
}

// Help returns examples.
func (helpCommand) Help() string {
	return "Explains a command as its --help does, prints a document, or lists the sections about some " +
		"words.\n\nExample:\n\n    bursar help withdrawal approve\n    " +
		"bursar help operations/backup\n    bursar help below minimum"
}

// Run explains a topic.
func (cmd *helpCommand) Run(ctx context.Context, c *call) error {
	cmd.Topic = spelled(cmd.Topic)
	var line commands
	parser, err := newParser(&call{Call: c.Call}, &line, func(int) {}, cmd.Topic...)
	if err != nil {
		return err
	}
	if isCommand(parser.Model.Node, cmd.Topic) {
		if code := run(ctx, &call{Call: c.Call}, append(cmd.Topic, "--help")); code != 0 {
			return fmt.Errorf("the help of %q cannot be printed", strings.Join(cmd.Topic, " "))
		}
		return nil
	}
	pages, err := site.New(docs.Files, docs.Style())
	if err != nil {
		return err
	}
	topic := strings.Join(cmd.Topic, " ")
	if text, found := pages.Markdown(topic); found {
		_, err := c.Stdout.Write(text)
		return err
	}
	lines := (&docsCommand{Search: topic}).lines(pages)
	if len(lines) == 0 {
		return fmt.Errorf("there is no command, no document and no section about %q: see `bursar --help` and `bursar docs`",
			topic)
	}
	return printDocs(c, lines)
}

// isCommand reports whether words name a command or a group; no word names the program.
func isCommand(n *kong.Node, words []string) bool {
	for _, w := range words {
		var found *kong.Node
		for _, child := range n.Children {
			if child.Name == w {
				found = child
			}
		}
		if found == nil {
			return false
		}
		n = found
	}
	return true
}
