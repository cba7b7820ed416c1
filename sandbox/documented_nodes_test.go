package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	gethLine = regexp.MustCompile(`(?m)^geth (?:[^\n\\]|\\\n)*`)
	longFlag = regexp.MustCompile(`--([a-z.]+)`)
	flagName = regexp.MustCompile(`Name:\s+"([a-z.]+)"`)
)

// onlyBSC are flags of bsc 1.8.2 that go-ethereum does not have (bnb-chain/bsc, cmd/utils/flags.go).
const onlyBSC = " pruneancient "

// The command lines of geth in the documents have only flags that go-ethereum of the version in go.mod declares. bsc is
// a fork of it, which keeps them.
func TestGethKnowsWhatTheDocumentsStart(t *testing.T) {
	t.Parallel()
	found, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/ethereum/go-ethereum").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(found))
	known := map[string]bool{}
	for _, place := range []string{"cmd/utils/*.go", "cmd/geth/*.go", "internal/debug/*.go"} {
		files, err := filepath.Glob(filepath.Join(dir, place))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s of go-ethereum: %d files, %v, want some", place, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range flagName.FindAllStringSubmatch(string(text), -1) {
				known[name[1]] = true
			}
		}
	}
	for page, least := range map[string]int{"ethereum.md": 8, "bsc.md": 9} {
		text, err := os.ReadFile("../docs/operations/" + page)
		if err != nil {
			t.Fatal(err)
		}
		flags := longFlag.FindAllStringSubmatch(gethLine.FindString(string(text)), -1)
		if len(flags) < least {
			t.Errorf("%s starts geth with %d flags, want at least %d", page, len(flags), least)
		}
		inSentences := regexp.MustCompile("`--([a-z.]+)[ `]").FindAllStringSubmatch(string(text), -1)
		for _, flag := range append(flags, inSentences...) {
			if name := flag[1]; !known[name] && !strings.Contains(onlyBSC, " "+name+" ") {
				t.Errorf("%s names --%s, which go-ethereum does not declare", page, name)
			}
		}
	}
}

// described are settings of nodes that the tests do not run, by page: what begins a block, what in it names a setting,
// and what the software knows, read in its source.
var described = map[string]struct {
	begins string
	names  *regexp.Regexp
	known  string
	count  int
}{
	// validator/src/commands/run/args.rs of Agave 4.2
	"solana.md": {"agave-validator", regexp.MustCompile(`--([a-z-]+)`), `no-voting full-rpc-api private-rpc
		enable-rpc-transaction-history enable-extended-tx-metadata-storage limit-ledger-size rpc-bind-address rpc-port
		rpc-threads rpc-max-multiple-accounts rpc-max-request-body-size health-check-slot-distance ledger identity log
		entrypoint known-validator only-known-rpc dynamic-port-range expected-genesis-hash account-index`, 6},
	// internal/cli/server/config.go of bor 2.10: JsonRPCConfig and APIConfig
	"polygon.md": {"# bor's config.toml", regexp.MustCompile(`(?m)^\s*\[?([a-z.-]+)(?:\]| =)`), `jsonrpc.http jsonrpc.ws
		jsonrpc.graphql jsonrpc.timeouts enabled port prefix host api vhosts corsdomain origins ep-size
		ep-requesttimeout`, 9},
	// cfg/xrpld-example.cfg of xrpld 3.4
	"xrpl.md": {"# xrpld.cfg", regexp.MustCompile(`(?m)^\[?([a-z_]+)(?:\]| =)`), `server port_rpc_admin_local port_peer
		port_ws_admin_local port ip protocol limit user password admin admin_user admin_password secure_gateway network_id
		node_db type path online_delete fast_load earliest_seq ledger_history database_path`, 16},
	// framework/src/main/resources/config.conf of java-tron 4.8
	"tron.md": {"# config.conf", regexp.MustCompile(`([A-Za-z.]+) = `), `vm supportConstant saveInternalTx
		maxEnergyLimitForConstant event.subscribe enable native useNativeQueue bindport sendqueuelength version path server
		dbconfig contractParse topics triggerName topic solidified filter`, 11},
}

// A node ignores most of what it does not know, so a mistyped setting would be found by nobody.
func TestNodesOfOthersKnowWhatTheDocumentsSet(t *testing.T) {
	t.Parallel()
	for page, d := range described {
		text, err := os.ReadFile("../docs/operations/" + page)
		if err != nil {
			t.Fatal(err)
		}
		block := regexp.MustCompile("(?s)```[a-z]+\n(" + d.begins + ".*?)```").FindSubmatch(text)
		if block == nil {
			t.Fatalf("%s has no settings that begin with %s, want some", page, d.begins)
		}
		names := d.names.FindAllSubmatch(block[1], -1)
		if len(names) < d.count {
			t.Errorf("%s sets %d things, want at least %d: %q", page, len(names), d.count, names)
		}
		for _, name := range names {
			if !slices.Contains(strings.Fields(d.known), string(name[1])) {
				t.Errorf("%s sets %s, which the software does not know", page, name[1])
			}
		}
	}
}
