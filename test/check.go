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

// analysts are the steps whose programs no test runs: the tests begin without them.
var analysts = []string{"golangci-lint", "govulncheck"}

// checks are the jobs that check the project, after those that install something: the formatting, libraries, the linter
// and the tests. With -short, and where single packages are asked for, vet runs instead of the linter, whose govet has
// every analyser of go vet (golangci-lint 2.15, pkg/golinters/govet): both of them took a minute and more of CPU time.
//
// A run of everything compiles first, while apt and npm wait for the network, and then builds the linter, so that no
// package of the standard library is compiled twice. Tests and linter run beside each other, because each leaves a core
// idle at times: the tests' output is held back until all else is done, and comes last.
func checks(m machine, asked arguments, install []string) []job {
	tests := hold(m.out)
	list := []job{
		{"formatting", nil, func(context.Context) error { return formatting(m) }},
		{"analysis", []string{"compile", "golangci-lint"}, func(ctx context.Context) error {
			return analysed(ctx, m, asked)
		}},
		{"tests", nil, func(ctx context.Context) error { return tested(ctx, m, asked, tests) }},
		{"release", []string{"formatting", "analysis", "libraries", "vulnerabilities"}, func(context.Context) error {
			return tests.release()
		}},
	}
	needs := slices.DeleteFunc(slices.Clone(install), func(name string) bool {
		return slices.Contains(analysts, strings.TrimPrefix(name, "sources of "))
	})
	list[2].after = append(needs, "compile", "formatting")
	if asked.whole() {
		list = append(list,
			job{"compile", nil, func(ctx context.Context) error { return compiled(ctx, m) }},
			job{"libraries", []string{"compile"}, func(ctx context.Context) error { return verified(ctx, m) }},
			job{"vulnerabilities", []string{"compile", "govulncheck"}, func(ctx context.Context) error {
				return vulnerabilities(ctx, m)
			}})
	}
	return list
}

func formatting(m machine) error {
	m.say("== formatting")
	wrong, err := unformatted(".")
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("gofmt would change: %s", strings.Join(wrong, " "))
	}
	return err
}

// compiled compiles all that the tests are linked from. An error is the tests' to show.
func compiled(ctx context.Context, m machine) error {
	c := line(append([]string{"go", "list", "-export", "-test", "-deps", "-e", "-f", "{{with .Error}}{{.}}{{end}}"},
		everything...)...)
	c.env = append(static(m), relaxed(m, "2GiB")...)
	m.say("== " + c.String())
	_, err := m.keep(ctx, c)
	if ctx.Err() == nil {
		err = nil
	}
	return err
}

func analysed(ctx context.Context, m machine, asked arguments) error {
	c := line(append([]string{"go", "vet"}, asked.vet...)...)
	if asked.whole() {
		c = lint(m, everything)
	}
	c.env = append(static(m), relaxed(m, "3GiB")...)
	return announced(ctx, m, c)
}

func tested(ctx context.Context, m machine, asked arguments, out *held) error {
	c := line(append([]string{"go", "test"}, asked.test...)...)
	c.env, c.out, c.group = append(static(m), relaxed(m, "2GiB")...), out, true
	err := announced(ctx, m, c)
	if err != nil { // what else is checked still counts, and is printed before
		select {
		case <-out.released:
		case <-ctx.Done():
		}
	}
	return err
}

// announced runs a command that prints what it finds, after it has printed the command.
func announced(ctx context.Context, m machine, c command) error {
	m.say("== " + strings.Join(append(slices.Clone(c.env), c.String()), " "))
	if err := m.run(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", c, errors.Join(errTests, err))
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
// memory for everything. What is not in use is given back to the system lazily: cmd/bursar took 109 s of CPU time
// instead of 121 where the system is slow to take memory back and to give it out again.
func relaxed(m machine, memory string) (env []string) {
	for _, set := range []string{"GOGC=300", "GOMEMLIMIT=" + memory, "GODEBUG=madvdontneed=0"} {
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
