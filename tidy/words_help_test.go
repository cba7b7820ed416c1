package tidy_test

import (
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// maxHelp bounds the help of a flag or a command. What needs more is said in the command's Help.
const maxHelp = 120

// A field's tag stays in one line of code, and a flag's help is read in a column beside the flag.
func TestHelpOfFlagsIsShort(t *testing.T) {
	atRoot(t)
	looked := 0
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			field, is := n.(*ast.Field)
			if !is || field.Tag == nil {
				return true
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Errorf("%s: the tag %s cannot be read: %v", s.files.Position(field.Pos()), field.Tag.Value, err)
				return true
			}
			help, has := reflect.StructTag(tag).Lookup("help")
			if !has {
				return true
			}
			looked++
			if len(help) > maxHelp {
				t.Errorf("%s: the help has %d characters, want at most %d: %q", s.files.Position(field.Pos()), len(help),
					maxHelp, help)
			}
			return true
		})
	}
	if looked < 300 {
		t.Errorf("looked at the help of %d fields, want at least 300", looked)
	}
}

// withoutCode is the text of a document or a help without what is code in it.
var withoutCode = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)")

// The texts that people read have none of the words that the glossary replaced: not the help of commands and flags, and
// not the documents. Decisions keep their titles, the changelog says what was so on its day, and the glossary has them
// all.
func TestTextsForPeopleHaveNoRetiredWords(t *testing.T) {
	atRoot(t)
	check := func(where, text string) {
		text = withoutCode.ReplaceAllString(text, "")
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isLetter(r) }) {
			if instead, found := isRetired(word, true); found {
				t.Errorf("%s has the word %q, want %s", where, word, instead)
			}
		}
	}
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			at := func() string { return s.files.Position(n.Pos()).String() }
			switch n := n.(type) {
			case *ast.Field:
				if n.Tag != nil {
					check(at(), n.Tag.Value)
				}
			case *ast.FuncDecl:
				if n.Name.Name == "Help" && n.Recv != nil {
					check(at(), textsIn(n.Body))
				}
			}
			return true
		})
	}
	for name, text := range documents(t) {
		if strings.HasPrefix(name, "docs/decisions/") {
			_, text, _ = strings.Cut(text, "\n")
		}
		if name != "docs/glossary.md" && name != "CHANGELOG.md" {
			check(name, text)
		}
	}
}

// textsIn returns the string constants of a part of the code, one after the other.
func textsIn(n ast.Node) string {
	var b strings.Builder
	ast.Inspect(n, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				b.WriteString(text)
			}
		}
		return true
	})
	return b.String()
}
