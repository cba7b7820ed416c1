package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/docs/site"
)

type docsCommand struct {
	Page   string   `arg:"" optional:"" help:"Document to print, as Markdown; default: list them. search: list the sections with all of the words that follow."`
	Words  []string `arg:"" optional:"" help:"What is searched for."`
	Search string   `placeholder:"WORDS" help:"As search with these words: the best first."`
	JSON   bool     `name:"json" help:"Print lists as JSON."`
}

// Help returns examples.
func (docsCommand) Help() string {
	return "The documents are those of this version; the service serves them below /docs/index.\n\nExample:\n\n" +
		"    bursar docs\n    bursar docs operations/backup\n    bursar docs search below_minimum"
}

// searchWord stands in the place of a document, of which none has this name.
const searchWord = "search"

type docsLine struct {
	Page    string `json:"page"`
	Title   string `json:"title"`
	Section string `json:"section,omitempty"`
	Excerpt string `json:"excerpt,omitempty"`
}

// Run prints a document, or a list of them.
func (cmd *docsCommand) Run(c *call) error {
	if cmd.Page == searchWord && len(cmd.Words) > 0 && cmd.Search == "" {
		cmd.Page, cmd.Search, cmd.Words = "", strings.Join(cmd.Words, " "), nil
	}
	switch {
	case cmd.Page != "" && cmd.Search != "":
		return usage(errors.New("either a document or --search"))
	case cmd.Page == searchWord:
		return usage(errors.New("search needs words: bursar docs search WORDS"))
	case len(cmd.Words) > 0:
		return wrong("a document has one name: %.60q is too much", strings.Join(cmd.Words, " "))
	}
	pages, err := site.New(docs.Files, docs.Style())
	if err != nil {
		return err
	}
	if cmd.Page != "" {
		text, found := pages.Markdown(cmd.Page)
		if !found {
			return fmt.Errorf("there is no document %q; `bursar docs` lists them", cmd.Page)
		}
		_, err := c.Stdout.Write(text)
		return err
	}
	lines := cmd.lines(pages)
	if cmd.JSON {
		return c.PrintJSON(lines)
	}
	if cmd.Search != "" && len(lines) == 0 {
		c.Note("No section has all of these words.")
	}
	return printDocs(c, lines)
}

// lines returns what was searched for, or else every document in the order of the contents.
func (cmd *docsCommand) lines(pages *site.Site) []docsLine {
	lines := []docsLine{}
	if cmd.Search == "" {
		for _, n := range pages.Names() {
			lines = append(lines, docsLine{Page: n[0], Title: n[1]})
		}
		return lines
	}
	for _, h := range pages.Search(cmd.Search) {
		page, _, _ := strings.Cut(strings.TrimPrefix(h.Path, site.Root), "#")
		lines = append(lines, docsLine{Page: page, Title: h.Title, Section: h.Heading, Excerpt: h.Excerpt})
	}
	return lines
}

func printDocs(c *call, lines []docsLine) error {
	for _, l := range lines {
		text := fmt.Sprintf("%-44s %s", l.Page, l.Title)
		if l.Excerpt != "" {
			text = fmt.Sprintf("%s: %s\n    %s\n", l.Page, l.Section, l.Excerpt)
		}
		if err := c.Say("%s", text); err != nil {
			return err
		}
	}
	return nil
}
