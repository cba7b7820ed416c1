package docs

import (
	"html/template"
	"regexp"
	"strings"
)

var (
	codeMark = regexp.MustCompile("`([^`]+)`")
	boldMark = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// inline shows text with `code` and **weight**, the two marks that the file uses. All else is text.
func inline(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	escaped = codeMark.ReplaceAllString(escaped, "<code>$1</code>")
	return template.HTML(boldMark.ReplaceAllString(escaped, "<strong>$1</strong>"))
}

// paragraphs are separated by empty lines.
func paragraphs(text string) []template.HTML {
	var list []template.HTML
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if p != "" {
			list = append(list, inline(strings.Join(strings.Fields(p), " ")))
		}
	}
	return list
}
