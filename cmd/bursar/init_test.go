package main

import (
	"bytes"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bursar/bursar/signer/command"
)

// newEmptyHarness is a harness without a configuration and without a passphrase.
func newEmptyHarness(t *testing.T) *harness {
	d := newHarness(t)
	d.env = nil
	if err := os.Remove(filepath.Join(d.dir, "bursar.yaml")); err != nil {
		t.Fatal(err)
	}
	return d
}

// A mainnet gets limits for each currency that can be used, without which its signer pays out nothing, and the answers
// on standard input are what no flag said.
func TestInitAsksAndLimitsAMainnet(t *testing.T) {
	t.Parallel()
	d := newEmptyHarness(t)
	answers := strings.Join([]string{"mainnet", "http://u:hunter2@127.0.0.1:8332", "", "", "http://127.0.0.1:8545"}, "\n")
	o := d.run(answers, "init", "--no-seed")
	if o.code != 0 || !strings.Contains(o.err, "URL of a node of bitcoin") {
		t.Fatalf("init exits with %d and says %s, want 0", o.code, o.err)
	}
	c := parse[checkedConfig](d, "config", "check", "--json")
	if !c.Valid || len(c.Warnings) > 0 || c.Network != "mainnet" {
		t.Errorf("config check prints %+v, want a valid mainnet without warnings", c)
	}
	has := func(key string) bool {
		return slices.ContainsFunc(c.Settings, func(s checkedSetting) bool { return s.Key == key && s.Source != "default" })
	}
	for _, key := range []string{"chains.bitcoin.rpc", "currencies.BTC.hourly_limit", "network"} {
		if !has(key) {
			t.Errorf("%s is not set, want it in %+v", key, c.Settings)
		}
	}
	if shown := d.ok("config", "check"); strings.Contains(shown, "hunter2") {
		t.Errorf("config check prints the password of a node:\n%s, want no %q", shown, "hunter2")
	}
}

// A person at a terminal is asked again where an answer is wrong, and keeps those that they gave before; a script is
// refused at once, because its next line answers another question.
func TestInitAsksAgainForWhatIsWrong(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	terminal := true
	c := &call{Call: command.Call{Stdin: strings.NewReader("bitcoin\nftp://u:hunter2@x\nhttp://127.0.0.1:8332\n"),
		Stderr: &said, Terminal: &terminal}}
	got, err := c.asker(false).askFor("URL of a node of bitcoin", "", faultOfNode)
	if err != nil || got != "http://127.0.0.1:8332" || strings.Count(said.String(), "is of the form") != 2 ||
		strings.Contains(said.String(), "hunter2") {
		t.Errorf("the answer is %q, %v, behind %q, want the third, and no password", got, err, said.String())
	}
	d := newEmptyHarness(t)
	for want, answers := range map[string]string{
		"Network: mainnet, testnet or regtest: it is one of": "main\n",
		"URL of a node of litecoin: a URL is of the form":    "mainnet\n\nhunter2:9332\nhttp://127.0.0.1:8545\n",
	} {
		o := d.run(answers, "init", "--no-seed")
		if o.code != exitUsage || !strings.Contains(o.err, want) || strings.Contains(o.err, "hunter2") {
			t.Errorf("init exits with %d and says %s, want 2 and %q, without the URL", o.code, o.err, want)
		}
	}
}

// What is wrong is refused before anything is written.
func TestInitRefusesAndWritesNothing(t *testing.T) {
	t.Parallel()
	d := newEmptyHarness(t)
	for want, args := range map[string][]string{
		"unknown chain":              {"--chain", "bitcorn=http://127.0.0.1:1"},
		"has a password":             {"--chain", "bitcoin=http://u:p@127.0.0.1:1"},
		"--database has a password":  {"--database", "postgres://bursar:hunter2@127.0.0.1/bursar"},
		"has no URL":                 {"--chain", "bitcoin"},
		"serves other machines":      {"--network", "mainnet", "--listen", "0.0.0.0:8080"},
		"the database is not of the": {"--database", "mysql://somewhere"},
		"--owner":                    {"--owner", "nobody-has-this-name"},
	} {
		o := d.run("", append([]string{"init", "--yes", "--no-seed"}, args...)...)
		if o.code != exitUsage || !strings.Contains(o.err, want) || o.out != "" {
			t.Errorf("init %s exits with %d: %s%s, want 2 and %q", args, o.code, o.out, o.err, want)
		}
		if list, err := os.ReadDir(d.dir); err != nil || len(list) > 0 {
			t.Fatalf("init %s leaves %v, %v, want nothing", args, list, err)
		}
	}
}

// Where the seed cannot be made, nothing is left behind, and the command can be repeated.
func TestInitLeavesNothingWhereTheSeedCannotBeMade(t *testing.T) {
	t.Parallel()
	d := newEmptyHarness(t)
	if err := os.WriteFile(filepath.Join(d.dir, "weak"), []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := d.run("", "init", "--network", "mainnet", "--passphrase-file", "weak", "--yes")
	if o.code == 0 || o.out != "" || !strings.Contains(o.err, "passphrase") {
		t.Errorf("init exits with %d: %s%s, want a refusal of the passphrase", o.code, o.out, o.err)
	}
	if list, err := os.ReadDir(d.dir); err != nil || len(list) != 1 {
		t.Errorf("left are %v, %v, want the passphrase alone", list, err)
	}
}

// A package's configuration that nobody edited is replaced; one that is edited is not.
func TestInitReplacesAPackagesConfiguration(t *testing.T) {
	t.Parallel()
	d := newEmptyHarness(t)
	packaged, err := os.ReadFile("../../release/packages/bursar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(d.dir, "bursar.yaml")
	if err := os.WriteFile(file, packaged, 0o640); err != nil {
		t.Fatal(err)
	}
	d.ok("init", "--yes", "--no-seed", "--network", "regtest", "--database", "sqlite:"+filepath.Join(d.dir, "b.db"))
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "Not set up yet") || !strings.Contains(string(text), "regtest") {
		t.Errorf("the configuration is now\n%s%v\nwant that of init", text, err)
	}
	d.fails(exitUsage, "exists and is not overwritten", "init", "--yes", "--no-seed")
}

// Mistakes are listed all at once, as JSON too, with the exit code of a mistake.
func TestConfigCheckListsEveryMistake(t *testing.T) {
	t.Parallel()
	d := newHarness(t, "lisen: 1", "chains: {bitcoin: {}}")
	o := d.run("", "config", "check")
	if o.code != exitUsage || !strings.Contains(o.err, "did you mean listen?") ||
		!strings.Contains(o.err, "rpc is required") {
		t.Errorf("config check exits with %d: %s, want 2 and both mistakes", o.code, o.err)
	}
	o = d.run("", "config", "check", "--json")
	if o.code != exitUsage || !strings.Contains(o.out, `"valid":false`) || !strings.Contains(o.out, `bursar.yaml:5`) {
		t.Errorf("config check --json exits with %d: %s, want 2 and the places of both mistakes", o.code, o.out)
	}
}

// What root makes for the service's user belongs to it, file by file, and the folder that was there before does not.
func TestInitGivesWhatItMakesToItsOwner(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no user nobody here")
	}
	d := newEmptyHarness(t)
	state := filepath.Join(d.dir, "state")
	d.ok("init", "--yes", "--network", "regtest", "--state", state, "--owner", "nobody")
	for _, name := range []string{"bursar.yaml", "passphrase", "state/seed.age", "state/bursar.db"} {
		info, err := os.Stat(filepath.Join(d.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if uid := fmt.Sprint(info.Sys().(*syscall.Stat_t).Uid); uid != nobody.Uid || info.Mode().Perm() != 0o600 {
			t.Errorf("%s belongs to %s with the mode %o, want nobody (%s) and 600", name, uid, info.Mode().Perm(), nobody.Uid)
		}
	}
	if info, err := os.Stat(d.dir); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("the folder of the configuration was given away, %v, want root's", err)
	}
}
