package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// errTests means that tests, or vet, found something and printed it.
var errTests = errors.New("the tests fail")

// check checks the formatting, then runs vet, the linter and the tests, whose output comes last. The linter is left out
// with -short and where single packages are asked for.
func check(ctx context.Context, m machine, asked arguments) error {
	m.say("== formatting")
	wrong, err := unformatted(".")
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("gofmt would change: %s", strings.Join(wrong, " "))
	}
	commands := []command{line(append([]string{"go", "vet"}, asked.vet...)...)}
	if !asked.short && slices.Equal(asked.vet, everything) {
		commands = append(commands, lint(m, everything))
	}
	for _, c := range append(commands, line(append([]string{"go", "test"}, asked.test...)...)) {
		m.say("== " + c.String())
		if err := m.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, errors.Join(errTests, err))
		}
	}
	return nil
}

// unformatted returns the Go files below a directory that gofmt would change.
func unformatted(root string) ([]string, error) {
	var wrong []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (len(d.Name()) > 1 && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		formatted, err := format.Source(text)
		if err != nil {
			return fmt.Errorf("format %s: %w", path, err)
		}
		if !bytes.Equal(text, formatted) {
			wrong = append(wrong, path)
		}
		return nil
	})
	return wrong, err
}
