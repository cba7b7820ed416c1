package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// program is the command: built, or with -short the test program under the command's name.
var program string

const programName = "bursar"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		main() // exits
	}
	host.KeepPrivate() // as main does
	dir, err := os.MkdirTemp("", "bursar-command-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, programName)
	flag.Parse() // of go test, for -short
	code := 1
	if err := makeProgram(); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// makeProgram builds the command as it is released. -short does not link it: the test program contains it, and runs it
// where it is started under its name. That is a hard link, because the command starts itself by the path of its file.
func makeProgram() error {
	if own, err := os.Executable(); testing.Short() && err == nil && os.Link(own, program) == nil {
		return nil
	}
	build := exec.Command("go", "build", "-ldflags=-w", "-o", program, ".")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	return build.Run()
}

// passphrase opens every seed file of the tests.
const passphrase = "correct horse"

// harness is a folder in which the command is run.
type harness struct {
	*testing.T
	dir string
	env []string
	pid int    // of the process that start started
	key []byte // key of the books; nil: not derived yet
}

// newHarness returns a folder with a configuration that has the given lines besides those that keep ports free.
func newHarness(t *testing.T, lines ...string) *harness {
	d := &harness{T: t, dir: storetest.Folder(t), env: []string{"BURSAR_PASSPHRASE=" + passphrase}}
	text := strings.Join(append([]string{"listen: 127.0.0.1:0", "admin_listen: off", "network: regtest"}, lines...), "\n")
	if err := os.WriteFile(filepath.Join(d.dir, "bursar.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// cheap is the work factor of the harnesses' seed files. Most commands open theirs, which with the factor of `seed new`
// takes longer than all else that they do; the tests of that command use its own files.
const cheap = 10

// newSeededHarness is newHarness with a seed file, and with a database of today's schema.
func newSeededHarness(t *testing.T, lines ...string) *harness {
	d := newHarness(t, lines...)
	d.sealSeed()
	storetest.SQLiteIn(t, d.dir)
	return d
}

// sealSeed writes a seed file, cheaper than `seed new` does.
func (d *harness) sealSeed() {
	d.Helper()
	mnemonic, err := signer.NewMnemonic(rand.Reader)
	if err != nil {
		d.Fatal(err)
	}
	secret, err := signer.NewPassphrase(passphrase)
	if err != nil {
		d.Fatal(err)
	}
	sealed, err := signer.SealWith(mnemonic, secret, cheap)
	if err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "seed.age"), sealed, 0o600); err != nil {
		d.Fatal(err)
	}
}

// outcome is the result of a run of the command.
type outcome struct {
	out, err string
	code     int
}

func (d *harness) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = d.dir, d.environ()
	return c
}

func (d *harness) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir}, d.env...)
}

// within returns the command line with the configuration file that it finds in its folder, nil if it needs a process of
// its own: one that keeps running, one that names files of its folder, and one that looks for its configuration.
func (d *harness) within(args []string) []string {
	config := filepath.Join(d.dir, config.DefaultFile)
	_, err := os.Stat(config)
	own := []string{"serve", "archive", "backup", "restore", "--config"}
	if err != nil || slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(own, arg) }) ||
		slices.Equal(args, []string{"signer"}) {
		return nil
	}
	return append([]string{"--config=" + config}, args...)
}

// run runs the command with a standard input: within this process where it can be, because a start costs more than most
// commands do.
func (d *harness) run(input string, args ...string) outcome {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, err bytes.Buffer
	if within := d.within(args); within != nil {
		c := &call{Call: command.Call{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &err, Environ: d.environ()}}
		code := run(ctx, c, within)
		if ctx.Err() != nil {
			d.Fatalf("bursar %s: %v\n%s", args, ctx.Err(), err.String())
		}
		return outcome{out.String(), err.String(), code}
	}
	c := d.command(ctx, args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &err
	failed := c.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) || ctx.Err() != nil {
		d.Fatalf("bursar %s: %v\n%s", args, failed, err.String())
	}
	return outcome{out.String(), err.String(), c.ProcessState.ExitCode()}
}

// ok runs a command that must succeed and returns its standard output.
func (d *harness) ok(args ...string) string {
	d.Helper()
	o := d.run("", args...)
	if o.code != 0 {
		d.Fatalf("bursar %s exits with %d: %s, want 0", args, o.code, o.err)
	}
	return o.out
}

// fails runs a command that must fail with a code and a single line of explanation.
func (d *harness) fails(code int, explanation string, args ...string) {
	d.Helper()
	o := d.run("", args...)
	if o.code != code || !strings.Contains(o.err, explanation) {
		d.Errorf("bursar %s exits with %d and says\n%s\nwanted %d and %q", args, o.code, o.err, code, explanation)
	}
	if o.out != "" || strings.Count(o.err, "\n") != 1 || !strings.HasPrefix(o.err, "bursar: ") {
		d.Errorf("bursar %s prints %q and %q", args, o.out, o.err)
	}
}

// parse reads JSON that a command printed on one line.
func parse[T any](d *harness, args ...string) (value T) {
	d.Helper()
	out := d.ok(args...)
	if strings.Count(out, "\n") != 1 {
		d.Fatalf("bursar %s prints %d lines, want 1", args, strings.Count(out, "\n"))
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		d.Fatalf("bursar %s prints %s: %v", args, out, err)
	}
	return value
}

// change modifies the harness's database as the service would. Without a seed file there is no key to seal with.
func (d *harness) change(f func(ctx context.Context, tx *store.Tx) error) {
	d.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(d.dir, "bursar.db")})
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	if _, err := os.Stat(filepath.Join(d.dir, "seed.age")); err == nil {
		db.SealWith(d.booksKey())
	}
	if err := db.Do(ctx, func(tx *store.Tx) error { return f(ctx, tx) }); err != nil {
		d.Fatal(err)
	}
}

// booksKey returns the key with which the service of the harness's seed seals the books.
func (d *harness) booksKey() []byte {
	d.Helper()
	if d.key != nil {
		return d.key
	}
	keys, err := host.OpenKeys(config.Config{SeedFile: filepath.Join(d.dir, "seed.age"), Network: config.Regtest},
		func(name string) string {
			return map[string]string{"BURSAR_PASSPHRASE": passphrase}[name]
		})
	if err != nil {
		d.Fatal(err)
	}
	d.key = keys.BooksKey()
	return d.key
}

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
		"signer freeze", "signer thaw", "signer destinations", "signer order-key add",
		"signer order-key list", "signer order-key revoke", "signer begin-again", "signer begin-epoch",
		"audit checkpoint", "audit verify", "audit prove", "audit acts list", "audit acts verify", "audit tail",
		"operator invite", "operator list", "operator roles", "operator revoke", "operator sessions", "account create",
		"account set",
		"account list", "account show", "account freeze", "account unfreeze", "account fees",
		"account order-key add", "account order-key list", "account order-key revoke", "key create", "key list", "key revoke",
		"key allow-ip", "key scopes", "key rotate",
		"key rotate-webhook", "chain status", "chain rescan", "chain probe", "chain halt", "chain resume", "currency halt",
		"currency resume", "halt status", "halt log", "resume",
		"find", "deposit list", "deposit show", "wallet list", "wallet show", "charge create", "charge list", "charge show",
		"charge qr", "charge open", "charge resolve", "charge refund", "charge cancel",
		"withdrawal list", "withdrawal show", "withdrawal approve", "withdrawal reject",
		"withdrawal cancel", "approval list", "approval add", "outgoing show", "outgoing resolve", "outgoing abandon",
		"alarm list", "alarm close", "notice list", "notice test",
		"webhook list", "webhook show", "webhook redeliver", "webhook test", "webhook enable",
		"ledger export", "ledger month", "ledger verify", "screening list", "screening release",
		"screening reject", "screening end", "unattributed list", "unattributed assign", "unattributed refund",
		"unattributed keep", "unattributed cancel",
		"treasury show", "treasury withdraw", "treasury list", "cold refill", "cold show", "cold read",
		"cold broadcast", "cold list", "cold revoke", "cold abandon", "reconcile", "doctor", "backup", "archive",
		"recovery status",
		"recovery adopt", "recovery release", "recovery begin", "recovery join", "restore", "api", "listen", "logs tail",
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
