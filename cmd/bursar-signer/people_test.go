package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

// persons makes keys with ssh-keygen, by name.
func (b *harness) persons(names ...string) (list []roster.Person) {
	b.Helper()
	for _, name := range names {
		b.ssh("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name)
		public, err := os.ReadFile(filepath.Join(b.folder, name+".pub"))
		if err != nil {
			b.Fatal(err)
		}
		key, err := sshsig.ParseKey(strings.TrimSpace(string(public)))
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, roster.Person{Name: name, Until: time.Now().AddDate(1, 0, 0).UTC().Truncate(time.Second),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Keys: []sshsig.Key{key}})
	}
	return list
}

// ssh runs ssh-keygen in the folder.
func (b *harness) ssh(args ...string) {
	b.Helper()
	c := exec.CommandContext(b.Context(), "ssh-keygen", args...)
	c.Dir = b.folder
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("ssh-keygen %v: %v: %s", args, err, out)
	}
}

// signed has persons sign a text with ssh-keygen, and returns the arguments of apply.
func (b *harness) signed(namespace, file, text string, names ...string) []string {
	b.Helper()
	b.write(file, text)
	args := []string{"apply", file}
	for _, name := range names {
		b.ssh("-q", "-Y", "sign", "-n", namespace, "-f", name, file)
		if err := os.Rename(filepath.Join(b.folder, file+".sig"), filepath.Join(b.folder, file+"."+name)); err != nil {
			b.Fatal(err)
		}
		args = append(args, file+"."+name)
	}
	return args
}

// want runs the program and checks its exit code and what it says.
func (b *harness) want(code int, says string, args ...string) string {
	b.Helper()
	out, err, got := b.run(args...)
	if got != code || !strings.Contains(out+err, says) {
		b.Errorf("bursar-signer %v: got %d: %s%s, want %d: %s", args, got, out, err, code, says)
	}
	return out
}

// boundsAreTried asks what a rule with bounds answers to the order in the folder, and what it tightens.
func (b *harness) boundsAreTried(p roster.Policy) {
	b.Helper()
	day := func(most uint64) []roster.Window {
		return []roster.Window{{Length: 24 * time.Hour, Most: bursar.Units(most)}}
	}
	next := p
	next.Version, next.Previous = 2, p.Hash()
	next.Rules = []roster.Rule{p.Rules[0]}
	next.Rules[0].Fees, next.Rules[0].Payments, next.Rules[0].PerAccount = day(200e6), day(500), day(3000e6)
	b.write("bounded", next.Text())
	b.want(0, "tightens: allow large: fees 24h 200\ntightens: allow large: count 24h 500\n"+
		"tightens: allow large: per_account 24h 3000\n", "policy", "diff", "bounded")
	test := []string{"policy", "test", "order", "--policy", "bounded", "--listed", "--held", "--approved", "ann",
		"--approved", "cat"}
	b.want(1, "policy: rule large: it bounds what each account may take", test...)
	test = append(test, "--ordered")
	b.want(0, "allowed by rule large", append(test, "--fee", "0.0016")...)
	b.want(1, "window: rule large: it may cost 240 EUR, and 0 of 200", append(test, "--fee", "0.002")...)
	b.want(2, "--fee 1e3", append(test, "--fee", "1e3")...)
	next.Assets = []roster.Asset{{Name: "USDT", Chain: "tron", Contract: "t", Price: bursar.Units(1)}}
	next.Rules[0].Fees = nil
	b.write("tethers", next.Text())
	b.want(0, "limits:   fees on tron count in no window", "policy", "diff", "tethers")
	b.want(2, "the policy has no native asset of bitcoin", "policy", "test", "order", "--policy", "tethers", "--fee", "1")
}

// The whole way of a policy, with the keys and signatures of OpenSSH alone.
func TestPeopleSignWithOpenSSH(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		if testing.Short() {
			t.Skip("OpenSSH is not installed: go run ./test -install openssh")
		}
		t.Fatalf("%v: go run ./test -install openssh", err)
	}
	b := newHarness(t)
	b.want(0, "", "seed", "new")
	var state struct{ Instance string }
	if err := json.Unmarshal([]byte(b.want(0, "", "status", "--json")), &state); err != nil || state.Instance == "" {
		t.Fatalf("got %+v, %v, want not %q", state, err, "")
	}
	b.want(1, "no policy is installed", "policy", "show")
	now := time.Now().UTC().Truncate(time.Second)
	p := roster.Policy{Instance: state.Instance, Network: "regtest", Version: 1, Created: now, NotBefore: now, Authors: 2,
		Destinations: 2, Hold: time.Hour, Reference: "EUR",
		Assets: []roster.Asset{{Name: "BTC", Chain: "bitcoin", Decimals: 8, Price: bursar.Units(120_000e6)}},
		People: b.persons("ann", "bob", "cat"),
		Rules: []roster.Rule{{ID: "large", For: []string{roster.KindWithdrawal}, To: roster.ToListed, Need: 2,
			Role: roster.RoleApprover, Hold: time.Hour}}}
	b.want(1, "too few persons signed: 1 of 2 of role author",
		b.signed(approval.NamespacePolicy, "one", p.Text(), "ann")...)
	b.want(1, "made for another purpose", b.signed("file", "file", p.Text(), "ann", "bob")...)
	b.want(0, "The policy, signed by ann, bob, is in force",
		b.signed(approval.NamespacePolicy, "first", p.Text(), "bob", "ann")...)
	if got := b.want(0, p.Hash().String(), "policy", "show"); got != p.Text() {
		t.Errorf("got\n%s, want\n%s", got, p.Text())
	}
	next := p
	next.Version, next.Previous, next.Destinations = 2, p.Hash(), 3
	b.write("next", next.Text())
	b.want(0, "tightens: destinations: 3 instead of 2", "policy", "diff", "next")
	b.want(0, "loosens:  destinations: 2 instead of 3", "policy", "diff", "first", "--before", "next")

	order := approval.Order{Instance: state.Instance, Account: bursar.ID{1}, ID: bursar.ID{2}, Chain: "bitcoin",
		To: bursar.Address{Base: "bc1qgood"}, Units: bursar.Units(1000), Created: now, Expires: now.Add(time.Hour)}
	b.write("order", order.Text())
	b.want(1, "destination: rule large: bc1qgood is not a signed destination", "policy", "test", "order")
	b.want(1, "approved: rule large: 1 of 2", "policy", "test", "order", "--listed", "--approved", "ann")
	b.want(0, "allowed by rule large", "policy", "test", "order", "--listed", "--approved", "ann", "--approved", "cat",
		"--held")
	b.boundsAreTried(p)
	b.want(2, "the policy has no eve", "policy", "test", "order", "--approved", "eve")
	b.want(2, "ann has no passkey", "policy", "test", "order", "--passkey", "ann")
	b.want(2, "ann has one approval", "policy", "test", "order", "--approved", "ann", "--approved", "ann")

	place := approval.Destination{Instance: state.Instance, Chain: "bitcoin", Any: true, To: order.To, Created: now,
		Expires: now.Add(time.Hour), Until: now.AddDate(1, 0, 0), Nonce: approval.NewNonce()}
	b.want(0, "bc1qgood of bitcoin, signed by ann, cat, can be paid from",
		b.signed(approval.NamespaceDestination, "place", place.Text(), "cat", "ann")...)
	b.want(0, "bc1qgood", "destinations")

	freeze := approval.Freeze{Instance: state.Instance, Why: "a key was lost", Created: now, Expires: now.Add(time.Hour),
		Nonce: approval.NewNonce()}
	b.want(0, "frozen by cat", b.signed(approval.NamespaceFreeze, "freeze", freeze.Text(), "cat")...)
	b.want(0, "by cat: a key was lost", "status")
	b.want(1, "the policy has 2 of its authors sign a thaw", "thaw", "--reason", "enough")
	thaw := freeze
	thaw.Thaw, thaw.Nonce = true, approval.NewNonce()
	thaw.Created = thaw.Created.Add(-time.Second)
	b.want(1, "make another", b.signed(approval.NamespaceFreeze, "early", thaw.Text(), "cat", "ann")...)
	thaw.Created = time.Now().UTC().Truncate(time.Second)
	b.want(1, "too few persons signed", b.signed(approval.NamespaceFreeze, "alone", thaw.Text(), "cat")...)
	b.want(0, "Freezes ended by ann, cat: 1", b.signed(approval.NamespaceFreeze, "thaw", thaw.Text(), "cat", "ann")...)
	b.want(1, "apply takes a policy", "apply", "order")
	b.auditsLog()
	b.ordersOfClients(state.Instance, now)
	b.losesItsState(p)
}

// ordersOfClients has the authors sign a client's key, and one person revoke it.
func (b *harness) ordersOfClients(instance string, now time.Time) {
	b.Helper()
	public, err := orderkey.New(clientKey(7).Public())
	if err != nil {
		b.Fatal(err)
	}
	k := approval.OrderKey{Instance: instance, Account: shop, ID: public.ID(), Key: public.String(), Name: "shop",
		Created: now, Expires: now.Add(time.Hour), Nonce: approval.NewNonce()}
	b.write("shop.pem", public.String())
	b.want(1, "the policy has people sign it", "order-key", "add", shop.String(), "shop.pem", "--name", "shop")
	b.want(1, "too few persons signed", b.signed(approval.NamespaceOrderKey, "alone-key", k.Text(), "ann")...)
	b.want(1, "made for another purpose", b.signed(approval.NamespaceDestination, "other-key", k.Text(), "ann", "bob")...)
	b.want(0, "signed by ann, bob, for orders of account",
		b.signed(approval.NamespaceOrderKey, "key", k.Text(), "ann", "bob")...)
	b.want(0, public.ID(), "order-key", "list")
	k.Revoke, k.Key, k.Name, k.Nonce = true, "", "", approval.NewNonce()
	b.want(0, "does not take the key "+public.ID()+" any more, as cat signed",
		b.signed(approval.NamespaceOrderKey, "revoked-key", k.Text(), "cat")...)
}

// losesItsState removes the state with the policy in it: nothing takes the policy's place but its own text.
func (b *harness) losesItsState(p roster.Policy) {
	b.Helper()
	left, err := filepath.Glob(filepath.Join(b.folder, "*.state*"))
	if err != nil || len(left) == 0 {
		b.Fatalf("got %v, %v, want the files of the state", left, err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
	}
	b.want(0, "", "init", "--unused")
	var state struct{ Instance string }
	if err := json.Unmarshal([]byte(b.want(0, "", "status", "--json")), &state); err != nil ||
		state.Instance == p.Instance {
		b.Fatalf("got %+v, %v, want another instance", state, err)
	}
	own := p
	own.Instance, own.Authors = state.Instance, 1
	b.want(1, "version 1, sha256:", b.signed(approval.NamespacePolicy, "own", own.Text(), "ann")...)
	b.want(1, "the policy that was in force is lost", "policy", "show")
	b.want(0, "lost: version 1 of the policy", "status")
	b.want(1, "the policy that was in force is lost", "thaw", "--reason", "none")
	b.want(0, "The policy is the one that was lost, by its hash: version 1", "apply", "first")
	b.want(0, p.Hash().String(), "policy", "show")
}

// auditsLog takes a checkpoint, proves an entry, and checks both.
func (b *harness) auditsLog() {
	b.Helper()
	signed, says, code := b.run("audit", "checkpoint")
	_, key, found := strings.Cut(strings.TrimSpace(says), "The key is ")
	if code != 0 || !found {
		b.Fatalf("got %d: %s", code, says)
	}
	b.write("november", signed)
	b.want(0, "", "freeze", "--reason", "the month has ended")
	b.want(0, "and the 5 of the checkpoint are unchanged", "audit", "verify", "november", "--key", key)
	b.want(1, "invalid verifier hash", "audit", "verify", "november", "--key", key[:len(key)-2]+"AA")
	b.write("entry", b.want(0, "", "audit", "prove", "2", "--checkpoint", "november", "--key", key))
	b.want(0, `"by":["ann","bob"]`, "audit", "verify", "entry", "--key", key)
	b.want(0, "entries, of which each follows from the one before", "audit", "verify")
	b.want(2, "neither the number of an entry nor an ID", "audit", "prove", "x", "--checkpoint", "november", "--key", key)
	b.want(1, "nothing was signed for", "audit", "prove", "0193a6a0-0000-7000-8000-000000000000", "--checkpoint",
		"november",
		"--key", key)
	b.want(1, "the log has no such entry", "audit", "prove", "6", "--checkpoint", "november", "--key", key)
}
