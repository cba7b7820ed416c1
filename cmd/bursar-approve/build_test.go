package main

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// program is the built command, without C as it is released. Only the paths of its sources are not trimmed: with
// -trimpath the standard library and every library are compiled a second time, for all else the same program.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "bursar-approve-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // tests run it as another user too
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "bursar-approve")
	build := exec.CommandContext(context.Background(), "go", "build", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// Packages of this module that it may contain: no chain, no API, no database.
var parts = []string{"", "approval", "cmd/bursar-approve", "orderkey", "passkey", "roster", "sshsig"}

// Modules of others that it may contain, by the beginnings of their packages.
var modules = []string{"github.com/alecthomas/kong", "golang.org/x/crypto/", "golang.org/x/sys/cpu"}

// What it contains can be attacked in it. A package that comes in has to be named here.
func TestOnlyWhatAnApproverNeedsIsLinked(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		".")
	list.Env = append(list.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := strings.Fields(string(out))
	if len(found) < 10 {
		t.Fatalf("go list names %d packages, want at least 10", len(found))
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

// maxSize is the most that the program may take, in bytes.
const maxSize = 12 << 20

func TestTheProgramIsStaticAndSmall(t *testing.T) {
	t.Parallel()
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
