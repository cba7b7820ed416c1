// Package programtest builds a program of this module for its tests, and checks what is linked into it.
//
// It owns the way in which programs are built for tests. It never runs what it built.
package programtest

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Build builds the program in the current folder, without C as it is released, in a new folder that remove removes.
// Only the paths of its sources are not trimmed: with -trimpath the standard library and every library are compiled a
// second time, for all else the same program.
func Build(name string) (program string, remove func(), err error) {
	dir, err := os.MkdirTemp("", name+"-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	program = filepath.Join(dir, name)
	build := exec.CommandContext(context.Background(), "go", "build", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	err = os.Chmod(dir, 0o755) // tests run it as another user too
	if err = errors.Join(err, build.Run()); err != nil {
		remove()
		return "", nil, err
	}
	return program, remove, nil
}

// Linked checks that the program in the current folder contains only the given packages of this module, and only
// packages of other modules that begin with one of modules. It contains at least so many.
func Linked(t *testing.T, parts, modules []string, least int) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		".")
	list.Env = append(list.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := strings.Fields(string(out))
	if len(found) < least {
		t.Fatalf("go list names %d packages, want at least %d", len(found), least)
	}
	for _, path := range found {
		if ours, is := strings.CutPrefix(path, "github.com/bursar/bursar"); is {
			if !slices.Contains(parts, strings.TrimPrefix(ours, "/")) {
				t.Errorf("it contains %s", path)
			}
		} else if !slices.ContainsFunc(modules, func(m string) bool { return strings.HasPrefix(path, m) }) {
			t.Errorf("it contains %s", path)
		}
	}
}

// StaticAndSmall checks that a program needs no library that is installed, and has at most so many bytes.
func StaticAndSmall(t *testing.T, program string, maxSize int64) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("another format of programs than ELF")
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it has a %v: it needs what is installed", p.Type)
		}
	}
	info, err := os.Stat(program)
	if err != nil || info.Size() > maxSize {
		t.Errorf("it has %d bytes, at most %d (%v)", info.Size(), maxSize, err)
	}
	t.Logf("%d bytes", info.Size())
}
