package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/treasury"
)

// at runs a command as a person at a terminal does, who answers.
func (d *harness) at(answer string, args ...string) outcome {
	d.Helper()
	terminal := true
	var out, err bytes.Buffer
	c := &call{Call: command.Call{
		Stdin:    strings.NewReader(answer),
		Stdout:   &out,
		Stderr:   &err,
		Environ:  d.environ(),
		Terminal: &terminal,
	}}
	code := run(context.Background(), c, append([]string{"--config=" + filepath.Join(d.dir, "bursar.yaml")}, args...))
	return outcome{out.String(), err.String(), code}
}

// rehearses runs a command that must find nothing wrong with --dry-run. That nothing was changed shows where the test
// does it afterwards.
func (d *harness) rehearses(args ...string) {
	d.Helper()
	if out := d.ok(append(args, "--dry-run")...); !strings.Contains(out, "nothing was changed") {
		d.Errorf("bursar %s --dry-run prints %q, want that nothing was changed", args, out)
	}
}

// An account is named by its name wherever its ID is, and a name that two accounts have names neither.
func TestAnAccountIsNamedByItsName(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	made := parse[createdKey](d, "key", "create", "shop", "--json")
	if made.AccountID != shop.AccountID {
		t.Errorf("the key is of account %s, want %s", made.AccountID, shop.AccountID)
	}
	d.ok("withdrawal", "list", "--account", "shop")
	d.fails(exitFailed, treasury.Account.String(), "destination", "list", "--account", "treasury")
	d.ok("operator", "invite", "Ada", "--role", "support", "--account", "shop")
	if people := d.ok("operator", "list"); !strings.Contains(people, shop.AccountID.String()) {
		t.Errorf("the people are\n%s\nwant one restricted to %s", people, shop.AccountID)
	}
	if acts := d.ok("audit", "acts", "list"); !strings.Contains(acts, "key create "+shop.AccountID.String()) {
		t.Errorf("the acts are\n%s\nwant the account's ID in them", acts)
	}
	d.fails(exitFailed, `there is no account "shpo"`, "key", "list", "shpo")
	d.ok("account", "create", "--name", "shop")
	d.fails(exitFailed, `2 accounts are named "shop"`, "account", "freeze", "shop", "--reason", "x")
}

// What cannot be undone is asked about at a terminal, and happens without --yes only where nobody can be asked.
func TestWhatCannotBeUndoneIsConfirmed(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	account := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID.String()
	usable := func() int {
		n := 0
		for _, k := range parse[[]listedKey](d, "key", "list", account, "--json") {
			if k.Usable {
				n++
			}
		}
		return n
	}
	key := parse[[]listedKey](d, "key", "list", account, "--json")[0].KeyID.String()
	for _, answer := range []string{"", "no\n", "y\n", "yes please\n"} {
		o := d.at(answer, "key", "revoke", key)
		if o.code != exitFailed || !strings.Contains(o.err, "This cannot be undone") ||
			!strings.Contains(o.err, "nothing was changed") {
			t.Errorf("after %q it exits with %d: %s, want 1 and that nothing was changed", answer, o.code, o.err)
		}
	}
	if o := d.at("", "key", "revoke", key, "--dry-run", "--json"); o.code != 0 || !strings.Contains(o.out, `"dryRun":true`) {
		t.Errorf("--dry-run exits with %d: %s%s, want 0 and dryRun", o.code, o.out, o.err)
	}
	if n := usable(); n != 1 {
		t.Fatalf("%d keys are usable, want 1", n)
	}
	if acts := d.ok("audit", "acts", "list"); strings.Contains(acts, "key revoke") {
		t.Errorf("the acts are\n%s\nwant none of what was only rehearsed", acts)
	}
	d.fails(exitFailed, "there is no key", "key", "revoke", account, "--dry-run")
	if o := d.at("", "key", "revoke", key, "--yes", "--json"); o.code != 0 || !strings.Contains(o.out, `"keyID":"`+key) {
		t.Errorf("--yes exits with %d: %s%s, want 0 and the key as JSON", o.code, o.out, o.err)
	}
	if n := usable(); n != 0 {
		t.Errorf("%d keys are usable, want none", n)
	}
}

// Every command prints JSON where it is asked to, except those that print a document, serve, or prompt.
func TestEveryCommandPrintsJSON(t *testing.T) {
	t.Parallel()
	without := map[string]string{
		"serve":                   "runs until it is stopped",
		"signer run":              "runs until it is stopped",
		"api":                     "prints the API's JSON",
		"approve":                 "prints what another program does",
		"cold show":               "prints a text to compare by eye",
		"cold read":               "prints the path that it was given",
		"seed hand-over":          "speaks to its own parent",
		"seed export-public":      "prints JSON",
		"seed export-watch-only":  "prints a file",
		"seed shares make":        "prints words on paper",
		"seed shares combine":     "prints a secret that is read by age",
		"signer policy limits":    "prints YAML",
		"signer policy show":      "prints the text that people signed",
		"signer policy diff":      "prints sentences to compare by eye",
		"signer policy test":      "prints the answer of the policy",
		"audit checkpoint":        "prints a file",
		"audit prove":             "prints a file",
		"audit witness cosign":    "prints a file",
		"signer audit checkpoint": "prints a file",
		"signer audit prove":      "prints a file",
		"ledger month":            "prints a document, or files",
		"help":                    "prints a text",
		"completion":              "prints a script",
		"man":                     "prints a manual page",
		"complete":                "prints words for a shell",
	}
	for name, node := range knownCommands(t) {
		if len(node.Children) > 0 {
			continue
		}
		if has, _ := hasFlag(node, "json"), without[name]; has == (without[name] != "") {
			t.Errorf("`bursar %s` has --json: %v, want %v", name, has, !has)
		}
		delete(without, name)
	}
	if len(without) > 0 {
		t.Errorf("there are no commands %v", without)
	}
}

// A key and a webhook secret are rotated on trial: nothing is changed, and no secret is shown that nobody has.
func TestRotationsAreRehearsed(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.ok("account", "create", "--name", "shop")
	before := d.ok("key", "list", "shop", "--json")
	key := parse[[]listedKey](d, "key", "list", "shop", "--json")[0].KeyID.String()
	for _, args := range [][]string{{"key", "rotate", key}, {"key", "rotate-webhook", "shop"}} {
		for _, flags := range [][]string{{"--dry-run"}, {"--dry-run", "--json"}} {
			out := d.ok(append(args, flags...)...)
			if !strings.Contains(out, "nothing was changed") || strings.Contains(out, "whsec_") ||
				strings.Contains(out, "bk_") || strings.Contains(out, "bs_") {
				t.Errorf("bursar %s %s prints %q, want that nothing was changed, and no secret", args, flags, out)
			}
		}
	}
	if now := d.ok("key", "list", "shop", "--json"); now != before {
		t.Errorf("the keys are\n%s\nwant as before\n%s", now, before)
	}
	if acts := d.ok("audit", "acts", "list"); strings.Contains(acts, "rotate") {
		t.Errorf("the acts are\n%s\nwant none of what was only rehearsed", acts)
	}
	d.fails(exitFailed, "there is no key", "key", "rotate", treasury.Account.String(), "--dry-run")
	if out := d.ok("key", "rotate-webhook", "shop", "--json"); !strings.Contains(out, "whsec_") {
		t.Errorf("a rotation prints %q, want the new secret", out)
	}
}

// The table of docs/operations.md says which commands ask, and which can be rehearsed.
func TestTheDocumentsSayWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	asks, rehearses := map[string]bool{}, map[string]bool{}
	_, table, _ := strings.Cut(string(content), "| cannot be undone | commands |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for i, row := range strings.Split(table, "\n")[1:] {
		for _, entry := range strings.Split(strings.Split(row, "|")[2], ", ") {
			for j, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(entry, -1) {
				if entry = strings.TrimSpace(entry); i == 1 && j > 0 && !strings.Contains(entry, " and ") {
					continue // the check, in brackets
				}
				if strings.Contains(name[1], "--") || name[1] == "cold show" {
					continue
				}
				asks[name[1]], rehearses[name[1]] = true, i == 0
			}
		}
	}
	for name, node := range knownCommands(t) {
		if len(node.Children) > 0 || node.Hidden {
			continue
		}
		_, isIn := node.Target.Addr().Interface().(interface{ Sure() bool })
		if isIn != asks[name] || hasFlag(node, "dry-run") != rehearses[name] {
			t.Errorf("`bursar %s` asks: %v, rehearses: %v; the table says %v, %v", name, isIn, hasFlag(node, "dry-run"),
				asks[name], rehearses[name])
		}
		delete(asks, name)
	}
	if len(asks) > 0 {
		t.Errorf("the table has %v, want only commands that ask", asks)
	}
}

// What is acted on is an argument at every command, and what earlier versions took as a flag is still taken.
func TestArgumentsAreConsistent(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	other := parse[createdAccount](d, "account", "create", "--name", "other", "--json").AccountID
	for _, args := range [][]string{{"shop"}, {"--account", "shop"}, {shop.String(), "--account", "shop"}} {
		keys := parse[[]listedKey](d, append([]string{"key", "list", "--json"}, args...)...)
		if len(keys) != 1 || keys[0].AccountID != shop {
			t.Errorf("key list %s gives %+v, want the key of %s", args, keys, shop)
		}
	}
	d.fails(exitUsage, "two accounts are named", "key", "list", "shop", "--account", other.String())
	const unknown = "chain bitcoin has never run"
	d.fails(exitFailed, unknown, "chain", "rescan", "bitcoin", "--from", "1")
	d.fails(exitFailed, unknown, "chain", "rescan", "--chain", "bitcoin", "--from", "1")
	d.fails(exitUsage, "no chain is named", "chain", "rescan", "--from", "1")
	d.fails(exitUsage, "two chains are named", "chain", "rescan", "bitcoin", "--chain", "litecoin", "--from", "1")
	d.fails(exitUsage, `--status must be one of "pending_approval"`, "withdrawal", "list", "--status", "lost")
}

// A wrong command line exits with 2 at every command, before anything is tried.
func TestAWrongCommandLineExitsWithTwo(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for name, node := range knownCommands(t) {
		if len(node.Children) > 0 || slices.Contains([]string{"complete", "seed hand-over"}, name) {
			continue
		}
		if o := d.run("", append(strings.Fields(name), "--no-such-flag")...); o.code != exitUsage || o.out != "" ||
			!strings.Contains(o.err, "unknown flag --no-such-flag") {
			t.Errorf("bursar %s --no-such-flag exits with %d: %s%s, want 2", name, o.code, o.out, o.err)
		}
	}
}

// A rehearsal that knows its outcome says it, in text and as JSON.
func TestARehearsalSaysItsOutcome(t *testing.T) {
	t.Parallel()
	const outcome = "paid by transaction ab in block 7, as the chain shows"
	for asJSON, want := range map[bool]string{
		false: outcome + ": dry run: every check passed, and nothing was changed\n",
		true:  `"outcome":"` + outcome + `"`,
	} {
		var out bytes.Buffer
		c := &call{Call: command.Call{Stdout: &out}}
		ended := fmt.Errorf("resolve: %w", foreseen{outcome})
		if err := c.rehearsed(acting{JSON: asJSON}, ended); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("it prints %q, %v, want %q", out.String(), err, want)
		}
		if !errors.Is(ended, errRehearsed) {
			t.Errorf("%v is no rehearsal, want one", ended)
		}
	}
}
