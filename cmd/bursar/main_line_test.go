package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/command"
)

func TestHelpOfEveryCommandNamesEveryFlag(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&call{Call: command.Call{Stdout: os.Stdout, Stderr: os.Stderr}}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	d := newHarness(t)
	var paths []string
	for _, leaf := range parser.Model.Leaves(true) {
		path := strings.TrimPrefix(leaf.FullPath(), "bursar ")
		paths = append(paths, path)
		o := d.run("", append(strings.Fields(path), "--help")...)
		if o.code != 0 || o.err != "" || !strings.Contains(o.out, "Example:\n\n    ") ||
			!strings.Contains(o.out, "bursar "+path) {
			t.Errorf("bursar %s --help exits with %d, without an example or with %q", path, o.code, o.err)
		}
		for _, group := range leaf.AllFlags(false) {
			for _, flag := range group {
				if flag.Help == "" || !strings.Contains(o.out, "--"+flag.Name) {
					t.Errorf("bursar %s --help does not explain --%s", path, flag.Name)
				}
			}
		}
		for _, argument := range leaf.Positional {
			if argument.Help == "" || !strings.Contains(o.out, argument.Summary()) {
				t.Errorf("bursar %s --help does not explain %s", path, argument.Name)
			}
		}
	}
	want := []string{
		"init", "config check", "serve", "migrate", "database grant", "seed new", "seed restore", "seed check",
		"seed export-public", "seed export-watch-only",
		"seed recipients list", "seed recipients add", "seed recipients remove", "seed shares make", "seed shares combine",
		"seed pool", "signer init", "signer status",
		"signer policy limits", "signer policy show", "signer policy diff", "signer policy test", "signer apply",
		"signer freeze", "signer thaw", "signer compromise prepare", "signer compromise drill",
		"signer compromise use", "signer compromise show", "signer destinations", "signer order-key add",
		"signer order-key list", "signer order-key revoke", "signer begin-again", "signer bind", "signer export",
		"signer import", "signer begin-epoch",
		"audit checkpoint", "audit verify", "audit prove", "audit list", "audit export", "audit acts list",
		"audit acts verify", "audit tail", "audit compare", "audit witness new", "audit witness cosign",
		"operator invite", "operator list", "operator roles", "operator revoke", "operator sessions", "account create",
		"account set",
		"account list", "account show", "account freeze", "account unfreeze", "account fees",
		"account order-key add", "account order-key list", "account order-key revoke", "limit list",
		"limit set", "key create", "key list", "key revoke",
		"key allow-ip", "key scopes", "key rotate",
		"key rotate-webhook", "chain status", "chain rescan", "chain probe", "chain halt", "chain resume", "currency halt",
		"currency resume", "halt status", "halt log", "resume",
		"find", "deposit list", "deposit show", "wallet list", "wallet show", "charge create", "charge list", "charge show",
		"charge qr", "charge open", "charge resolve", "charge refund", "charge cancel",
		"withdrawal list", "withdrawal show", "withdrawal approve", "withdrawal reject",
		"withdrawal cancel", "proposal list", "proposal show", "proposal approve", "proposal reject",
		"approve", "approval list", "approval add", "outgoing show", "outgoing resolve", "outgoing abandon",
		"alarm list", "alarm close", "notice list", "notice test",
		"webhook list", "webhook show", "webhook redeliver", "webhook test", "webhook enable",
		"ledger export", "ledger month", "ledger verify", "screening list", "screening release",
		"screening reject", "screening end", "unattributed list", "unattributed assign", "unattributed refund",
		"unattributed keep", "unattributed cancel",
		"treasury show", "treasury withdraw", "treasury list", "cold refill", "cold show", "cold read",
		"cold broadcast", "cold list", "cold revoke", "cold abandon", "reconcile", "doctor", "backup", "archive",
		"recovery status",
		"recovery adopt", "recovery deny", "recovery release", "recovery give-up", "recovery use-up",
		"recovery begin", "recovery join",
		"restore", "api",
		"listen", "logs tail",
		"trigger",
		"profile add", "profile list", "profile use", "profile remove", "whoami", "status", "docs",
		"help", "completion", "man", "version",
		"destination list",
		"destination add", "destination remove", "destination enable",
		"destination disable"}
	if !slices.Equal(paths, want) {
		t.Errorf("the commands are %q, want %+v", paths, want)
	}
}

func TestMistakesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for _, test := range []struct{ line, want string }{
		{"", "see `bursar --help`"},
		{"sevre", `unexpected argument sevre`},
		{"account", "see `bursar account --help`"},
		{"account create", "missing flags: --name=STRING; see `bursar account create --help`"},
		{"account create --name x --jsno", `unknown flag --jsno, did you mean "--json"?; see ` +
			"`bursar account create --help`"},
		{"key revoke nonsense", "not a UUID; see `bursar key revoke --help`"},
		{"key rotate-webhook 0193a6a0-0000-7000-8000-000000000000 --overlap=-1h", "must not be negative"},
		{"key create 0193a6a0-0000-7000-8000-000000000000 --life=-1h", "--life must be greater than zero"},
		{"key create 0193a6a0-0000-7000-8000-000000000000 --allow-ip shop.example",
			`--allow-ip: not a network, such as 10.0.0.0/8 or 2001:db8::/32: "shop.example"`},
		{"key allow-ip 0193a6a0-0000-7000-8000-000000000000",
			"nothing to change is named: use --add CIDR, --remove CIDR or --clear"},
		{"key allow-ip 0193a6a0-0000-7000-8000-000000000000 --add 10.0.0.1/8", `"10.0.0.1/8", did you mean 10.0.0.0/8?`},
		{"key scopes 0193a6a0-0000-7000-8000-000000000000", `expected "<scopes>"`},
		{"chain rescan --chain bitcoin", "nothing to search is named: use --from HEIGHT, or --tx HASH"},
		{"chain rescan --chain bitcoin --from 1 --tx x", "can't be used together"},
		{"chain rescan --chain bitcoin --from x", `--from "x" is not a height`},
		{"chain rescan --chain bitcoin --from 5 --to 4", `--to "4" is not a height of at least 5`},
		{"chain rescan --chain bitcoin --tx x --to 4", "--to cannot be combined with --tx"},
		{"chain probe bitcoin --sample=-1", "--sample must be between 0 and 10000"},
		{"chain probe bitcoin --back 0", "--back must be at least 1"},
		{"chain probe bitcoin --header X:y", "--header is only allowed with --endpoint"},
		{"chain probe dogecoin", `chain "dogecoin" is not configured: name its endpoint with --endpoint`},
		{"chain probe bitcoin --endpoint ws://me:hunter2@h",
			"a URL is not of the form http://user:password@host:port (or https)"},
		{"withdrawal list --status lost", "--status must be one of"},
		{"withdrawal list --limit 0", "--limit must be between 1 and 10000"},
		{"ledger export", "no books are named: use --account ACCOUNT, or --all"},
		{"ledger export --all --account 0193a6a0-0000-7000-8000-000000000000", "can't be used together"},
		{"ledger export --all --csv --json", "can't be used together"},
		{"ledger export --all --since yesterday",
			`--since "yesterday" is not a time such as 2026-01-01 or 2026-01-01T00:00:00Z`},
		{"ledger export --all --since 2026-02-01 --until 2026-02-01", "--until must be later than --since"},
		{"withdrawal reject 0193a6a0-0000-7000-8000-000000000000", "missing flags: --reason=STRING"},
		{"unattributed assign 0193a6a0-0000-7000-8000-000000000000",
			"no recipient is named: use --wallet WALLET, or --account ACCOUNT"},
		{"unattributed assign 0193a6a0-0000-7000-8000-000000000000 --wallet 0193a6a0-0000-7000-8000-000000000001 " +
			"--account 0193a6a0-0000-7000-8000-000000000001", "can't be used together"},
		{"unattributed refund 0193a6a0-0000-7000-8000-000000000000", "missing flags: --to=ADDRESS"},
		{"unattributed refund 0193a6a0-0000-7000-8000-000000000000 --to r:1 --to-memo 2", "--to contains a memo already"},
		{"unattributed refund 0193a6a0-0000-7000-8000-000000000000 --to r --fee-from sender", "--fee-from must be one of"},
		{"unattributed list --limit 0", "--limit must be between 1 and 10000"},
		{"destination add --account 0193a6a0-0000-7000-8000-000000000000 --address x",
			"missing flags: --currency=CODE or --family=FAMILY"},
		{"destination add --account 0193a6a0-0000-7000-8000-000000000000 --address x --currency ETH --family evm",
			"can't be used together"},
		{"destination list", "missing flags: --account=ACCOUNT"},
		{"account set 0193a6a0-0000-7000-8000-000000000000", "nothing to set is named"},
		{"webhook list --status lost", "--status must be one of"},
		{"webhook list --since yesterday", `--since "yesterday" is not a time such as`},
		{"webhook list --limit 0", "--limit must be between 1 and 10000"},
		{"webhook redeliver", "nothing to redeliver is named"},
		{"webhook redeliver 0193a6a0-0000-7000-8000-000000000000 --failed-only", "nothing to redeliver is named"},
		{"webhook redeliver --account 0193a6a0-0000-7000-8000-000000000000", "nothing to redeliver is named"},
		{"webhook redeliver --since 2026-01-31T12:00:00Z", "nothing to redeliver is named"},
		{"webhook redeliver --account 0193a6a0-0000-7000-8000-000000000000 --since noon", `--since "noon" is not a time`},
		{"webhook test --url https://shop.example", "missing flags: --account"},
		{"webhook test --account 0193a6a0-0000-7000-8000-000000000000 --url https://shop.example --wallet " +
			"0193a6a0-0000-7000-8000-000000000000", "can't be used together"},
		{"webhook test --account 0193a6a0-0000-7000-8000-000000000000 --wait=-1s", "--wait must not be negative"},
		{"serve --log-format xml", "--log-format must be one of"},
		{"signer", "signer.address is not configured"},
		{"migrate --config missing.yaml",
			"the configuration file missing.yaml does not exist: create it, or name another one with --config"},
	} {
		d.fails(exitUsage, test.want, strings.Fields(test.line)...)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "bursar.db")); err == nil {
		t.Error("a mistake in the command line has created a database, want an error")
	}
}

func TestMistakesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	d := newHarness(t, "chains: {bitcoin: {rpc: 'http://a', confirmations: three}}")
	d.fails(exitUsage, `bursar.yaml:4: chains.bitcoin.confirmations: "three" is not a whole number; allowed are 1 to 100`,
		"migrate")
	d = newHarness(t)
	d.env = append(d.env, "BURSAR_LITSEN=:0")
	d.fails(exitUsage, "BURSAR_LITSEN: unknown setting (did you mean BURSAR_LISTEN?)", "account", "list")
	d = newHarness(t, "database: postgres://me:hunter2@127.0.0.1:1/none")
	if o := d.run("", "migrate"); o.code != exitFailed || strings.Contains(o.err, "hunter2") ||
		!strings.Contains(o.err, "the database cannot be used") {
		t.Errorf("a database that is away: %+v, want %v and no %q and %q in it", o, exitFailed, "hunter2",
			"the database cannot be used")
	}
}

func TestTheEnvironmentMayContainEverySetting(t *testing.T) {
	t.Parallel()
	d := &harness{T: t, dir: t.TempDir()}
	d.fails(exitUsage, "the configuration file bursar.yaml does not exist", "migrate")
	d.env = []string{"BURSAR_DATABASE=sqlite:mine.db"}
	if got := d.ok("migrate"); got != "the SQLite database is up to date\n" {
		t.Errorf("migrate prints %q, want %q", got, "the SQLite database is up to date\n")
	}
	if _, err := os.Stat(filepath.Join(d.dir, "mine.db")); err != nil {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	if got := d.ok("version"); !strings.HasPrefix(got, "bursar ") {
		t.Errorf("version prints %q, want %q first", got, "bursar ")
	}
	if v := parse[command.Version](d, "version", "--json"); v.Version == "" || !strings.HasPrefix(v.Go, "go1.") {
		t.Errorf("version is %+v, want not %q and %q first", v, "", "go1.")
	}
}
