package docs

import "embed"

// Files are the project's documents as Markdown, with the pictures and examples that they show, below the folder of the
// documents.
//
//go:embed *.md commands decisions operations payer-page observability
var Files embed.FS

// Style is the style sheet of every page of the documentation.
func Style() string { return style }
