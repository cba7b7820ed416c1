package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// helpers is added to every changed package. The environment selects the active mutant, and while a test is watched
// each site that is reached sets a mark in a memory-mapped file.
const helpers = `package %s

import (
	"os"
	"strconv"
	"syscall"
)

var mutantActive, mutantMarks = mutantStart()

func mutantStart() (int, []byte) {
	active, err := strconv.Atoi(os.Getenv("MUTANT"))
	if err != nil {
		active = -1
	}
	file, err := os.OpenFile(os.Getenv("MUTANT_MARKS"), os.O_RDWR, 0)
	if err != nil {
		return active, nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	marks, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return active, marks
}

func mutantOn(n int) bool {
	if mutantMarks != nil {
		mutantMarks[n] = 1
	}
	return n == mutantActive
}

func mutantOr(n int, a bool, b func() bool) bool {
	if mutantOn(n) {
		return a && b()
	}
	return a || b()
}

func mutantAnd(n int, a bool, b func() bool) bool {
	if mutantOn(n) {
		return a || b()
	}
	return a && b()
}
`

// built is the repository with every site in it, and the test binaries made of that.
type built struct {
	root     string
	work     string // directory of the overlay and the binaries
	scratch  string // directory of the tests' own files
	sites    []site // those that compile
	binaries map[string]string
	quiet    map[string]bool // packages whose tests accept noFailFile
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)`)

// overlay writes the changed files and the list that makes the compiler use them in place of the original ones.
func (b *built) overlay() (string, error) {
	byFile := map[string][]site{}
	for _, s := range b.sites {
		byFile[s.file] = append(byFile[s.file], s)
	}
	replace, packages := map[string]string{}, map[string]string{}
	for file, sites := range byFile {
		path := filepath.Join(b.root, file)
		src, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		changed, err := rewrite(src, sites)
		if err != nil {
			return "", fmt.Errorf("change %s: %w", file, err)
		}
		changed = append([]byte("//line "+file+":1\n"), changed...) // line numbers stay: no edit adds a line
		if replace[path], err = b.write(file, changed); err != nil {
			return "", err
		}
		packages[filepath.Dir(path)] = string(packageClause.FindSubmatch(src)[1])
	}
	for dir, name := range packages {
		rel, err := filepath.Rel(b.root, dir)
		if err != nil {
			return "", err
		}
		if replace[filepath.Join(dir, "zz_mutant.go")], err = b.write(filepath.Join(rel, "zz_mutant.go"),
			fmt.Appendf(nil, helpers, name)); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return b.write("overlay.json", text)
}

func (b *built) write(name string, text []byte) (string, error) {
	path := filepath.Join(b.work, "src", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o644)
}

// maxRounds bounds how often the packages are compiled to find the sites that do not compile.
const maxRounds = 12

var position = regexp.MustCompile(`(?m)^(?:\./)?([\w/.-]+\.go):(\d+):\d+: (.*)$`)

// compile builds a test binary of each package that has tests. Sites on lines that the compiler refuses are left out:
// they are no mutants.
func (b *built) compile(ctx context.Context, packages []string, say func(string, ...any)) error {
	for range maxRounds {
		overlay, err := b.overlay()
		if err != nil {
			return err
		}
		bad, err := b.compileOnce(ctx, overlay, packages)
		if err != nil || len(bad) == 0 {
			return err
		}
		kept := b.sites[:0]
		for _, s := range b.sites {
			if !bad[s.file+":"+strconv.Itoa(s.line)] {
				kept = append(kept, s)
			}
		}
		say("%d sites do not compile and are left out", len(b.sites)-len(kept))
		if b.sites = kept; len(bad) > 0 && len(kept) == 0 {
			return fmt.Errorf("nothing compiles")
		}
	}
	return fmt.Errorf("after %d rounds there are still sites that do not compile", maxRounds)
}

func (b *built) compileOnce(ctx context.Context, overlay string, packages []string) (bad map[string]bool, err error) {
	b.binaries, bad = map[string]string{}, map[string]bool{}
	for _, pkg := range packages {
		binary := filepath.Join(b.work, regexp.MustCompile(`\W+`).ReplaceAllString(pkg, "_")+".test")
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-gcflags=all=-e", "-overlay",
			overlay, "-o", binary, "./"+pkg)
		cmd.Dir = b.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // the C linker takes longer than all tests
		out, err := cmd.CombinedOutput()
		if err == nil {
			if _, err := os.Stat(binary); err == nil {
				b.binaries[pkg] = binary
			}
			continue
		}
		found := position.FindAllSubmatch(out, -1)
		for _, m := range found {
			bad[filepath.ToSlash(string(m[1]))+":"+string(m[2])] = true
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("compile the tests of %s: %w\n%s", pkg, err, bytes.TrimSpace(out))
		}
		return bad, nil
	}
	return bad, nil
}
