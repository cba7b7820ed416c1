package tidy_test

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bursar/bursar"

// domain lists the packages of the business rules. Those that mayImport does not name meet in a database transaction
// and do not import each other; the others build on each other in the order follow, deposit, withdrawal, outgoing,
// sweep.
var domain = []string{"account", "audit", "charge", "deposit", "destination", "outgoing", "reconcile", "sweep",
	"treasury", "unattributed", "wallet", "webhook", "withdrawal"}

// mayImport says which packages each package may import, tests excluded. ARCHITECTURE.md draws it.
var mayImport = map[string][]string{
	".":                       {},
	"ledger":                  {"."},
	"chain":                   {".", "chain/rpc"},
	"chain/registry":          {".", "chain", "chain/bitcoin", "chain/evm", "chain/tron", "chain/solana", "chain/xrpl"},
	"chain/rpc":               {},
	"chain/rpc/push":          {},
	"chain/rpc/push/pushtest": {},
	"chain/bitcoin": {".", "chain", "chain/rpc", "chain/rpc/push", "chain/bitcoin/descriptor",
		"chain/bitcoin/psbt"},
	"chain/bitcoin/descriptor":   {},
	"chain/bitcoin/psbt":         {},
	"ceremony":                   {".", "approval", "chain", "signer"},
	"chain/bitcoin/bitcoindtest": {".", "chain", "chain/rpc"},
	"chain/ethabi":               {"."},
	"chain/ethkey":               {},
	"chain/ethrules":             {".", "chain", "chain/rpc"},
	"chain/evm": {".", "chain", "chain/ethabi", "chain/ethkey", "chain/ethrules", "chain/rpc",
		"chain/rpc/push"},
	"chain/evm/evmtest": {".", "chain", "chain/rpc", "test/pins"},
	"chain/tron": {".", "chain", "chain/ethabi", "chain/ethkey", "chain/ethrules", "chain/rpc",
		"chain/rpc/push"},
	"chain/solana":    {".", "chain", "chain/rpc", "chain/rpc/push"},
	"chain/xrpl":      {".", "chain", "chain/rpc", "chain/rpc/push"},
	"chain/sim":       {".", "chain"},
	"chain/chaintest": {".", "chain"},
	"signer":          {".", "chain", "roster", "signer/memory", "signer/orders", "signer/people"},
	"signer/orders":   {".", "approval", "chain", "orderkey", "signer/memory"},
	"signer/people":   {".", "approval", "chain", "orderkey", "passkey", "roster", "signer/memory", "verdict"},
	"signer/memory":   {"."},
	"signer/remote":   {".", "chain", "signer", "signer/memory", "marks"},
	"signer/host": {".", "ceremony", "chain", "chain/registry", "chain/rpc", "config", "marks", "signer", "signer/memory",
		"roster", "signer/people", "signer/remote", "signer/token", "signer/tpm", "signer/proof"},
	"signer/command": {".", "approval", "ceremony", "chain/registry", "config", "orderkey", "roster", "signer",
		"signer/host", "signer/memory",
		"signer/people", "signer/proof", "signer/token", "signer/tpm", "slip39", "sshsig"},
	"signer/proof":          {"signer/memory"},
	"signerlog":             {".", "chain", "outgoing", "signer", "signer/memory", "store"},
	"signer/token":          {},
	"signer/tpm":            {},
	"slip39":                {},
	"sshsig":                {},
	"approval":              {"."},
	"orderkey":              {},
	"account":               {".", "approval", "netpolicy", "orderkey", "store"},
	"passkey":               {},
	"passkey/passkeytest":   nil,
	"roster":                {".", "approval", "passkey", "sshsig"},
	"operator/proposal":     {".", "sshsig", "store"},
	"relay":                 {".", "approval", "chain", "outgoing", "roster", "store"},
	"screening":             {".", "approval", "netpolicy", "store", "verdict"},
	"notice":                {".", "netpolicy", "store"},
	"verdict":               {".", "approval"},
	"store":                 {".", "ledger", "wire"},
	"wire":                  {"."},
	"netpolicy":             {"."},
	"tlsfile":               {},
	"durable":               {},
	"panics":                {},
	"tlsfile/tlstest":       {},
	"requestlog":            {".", "store"},
	"store/storetest":       {".", "ledger", "store", "test/pg"},
	"archive":               {".", "ledger", "store"},
	"store/storetest/cover": {},
	"backup":                {".", "store"},
	"config":                {".", "netpolicy", "chain", "chain/registry", "sshsig"},
	"rate":                  {".", "netpolicy"},
	"client":                {},
	"pay":                   {".", "charge", "wire", "pay/qr"},
	"pay/qr":                {},
	"pay/paytest":           nil,
	"docs":                  {},
	"docs/site":             {},
	"docs/man":              {},
	"docs/man/mantest":      {},
	"examples/receiver-go":  {"client"},
	"examples/wallet-go":    {"client"},
	"bench":                 {"test/pg"},
	"release":               {},
	"test":                  {"test/pins"},
	"tidy":                  {},
	"test/mutate":           {},
	"test/pins":             {},
	"test/pg":               {},
	"sweep":                 {".", "ledger", "chain", "signer", "store", "outgoing"},
	"unattributed":          {".", "ledger", "chain", "store"},
	"follow":                {".", "chain", "store", "recovery"},
	"follow/followtest":     nil,
	"deposit":               {".", "wire", "ledger", "chain", "store", "follow", "unattributed"},
	"marks":                 {"."},
	"refill":                {".", "ceremony", "chain", "store"},
	"recovery":              {".", "ledger", "chain", "store", "marks", "unattributed"},
	"withdrawal":            {".", "approval", "ledger", "chain", "orderkey", "store", "deposit"},
	"outgoing": {".", "ledger", "chain", "signer", "store", "follow", "withdrawal", "recovery",
		"unattributed"},
	"api": append([]string{".", "wire", "netpolicy", "ledger", "chain", "orderkey", "signer", "store", "docs",
		"docs/site"},
		domain...),
	"oversight":           {".", "ledger", "chain", "reconcile", "store"},
	"console/consoletest": nil,
	"operator":            {".", "passkey", "store"},
	"console": append([]string{".", "approval", "wire", "netpolicy", "ledger", "chain", "operator", "operator/proposal",
		"oversight", "passkey", "relay", "roster", "signer", "store"}, domain...),
	"service":              nil, // wiring: everything
	"service/charging":     {".", "charge", "deposit", "store", "wallet", "withdrawal"},
	"service/follower":     {".", "chain", "deposit", "follow", "outgoing", "store"},
	"bursartest":           nil, // the same in memory
	"bursartest/mainnet":   {},
	"bursartest/reference": {},
	"bursartest/replicas":  nil,
	"bursartest/clocktest": {},
	"simulation":           nil,
	"cmd/bursar":           nil,
	"cmd/programtest":      {},
	"cmd/bursar-signer":    {"signer/command", "signer/host"},
	"cmd/bursar-approve":   {".", "approval", "orderkey", "passkey", "roster", "sshsig"},
}

// leaves are packages that import no other, and that all but the root may import.
var leaves = []string{"durable", "panics"}

// plan returns which packages a package may import, and whether it is known at all; nil means all.
func plan(pkg string) (allowed []string, known bool) {
	if slices.Contains(domain, pkg) && mayImport[pkg] == nil {
		return []string{".", "wire", "netpolicy", "ledger", "chain", "signer", "store"}, true
	}
	allowed, known = mayImport[pkg]
	return allowed, known
}

const (
	maxFunction = 60
	maxFile     = 300
)

func TestImportsRunOneWay(t *testing.T) {
	atRoot(t)
	for _, s := range sources(t) {
		allowed, known := plan(s.pkg)
		if inSandbox(s.pkg) {
			continue
		}
		if !known {
			t.Errorf("%s: package %s is not in the table of imports", s.path, s.pkg)
			continue
		}
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			target := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
			if target == "" {
				target = "."
			}
			leaf := slices.Contains(leaves, target) && s.pkg != "."
			if allowed != nil && !slices.Contains(allowed, target) && !leaf {
				t.Errorf("%s imports %s, which runs the other way", s.path, target)
			}
			if forTests(target) && !forTests(s.pkg) && s.pkg != "simulation" {
				t.Errorf("%s imports %s, which is for tests", s.path, target)
			}
		}
	}
}

func TestTheRootIsPure(t *testing.T) {
	atRoot(t)
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if s.pkg == "." && strings.Contains(strings.Split(path, "/")[0], ".") {
				t.Errorf("%s imports %s: the domain types use the standard library only", s.path, path)
			}
		}
	}
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	atRoot(t)
	comments := map[string]string{}
	for _, s := range sources(t) {
		if s.file.Doc != nil {
			comments[s.pkg] += s.file.Doc.Text()
		} else if _, seen := comments[s.pkg]; !seen {
			comments[s.pkg] = ""
		}
	}
	for pkg, comment := range comments {
		if len(comment) < 60 {
			t.Errorf("the package in %s has no comment that says what it owns", pkg)
		}
	}
}

func TestFunctionsAndFilesAreShort(t *testing.T) {
	atRoot(t)
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			f, is := n.(*ast.FuncDecl)
			if is && f.Body != nil {
				from, to := s.files.Position(f.Pos()).Line, s.files.Position(f.End()).Line
				if to-from+1 > maxFunction {
					t.Errorf("%s:%d: %s has %d lines, at most %d", s.path, from, f.Name.Name, to-from+1, maxFunction)
				}
			}
			return true
		})
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines > maxFile {
			t.Errorf("%s has %d lines, at most %d", s.path, lines, maxFile)
		}
	}
}

// The doc comment of a function or type begins with its name; that of an unexported one may be a sentence instead.
func TestCommentsBeginWithTheName(t *testing.T) {
	atRoot(t)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			name, doc := "", (*ast.CommentGroup)(nil)
			switch d := d.(type) {
			case *ast.FuncDecl:
				name, doc = d.Name.Name, d.Doc
			case *ast.GenDecl:
				if spec, is := d.Specs[0].(*ast.TypeSpec); is && len(d.Specs) == 1 {
					name, doc = spec.Name.Name, d.Doc
				}
			}
			words := strings.Fields(doc.Text())
			if len(words) == 0 || strings.Trim(words[0], ".,:") == name ||
				slices.Contains([]string{"A", "An", "The"}, words[0]) {
				continue
			}
			if first := words[0][0]; ast.IsExported(name) || first >= 'a' && first <= 'z' {
				t.Errorf("%s: the comment over %s begins with %q", s.path, name, words[0])
			}
		}
	}
}
