package main

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	assignment = regexp.MustCompile(`^([A-Z]+)=(\S.*?)(?:\s+# .*)?$`)
	expected   = regexp.MustCompile(`\s{2,}# ("[^"]+":.*|[a-z_]+)$`) // what the answer contains, as the tutorial says
)

// TestTheTutorials runs every command of the tutorials, and of the documents on charges, the payer's page and the
// sandbox, one after the other, against one sandbox. What a reader copies from an answer into a variable is taken from
// the answer before; what a comment says about an answer is waited for.
func TestTheTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("needs curl and a whole sandbox: left out by -short")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("this test needs curl: run go run ./test -install curl, or leave such tests out with -short")
	}
	t.Parallel()
	line, end := begin(t, "--json", "--chains", "bitcoin,tron")
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("the sandbox ended with %v", err)
		}
	})
	f := startInfoOf(t, line)
	r := &reader{T: t, vars: map[string]string{},
		given: map[string]string{"API": f.API, "CONTROL": f.Control, "KEY": f.APIKey, "SECRET": f.APISecret}}
	for _, name := range []string{"first-payment", "first-payout", "payer-page"} {
		r.name = name
		for _, command := range documented(t, name) {
			r.types(command)
		}
	}
	r.charges()
	r.name = "sandbox" // last, since it sets the clock
	for _, command := range documented(t, r.name) {
		r.types(strings.ReplaceAll(command, "http://127.0.0.1:8082", "$CONTROL"))
	}
	if r.typed < 27 {
		t.Errorf("the documents have %d commands, want at least 27", r.typed)
	}
}

// documented returns what a document has typed into a shell.
func documented(t *testing.T, name string) (commands []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		for command := range strings.SplitSeq(strings.ReplaceAll(block[1], "\\\n", ""), "\n") {
			if command != "" {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

// charges runs the commands of docs/charges.md. The charge that they refund, which received too much, is made before.
func (r *reader) charges() {
	r.Helper()
	r.name = "charges"
	for _, command := range documented(r.T, r.name) {
		if strings.Contains(command, "charge/refund") {
			for _, before := range []string{
				`curl -s $API/api/v1/charge -H "X-API-KEY: $KEY" -d currency=BTC -d amount=0.01 -d webhook=$HOOK`, `CHARGE=it`,
				`curl -s $CONTROL/test/charge/pay -d '{"chargeID":"'$CHARGE'","how":"over"}'`,
				`curl -s "$API/api/v1/charge?chargeID=$CHARGE" -H "X-API-KEY: $KEY"    # "status":"paid"`, `DEPOSIT=its`,
				`curl -s $CONTROL/address -d '{"currency":"BTC"}'`, `ADDRESS=of somebody else`,
			} {
				r.types(before)
			}
		}
		r.types(command)
	}
}

// reader is somebody who follows a tutorial.
type reader struct {
	*testing.T
	name   string            // of the tutorial
	given  map[string]string // what the sandbox printed
	vars   map[string]string
	answer string // the last one
	typed  int
}

// fields are where in an answer the value of a variable is.
var fields = map[string]string{"WALLET": "walletID", "ADDRESS": "address", "CHARGE": "chargeID",
	"DEPOSIT": "depositID"}

func (r *reader) types(command string) {
	r.Helper()
	r.typed++
	if m := assignment.FindStringSubmatch(command); m != nil {
		r.assign(m[1], m[2])
		return
	}
	want := ""
	if m := expected.FindStringSubmatch(command); m != nil {
		want = m[1]
	}
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		if r.answer = r.run(command); r.answer != "" && strings.Contains(r.answer, want) {
			break
		}
		select {
		case <-deadline:
			r.Fatalf("%s: %s is answered %s, want %s", r.name, command, r.answer, want)
		case <-tick.C:
		}
	}
	if !strings.Contains(r.answer, `"success":false`) || regexp.MustCompile(`^[a-z_]+$`).MatchString(want) {
		return
	}
	r.Errorf("%s: %s is refused: %s", r.name, command, r.answer)
}

// assign sets a variable: to what the sandbox printed, to what the answer before has, or to what a command prints.
func (r *reader) assign(name, value string) {
	r.Helper()
	switch field := fields[name]; {
	case r.given[name] != "":
		r.vars[name] = r.given[name]
	case field != "":
		if m := regexp.MustCompile(`"` + field + `":"([^"]+)"`).FindStringSubmatch(r.answer); m != nil {
			r.vars[name] = m[1]
		}
	default:
		r.vars[name] = r.run(`printf %s "` + value + `"`)
	}
	if r.vars[name] == "" {
		r.Fatalf("%s: %s=%s has no value after %s", r.name, name, value, r.answer)
	}
}

// run runs a command in a shell with the variables.
func (r *reader) run(command string) string {
	r.Helper()
	shell := exec.CommandContext(r.Context(), "sh", "-euc", command)
	shell.Env = os.Environ()
	for name, value := range maps.All(r.vars) {
		shell.Env = append(shell.Env, name+"="+value)
	}
	out, err := shell.Output()
	if err != nil {
		r.Fatalf("%s: %s: %v", r.name, command, err)
	}
	return string(out)
}
