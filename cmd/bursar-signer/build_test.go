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
	switch filepath.Base(os.Args[0]) {
	case pluginProgram:
		os.Exit(runPlugin())
	case tokenProgram:
		os.Exit(runToken())
	}
	dir, err := os.MkdirTemp("", "bursar-signer-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // tests run it as another user too
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "bursar-signer")
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

// Packages of this module that it may contain. What the service does with clients, nodes and its database is elsewhere.
var parts = []string{"", "approval", "ceremony", "chain", "chain/bitcoin",
	"chain/bitcoin/descriptor", "chain/bitcoin/psbt", "chain/ethabi", "chain/ethkey", "chain/evm", "chain/registry",
	"chain/rpc",
	"chain/rpc/push", "chain/solana", "chain/tron", "chain/xrpl", "cmd/bursar-signer", "config", "marks", "orderkey",
	"netpolicy", "passkey", "verdict",
	"roster", "signer", "signer/command", "signer/host", "signer/memory", "signer/orders", "signer/people", "signer/proof",
	"signer/remote",
	"signer/token", "signer/tpm", "slip39", "sshsig"}

// Modules of others that it may contain, by the beginnings of their packages.
var modules = []string{"filippo.io/age", "filippo.io/hpke", "github.com/alecthomas/kong", "github.com/btcsuite/",
	"github.com/coder/websocket", "github.com/decred/dcrd/", "github.com/dustin/go-humanize",
	"github.com/ethereum/go-ethereum/common/math", "github.com/ethereum/go-ethereum/crypto/keccak",
	"github.com/ethereum/go-ethereum/rlp", "github.com/go-json-experiment/json", "github.com/google/go-tpm/",
	"github.com/google/uuid",
	"github.com/holiman/uint256", "github.com/remyoudompheng/bigfft", "golang.org/x/", "gopkg.in/yaml.v3", "rsc.io/qr",
	"modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory", "modernc.org/sqlite"}

// What a signer contains can be attacked in it. A package that comes in has to be named here.
func TestOnlyWhatASignerNeedsIsLinked(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		".")
	list.Env = append(list.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := strings.Fields(string(out))
	if len(found) < 50 {
		t.Fatalf("go list names %d packages, want at least 50", len(found))
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

// maxSize is the most that the program may take, in bytes: it has 23.1 million on amd64 (decision 141). Half is code,
// of which SQLite is a fifth, net/http with TLS a tenth, and the adapters, with the half of them that asks nodes and is
// never called here, a tenth; a third are the tables of the runtime for it.
const maxSize = 45 << 19

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
