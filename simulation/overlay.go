package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plantedBug is the variable of the environment that names the bug which a service with planted bugs has. Without it
// the service has none.
const plantedBug = "BURSAR_PLANTED_BUG"

// overlay writes the sources with every bug into a directory, and a list that makes the compiler use them in place of
// the originals, which are not touched. A function with a bug stands there twice; the right one begins by calling the
// wrong one if the environment names the bug. So one build serves all of them.
func overlay(root, folder string) (list string, err error) {
	instead := map[string]string{}
	for i, b := range bugs {
		original := filepath.Join(root, b.file)
		if instead[original] == "" {
			instead[original] = original
		}
		text, err := os.ReadFile(instead[original])
		if err != nil {
			return "", err
		}
		planted, name, err := b.beside(text, fmt.Sprintf("planted%d", i))
		if err != nil {
			return "", err
		}
		instead[original] = filepath.Join(folder, fmt.Sprintf("source%d.go", i))
		if err := os.WriteFile(instead[original], planted, 0o600); err != nil {
			return "", err
		}
		switched := filepath.Join(folder, name+".go")
		if err := os.WriteFile(switched, reader(name), 0o600); err != nil {
			return "", err
		}
		instead[filepath.Join(filepath.Dir(original), "planted_bug.go")] = switched
	}
	out, err := json.Marshal(map[string]map[string]string{"Replace": instead})
	if err != nil {
		return "", err
	}
	list = filepath.Join(folder, "overlay.json")
	return list, os.WriteFile(list, out, 0o600)
}

// reader is the source of a package's variable that holds the name of the bug.
func reader(name string) []byte {
	return fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar plantedBug = os.Getenv(%q)\n", name, plantedBug)
}

// beside returns a source in which the function with the bug stands beside the right one under another name, and the
// name of the source's package. The text to be replaced must occur once, inside a function with named parameters.
func (b bug) beside(text []byte, name string) (planted []byte, packageName string, err error) {
	if n := bytes.Count(text, []byte(b.was)); n != 1 {
		return nil, "", fmt.Errorf("%q occurs %d times in %s, want once", b.was, n, b.file)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, b.file, text, 0)
	if err != nil {
		return nil, "", err
	}
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	at := bytes.Index(text, []byte(b.was))
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || at < offset(f.Pos()) || at >= offset(f.End()) {
			continue
		}
		start, end, ident, body := offset(f.Pos()), offset(f.End()), offset(f.Name.Pos()), offset(f.Body.Lbrace)+1
		wrong := slices.Concat(text[start:ident], []byte(name), text[ident+len(f.Name.Name):end])
		wrong = bytes.Replace(wrong, []byte(b.was), []byte(b.is), 1)
		call := fmt.Appendf(nil, "\n\tif plantedBug == %q {\n\t\t%s\n\t}\n", b.name, callOf(f, name))
		return slices.Concat(text[:body], call, text[body:], []byte("\n"), wrong, []byte("\n")), file.Name.Name, nil
	}
	return nil, "", fmt.Errorf("%q stands in no function of %s", b.was, b.file)
}

// callOf returns the statement that hands a function's arguments to another of the same shape, and returns its results.
func callOf(f *ast.FuncDecl, name string) string {
	var arguments []string
	for _, field := range f.Type.Params.List {
		for _, n := range field.Names {
			argument := n.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				argument += "..."
			}
			arguments = append(arguments, argument)
		}
	}
	if f.Recv != nil {
		name = f.Recv.List[0].Names[0].Name + "." + name
	}
	call := name + "(" + strings.Join(arguments, ", ") + ")"
	if f.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}
