package bursar_test

import (
	"go/ast"
	"reflect"
	"strconv"
	"testing"
)

// maxHelp bounds the help of a flag or a command. What needs more is said in the command's Help.
const maxHelp = 120

// A field's tag stays in one line of code, and a flag's help is read in a column beside the flag.
func TestHelpOfFlagsIsShort(t *testing.T) {
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
