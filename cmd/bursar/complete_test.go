package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/docs/man/mantest"
)

// Words are completed by what a command really takes there.
func TestWordsAreCompleted(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"wit"}, "withdrawal"},
		{[]string{"withdrawal", "a"}, "approve"},
		{[]string{"withdrawal", "list", "--status", "co"}, "confirmed"},
		{[]string{"withdrawal", "list", "--limit", "5", "--sta"}, "--status"},
		{[]string{"--config", "x.yaml", "chain", "halt", "bit"}, "bitcoin"},
		{[]string{"currency", "halt", "USDC"}, "USDC-MATIC"},
		{[]string{"completion", ""}, "bash zsh fish"},
		{[]string{"withdrawal", "show", "0193"}, ""},
		{[]string{"nothing", "x"}, ""},
	} {
		out := d.ok(append([]string{"complete", "--"}, test.words...)...)
		var got []string
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, word)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q become %q, want %q", test.words, got, test.want)
		}
	}
	if out := d.ok("complete", "--", ""); strings.Contains(out, "hand-over") || strings.Contains(out, "complete\t") {
		t.Errorf("offered are\n%s\nwant no hidden command", out)
	}
}

// bash itself completes with the script that is installed.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	d := newHarness(t)
	script := filepath.Join(d.dir, "bursar.bash")
	if err := os.WriteFile(script, []byte(d.ok("completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), bash, "--norc", "-c", fmt.Sprintf(
		`source %q; COMP_WORDS=(%q withdrawal ""); COMP_CWORD=2; _bursar; printf '%%s\n' "${COMPREPLY[@]}"`, script, program))
	out, err := c.CombinedOutput()
	if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, []string{"list", "show", "approve", "reject",
		"cancel"}) {
		t.Errorf("bash completes to %q, %v, want the commands below withdrawal", got, err)
	}
}

// The manual page has every command and flag.
func TestTheManualPageHasEveryCommand(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&call{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	mantest.Check(t, parser.Model, newHarness(t).ok("man"))
}

// help explains commands, documents and words, and says where to look otherwise.
func TestHelpExplainsTopics(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for want, args := range map[string][]string{
		"Usage: bursar withdrawal approve": {"help", "withdrawal", "approve"},
		"Usage: bursar <command>":          {"help"},
		"# Backups":                        {"help", "operations/backup"},
		"errors: below_minimum":            {"help", "below", "minimum"},
	} {
		if out := d.ok(args...); !strings.Contains(out, want) {
			t.Errorf("%s prints\n%.300s\nwant %q in it", args, out, want)
		}
	}
	d.fails(exitFailed, "there is no command, no document", "help", "zzzz")
}

// zsh itself completes with the script that is installed: its own completion, in a terminal, finishes a command and a
// flag. The module zsh/zpty is that terminal.
func TestZshCompletes(t *testing.T) {
	t.Parallel()
	zsh := shell(t, "zsh")
	d := newHarness(t)
	home := filepath.Join(d.dir, "functions")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "_bursar"), []byte(d.ok("completion", "zsh")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(d.dir, "bursar")); err != nil {
		t.Fatal(err)
	}
	const script = `zmodload zsh/zpty
zpty terminal zsh -f -i
zpty -w terminal "PS1=; PATH=$2:\$PATH; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w terminal "print re''ady"
zpty -r terminal text '*ready*'
zpty -n -w terminal $'bursar withdrawal app\t--dry\t\nprint en""ded\n'
while zpty -r terminal text; do
	print -r -- "$text"
	[[ $text == *ended* ]] && break
done
zpty -d terminal`
	out, err := d.bounded(zsh, "-f", "-c", script, "zsh", home, d.dir)
	if completed := regexp.MustCompile(`withdrawal approve \W*--dry-run`); err != nil || !completed.MatchString(out) {
		t.Errorf("zsh prints %q, %v, want that it completed approve and --dry-run", out, err)
	}
}

// fish itself completes with the script that is installed, and shows what each word is for.
func TestFishCompletes(t *testing.T) {
	t.Parallel()
	fish := shell(t, "fish")
	d := newHarness(t)
	script := filepath.Join(d.dir, "bursar.fish")
	if err := os.WriteFile(script, []byte(d.ok("completion", "fish")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(d.dir, "bursar")); err != nil {
		t.Fatal(err)
	}
	out, err := d.bounded(fish, "--no-config", "-c",
		fmt.Sprintf(`source %s; set -p PATH %s; complete -C "bursar withdrawal "; complete -C "bursar withdrawal list --stat"`,
			script, d.dir))
	var got []string
	for line := range strings.Lines(out) {
		word, about, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if about == "" {
			t.Errorf("fish offers %q, want with what it is for", line)
		}
		got = append(got, word)
	}
	if want := []string{"approve", "cancel", "list", "reject", "show", "--status"}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("fish completes to %q, %v, want %q", got, err, want)
	}
}

// shell returns the path of a shell that the tests install.
func shell(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs " + name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v; `go run ./test -install shells` installs it", err)
	}
	return path
}

// bounded runs a program in the harness's folder, for some seconds at most.
func (d *harness) bounded(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(d.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = d.dir, append(d.environ(), "TERM=dumb")
	out, err := c.CombinedOutput()
	return string(out), err
}
