package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/cmd/programtest"
)

// program is the built command.
var program string

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case pluginProgram:
		os.Exit(runPlugin())
	case tokenProgram:
		os.Exit(runToken())
	}
	built, remove, err := programtest.Build("bursar-signer")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = built
	code := m.Run()
	remove()
	os.Exit(code)
}

// Packages of this module that it may contain. What the service does with clients, nodes and its database is elsewhere.
var parts = []string{"", "approval", "ceremony", "chain", "chain/bitcoin", "chain/bitcoin/descriptor",
	"chain/bitcoin/psbt", "chain/ethabi", "chain/ethkey", "chain/ethrules", "chain/evm", "chain/registry", "chain/rpc",
	"chain/rpc/push", "chain/solana", "chain/tron", "chain/xrpl", "cmd/bursar-signer", "config", "durable", "marks",
	"netpolicy", "orderkey", "panics", "passkey", "roster", "signer", "signer/command", "signer/host", "signer/memory",
	"signer/orders", "signer/people", "signer/proof", "signer/remote", "signer/token", "signer/tpm", "slip39", "sshsig",
	"verdict"}

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
	programtest.Linked(t, parts, modules, 50)
}

// maxSize is the most that the program may take, in bytes: it has 23.1 million on amd64 (decision 141). Half is code,
// of which SQLite is a fifth, net/http with TLS a tenth, and the adapters, with the half of them that asks nodes and is
// never called here, a tenth; a third are the tables of the runtime for it.
const maxSize = 45 << 19

func TestTheProgramIsStaticAndSmall(t *testing.T) {
	t.Parallel()
	programtest.StaticAndSmall(t, program, maxSize)
}
