package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/sshsig"
)

// Doctor says on mainnet that nobody approves anything, and whose time ends.
func TestDoctorLooksAtThePolicyOfPeople(t *testing.T) {
	t.Parallel()
	const check = "policy of people"
	main := newHarness(t)
	main.configure("chains: {bitcoin: {rpc: http://127.0.0.1:1}}")
	found, _ := main.findings()
	if f := found[check]; f.Result != resultWarning || !strings.Contains(f.Advice, "docs/operations/approvals.md") {
		t.Errorf("on mainnet doctor finds %+v, want %v and %q in it", f, resultWarning, "docs/operations/approvals.md")
	}
	d := newSeededHarness(t, "console: {url: https://bursar.example}")
	d.ok("signer", "init", "--unused")
	found, _ = d.findings()
	if f, is := found[check]; is {
		t.Errorf("on another network doctor finds %+v, want nothing", f)
	}
	file, err := memory.Join(t.Context(), filepath.Join(d.dir, "seed.age.state"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	key, err := sshsig.NewKey(signer.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	status := parse[command.SignerStatus](d, "signer", "status", "--json")
	site, err := passkey.ParseOrigin("https://console.example.com")
	if err != nil {
		t.Fatal(err)
	}
	text := roster.Policy{Instance: status.Instance, Site: site, Network: "regtest", Version: 1, Created: now,
		NotBefore: now, Authors: 1, Destinations: 1, Reference: "EUR",
		Assets: []roster.Asset{{Name: "USDT", Chain: "tron", Contract: "t", Price: bursar.Units(1e6)}},
		Rules: []roster.Rule{{ID: "open",
			For: []string{roster.KindWithdrawal}, To: roster.ToListed}},
		People: []roster.Person{{Name: "ann", Until: now.AddDate(0, 0, 20),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}}}}.Text()
	signature, err := sshsig.Sign(signer, approval.NamespacePolicy, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := people.Install(t.Context(), file, text, []string{signature},
		people.Here{Network: "regtest", Clock: time.Now()}); err != nil {
		t.Fatal(err)
	}
	look := func() string {
		t.Helper()
		o := d.run("", "doctor", "--json") // the nodes are not there, which fails
		var list []finding
		if err := json.Unmarshal([]byte(o.out), &list); err != nil {
			t.Fatalf("doctor prints %+v: %v", o, err)
		}
		var says []string
		for _, f := range list {
			if f.Check == check {
				says = append(says, f.Result+": "+f.Detail)
			}
		}
		return strings.Join(says, "; ")
	}
	if got := look(); !strings.Contains(got, "warning: ann counts until ") ||
		!strings.Contains(got, "warning: rule open has no limit") ||
		!strings.Contains(got, "warning: fees on tron count in no window") ||
		!strings.Contains(got, "warning: its passkeys sign at https://console.example.com, and the console is at "+
			"https://bursar.example") ||
		!strings.HasSuffix(got, "ok: version 1, people: 1, rules: 1") {
		t.Errorf("doctor finds %q", got)
	}
	// A later version was in force, by the file beside the seed.
	cfg := config.Config{SeedFile: filepath.Join(d.dir, "seed.age")}
	if err := host.NotePolicy(cfg, memory.KnownPolicy{Version: 7, Hash: "sha256:07"}); err != nil {
		t.Fatal(err)
	}
	if got := look(); !strings.Contains(got, "failed: version 7, sha256:07, was in force") {
		t.Errorf("doctor finds %q, want that the policy is lost", got)
	}
}
