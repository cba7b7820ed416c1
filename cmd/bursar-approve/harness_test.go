package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

func private(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
}

func policy(t *testing.T) roster.Policy {
	t.Helper()
	p := roster.Policy{Instance: instance, Network: "mainnet", Version: 1, Created: noon, NotBefore: noon, Authors: 1,
		Destinations: 1, Reference: "EUR",
		Assets: []roster.Asset{{Name: "BTC", Chain: "bitcoin", Decimals: 8, Price: bursar.Units(120_000e6)}},
		Rules: []roster.Rule{{ID: "large", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 1,
			Role: roster.RoleApprover}}}
	for i, name := range []string{"ann", "bob"} {
		public, err := ssh.NewPublicKey(private(byte(i + 1)).Public())
		if err != nil {
			t.Fatal(err)
		}
		key, err := sshsig.NewKey(public)
		if err != nil {
			t.Fatal(err)
		}
		p.People = append(p.People, roster.Person{Name: name, Until: noon.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}})
	}
	return p
}

func order(n byte) approval.Order {
	return approval.Order{Instance: instance, Account: bursar.ID{1}, ID: bursar.ID{n}, Chain: "bitcoin",
		To: bursar.Address{Base: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}, Units: bursar.Units(150_000_000),
		Created: noon, Expires: noon.Add(72 * time.Hour)}
}

// fixture is an approver with a key file, and a service with payments that wait.
type fixture struct {
	t        *testing.T
	folder   string
	waiting  listed
	taken    []signedText // what the service took
	url      string
	password string // that the service asks for; empty: none
	out, err bytes.Buffer
}

func newFixture(t *testing.T, seed byte, orders ...approval.Order) *fixture {
	t.Helper()
	d := &fixture{t: t, folder: t.TempDir(), waiting: listed{Instance: instance, Policy: policy(t).Text()}}
	for _, o := range orders {
		d.waiting.Orders = append(d.waiting.Orders, asked{Text: o.Text(), Status: "queued"})
	}
	block, err := ssh.MarshalPrivateKey(private(seed), "")
	if err != nil {
		t.Fatal(err)
	}
	d.write("key", string(pem.EncodeToMemory(block)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != d.password {
			http.Error(w, "the password is missing or wrong", http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet {
			if err := json.NewEncoder(w).Encode(d.waiting); err != nil {
				t.Error(err)
			}
			return
		}
		var s signedText
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %v, %s, want %q", err, r.Header, "application/json")
		}
		d.taken = append(d.taken, s)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL + "/approvals"
	return d
}

func (d *fixture) path(name string) string { return filepath.Join(d.folder, name) }

func (d *fixture) write(name, text string) string {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return d.path(name)
}

// run runs the program with answers and returns its exit code.
func (d *fixture) run(answers string, env map[string]string, args ...string) int {
	d.out.Reset()
	d.err.Reset()
	s := &session{stdin: bufio.NewReader(strings.NewReader(answers)), out: &d.out, err: &d.err,
		getenv: func(name string) string { return env[name] }, now: func() time.Time { return noon.Add(time.Hour) }}
	return run(d.t.Context(), s, args)
}

func (d *fixture) keyed(answers string, args ...string) int {
	return d.run(answers, nil, append([]string{"--key", d.path("key"), "--journal", d.path("journal")}, args...)...)
}

// decisions returns what the signer would count.
func (d *fixture) decisions(o approval.Order) (decisions []roster.VerifiedApproval) {
	d.t.Helper()
	for _, s := range d.taken {
		v, _ := policy(d.t).Approvals(o, []roster.Signed{{Text: s.Text, Signature: s.Signature}}, noon.Add(2*time.Hour))
		decisions = append(decisions, v...)
	}
	return decisions
}

func (d *fixture) wantSays(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.err.String(), text) {
			d.t.Errorf("it says\n%s, want %q", &d.err, text)
		}
	}
}
