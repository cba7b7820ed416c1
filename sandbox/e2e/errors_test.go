package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// documented is one error of docs/errors.md: its status, and the command that causes it, if it has one.
type documented struct{ status, line string }

var errorHeading = regexp.MustCompile("(?m)^### `([a-z_]+)` · ([0-9]{3})$")

// readErrors reads docs/errors.md.
func readErrors(t *testing.T) map[string]documented {
	t.Helper()
	text, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]documented{}
	places := errorHeading.FindAllStringSubmatchIndex(string(text), -1)
	for i, at := range places {
		end := len(text)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		section := string(text[at[1]:end])
		line := ""
		if _, rest, has := strings.Cut(section, "```sh\n"); has {
			line, _, _ = strings.Cut(rest, "\n```")
		}
		found[string(text[at[2]:at[3]])] = documented{string(text[at[4]:at[5]]), line}
	}
	return found
}

// codes are those of the OpenAPI description.
func codes(t *testing.T, api string) []string {
	t.Helper()
	answer, err := http.Get(api + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var whole struct {
		Components struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Properties struct {
							Error struct {
								Properties struct{ Code struct{ Enum []string } }
							}
						}
					}
				}
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&whole); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range whole.Components.Responses {
		all = append(all, r.Content["application/json"].Schema.Properties.Error.Properties.Code.Enum...)
	}
	slices.Sort(all)
	return all
}

// TestEveryDocumentedError causes every public error with the very command of the documentation, run by a shell with
// curl against the service as operators run it. The answer has the status and the code of the heading, and the
// request's ID in its header.
func TestEveryDocumentedError(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the service as a process: left out by -short")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("this test needs curl: run go run ./test -install curl, or leave such tests out with -short")
	}
	t.Parallel()
	errors := readErrors(t)
	o := newOperatorCLI(t)
	if want := codes(t, o.vars["API"]); !slices.Equal(slices.Sorted(maps.Keys(errors)), want) {
		t.Fatalf("docs/errors.md has %v, the service %v, want %+v", slices.Sorted(maps.Keys(errors)), want, want)
	}
	for _, code := range slices.Sorted(maps.Keys(errors)) {
		o.check(code, errors[code])
	}
	o.shows()
	o.check("unavailable", errors["unavailable"]) // last: it cannot be undone
}

// shows compares the answer that the documentation shows with the service's, but for the request's ID.
func (o *operatorCLI) shows() {
	o.Helper()
	text, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		o.Fatal(err)
	}
	shown := regexp.MustCompile("```json\n(.*)\n```").FindStringSubmatch(string(text))
	body, _, id := o.sh(`curl -s "$API/api/v1/wallet" -H "X-API-KEY: $KEY"`, o.vars)
	const shownID = "01991f2e-6c00-7a3b-8c1d-0123456789ab"
	if shown == nil || strings.TrimSpace(body) != strings.Replace(shown[1], shownID, id, 1) {
		o.Errorf("the document shows %q, want %s", shown, body)
	}
}

// check runs a command of the documentation.
func (o *operatorCLI) check(code string, d documented) {
	o.Helper()
	vars := maps.Clone(o.vars)
	switch code {
	case "internal", "already_resolved", "too_late", "events_archived", "limit_reached": // what takes more than a command
		if d.line != "" {
			o.Errorf("%s has a command, want none: %s", code, d.line)
		}
		return
	case "unavailable":
		if !o.stopDatabase {
			o.stopDatabase = true
			return // it runs last
		}
		o.database.cut()
	case "forbidden":
		vars["KEY"] = o.key("--scopes", "read")
	case "order_expired":
		o.orders(vars)
	case "withdrawals_frozen":
		o.freeze(true)
		defer o.freeze(false)
	case "rate_limited":
		vars["API"] = o.public()
	}
	body, status, id := o.sh(d.line, vars)
	var said struct {
		Success   bool
		Error     struct{ Code, Message string }
		RequestID string
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		o.Errorf("%s: %q is answered %s: %v", code, d.line, body, err)
		return
	}
	if _, err := bursar.ParseID(id); err != nil || said.Success || said.Error.Code != code || status != d.status ||
		said.RequestID != id || said.Error.Message == "" {
		o.Errorf("%q is answered %s %s with the ID %q, want %s %s", d.line, status, body, id, d.status, code)
	}
}

// sh runs a command in a shell, and returns the last answer: body, status and request ID.
func (o *operatorCLI) sh(line string, vars map[string]string) (body, status, id string) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-euc", line)
	c.Dir, c.Env = o.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.dir}
	for name, value := range vars {
		c.Env = append(c.Env, name+"="+value)
	}
	out, err := c.Output()
	if err != nil {
		o.Errorf("%s: %v", line, err)
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) < 2 || !strings.HasPrefix(answers[len(answers)-1], "curl ") {
		return string(out), "", ""
	}
	last := strings.Fields(answers[len(answers)-1])
	return answers[len(answers)-2], last[1], last[len(last)-1]
}

// freeze freezes the account, as a deposit that is reorged out does, or unfreezes it.
func (o *operatorCLI) freeze(on bool) {
	o.Helper()
	if !on {
		o.run("account", "unfreeze", o.account)
		return
	}
	id, err := bursar.ParseID(o.account)
	if err != nil {
		o.Fatal(err)
	}
	db := storetest.Open(o, o.database.url)
	if err := db.Do(o.Context(), func(tx *store.Tx) error {
		return tx.Halts().Put(o.Context(), store.Halt{Scope: store.HaltAccount(id), Kind: store.HaltByOperator,
			Reason: "for a test"})
	}); err != nil {
		o.Fatal(err)
	}
}

// orders creates an account that signs its orders with order-key.pem, by OpenSSL.
func (o *operatorCLI) orders(vars map[string]string) {
	o.Helper()
	o.sh("openssl genpkey -algorithm ed25519 -out order-key.pem; openssl pkey -in order-key.pem -pubout -out "+
		"order-key.pub", vars)
	var made struct{ AccountID, APIKey, APISecret string }
	if err := json.Unmarshal(o.run("account", "create", "--name", "orders", "--json"), &made); err != nil {
		o.Fatal(err)
	}
	o.run("account", "order-key", "add", made.AccountID, "order-key.pub", "--name", "shop")
	vars["ACCOUNT"], vars["KEY"], vars["SECRET"] = made.AccountID, made.APIKey, made.APISecret
}

// key creates another key of the account.
func (o *operatorCLI) key(args ...string) string {
	o.Helper()
	var made struct{ APIKey string }
	if err := json.Unmarshal(o.run(append([]string{"key", "create", o.account, "--json"}, args...)...),
		&made); err != nil {
		o.Fatal(err)
	}
	return made.APIKey
}

// curlrc makes curl print status and request ID of each answer, whatever the command is.
func curlrc(t *testing.T, home string) {
	t.Helper()
	text := fmt.Sprintf("write-out = %q\n", `curl %{http_code} %header{x-request-id}\n`)
	if err := os.WriteFile(filepath.Join(home, ".curlrc"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
