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

// check checks the formatting, then runs the linter and the tests, whose output comes last. With -short, and where
// single packages are asked for, it runs vet instead of the linter, whose govet has every analyser of go vet
// (golangci-lint 2.15, pkg/golinters/govet): both of them took a minute and more of CPU time.
func check(ctx context.Context, m machine, asked arguments) error {
	m.say("== formatting")
	wrong, err := unformatted(".")
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("gofmt would change: %s", strings.Join(wrong, " "))
	}
	analysis := line(append([]string{"go", "vet"}, asked.vet...)...)
	if asked.whole() {
		analysis = lint(m, everything)
	}
	tests := line(append([]string{"go", "test"}, asked.test...)...)
	analysis.env, tests.env = append(static(m), relaxed(m, "3GiB")...), append(static(m), relaxed(m, "2GiB")...)
	for _, c := range []command{analysis, tests} {
		m.say("== " + strings.Join(append(slices.Clone(c.env), c.String()), " "))
		if err := m.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, errors.Join(errTests, err))
		}
	}
	return nil
}

// static builds without cgo, as the released programs are built, unless the environment says otherwise: nothing of the
// project needs cgo, the tests build static programs anyway, and compiling the standard library and go-ethereum's
// libraries of C a second time took a minute and a half of CPU time. The linter gets the same, to share what is
// compiled.
func static(m machine) (env []string) {
	if m.getenv("CGO_ENABLED") == "" {
		env = append(env, "CGO_ENABLED=0")
	}
	return env
}

// relaxed lets garbage collectors of tests and of what they start work less often, as long as memory is small, unless
// the environment says how often. sandbox/nodes/ethereum took 19 s of CPU time instead of 27, api 7.7 instead of 9.2.
// The linter, which runs alone, took 26 s for two packages and all that they import instead of 32, and 3.1 GiB of
// memory for everything.
func relaxed(m machine, memory string) (env []string) {
	for _, set := range []string{"GOGC=300", "GOMEMLIMIT=" + memory} {
		if name, _, _ := strings.Cut(set, "="); m.getenv(name) == "" {
			env = append(env, set)
		}
	}
	return env
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
