package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

func TestAFileInAFileOut(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	text, err := json.Marshal(d.waiting)
	if err != nil {
		t.Fatal(err)
	}
	waiting := d.write("waiting.json", string(text))
	if code := d.keyed("", "list", waiting); code != 0 || !strings.Contains(d.out.String(), "1.5 BTC on bitcoin to bc1q") {
		t.Errorf("got code %d: %s, want 0 and %q in it", code, &d.out, "1.5 BTC on bitcoin to bc1q")
	}
	if code := d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", waiting, "--out", d.path("signed")); code != 0 {
		t.Fatalf("got code %d: %s, want 0", code, &d.err)
	}
	content, err := os.ReadFile(d.path("signed"))
	if err != nil {
		t.Fatal(err)
	}
	signed, signatures, err := sshsig.Split(string(content))
	if err != nil || len(signatures) != 1 {
		t.Fatalf("got %d signatures, %v, want 1 of them", len(signatures), err)
	}
	d.taken = []signedText{{signed, signatures[0]}}
	if len(d.decisions(order(1))) != 1 {
		t.Error("the approval in the file does not count")
	}
}

func TestAStrangerSignsNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 9, order(1))
	if code := d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url); code != 1 || len(d.taken) != 0 {
		t.Errorf("got code %d and %d signatures, want 1 and none", code, len(d.taken))
	}
	d.wantSays("the policy knows nobody with the key SHA256:")
	if code := d.run("1.5\nbc1qar zzwf5mdq\n", nil, "yes", d.url); code != 1 || len(d.taken) != 0 {
		t.Errorf("without a key: got code %d", code)
	}
	if code := d.run("", nil, "sing"); code != 2 {
		t.Errorf("an unknown command: got code %d, want 2", code)
	}
}

// The agent's key that belongs to somebody in the policy is taken.
func TestTheAgentSigns(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	folder, err := os.MkdirTemp("", "agent") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	ring := agent.NewKeyring()
	for _, seed := range []byte{7, 2} {
		if err := ring.Add(agent.AddedKey{PrivateKey: private(seed)}); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			if err := agent.ServeAgent(ring, conn); err != io.EOF {
				t.Error(err)
			}
		}
	}()
	env := map[string]string{"SSH_AUTH_SOCK": filepath.Join(folder, "s"), "HOME": d.folder}
	if code := d.run("1.5\nbc1qar zzwf5mdq\n", env, "yes", d.url); code != 0 {
		t.Fatalf("got code %d: %s, want 0", code, &d.err)
	}
	if decisions := d.decisions(order(1)); len(decisions) != 1 || decisions[0].Person != "bob" {
		t.Errorf("got %v, want bob's", decisions)
	}
}

func TestTextsAreWrittenAndSigned(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1)
	first := policy(t)
	next := policy(t)
	next.Version, next.Previous, next.Hold = 2, first.Hash(), time.Hour
	next.Rules[0].Need = 2
	next.Rules[0].Payments = []roster.Window{{Length: time.Hour, Most: bursar.Units(500)}}
	tether := policy(t)
	tether.Assets[0] = roster.Asset{Name: "USDT", Chain: "tron", Contract: "t", Price: bursar.Units(1e6)}
	for name, test := range map[string]struct {
		args []string
		file string
		says string
	}{
		"destination": {[]string{"destination", "--instance", instance, "--chain", "xrpl", "--address",
			"rDTXLQ7ZKZVKz33zJbHjgVShjsBnqMBhmN:7", "--asset", "native"}, "", "tag: 7"},
		"freeze": {[]string{"freeze", "--instance", instance, "--why", "a key was lost"}, "", "why: a key was lost"},
		"thaw":   {[]string{"thaw", "--instance", instance, "--why", "it was found"}, "", "do: thaw"},
		"order-key": {[]string{"order-key", "--instance", instance, "--account", order(1).Account.String(), "--name", "shop",
			d.write("client", clientKey)}, "", "key: " + clientKey},
		"policy": {nil, next.Text(), "tightens: allow large: count 1h 500\n" +
			"tightens: allow large: need 2 approver instead of 1 approver"},
	} {
		if test.args != nil {
			if code := d.keyed("", test.args...); code != 0 {
				t.Errorf("%s: got code %d: %s, want 0", name, code, &d.err)
			}
			test.file = d.out.String()
		}
		file := d.write(name, test.file)
		if code := d.keyed("no\n", "sign", "--before", d.write("before", first.Text()), file); code != 0 {
			t.Errorf("%s: got code %d: %s, want 0", name, code, &d.err)
		}
		d.wantSays(test.says, "Nothing was signed")
		if code := d.keyed("sign\n", "sign", file); code != 0 {
			t.Errorf("%s: got code %d: %s, want 0", name, code, &d.err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, signatures, err := sshsig.Split(string(content))
		if err != nil || text != test.file || len(signatures) != 1 {
			t.Fatalf("%s: got %q, %d signatures, %v, want %v and 1 of them", name, text, len(signatures), err, test.file)
		}
		if _, err := sshsig.Verify(signatures[0], name+"@bursar", []byte(text)); name != "thaw" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.keyed("no\n", "sign", d.write("tether", tether.Text()))
	d.wantSays("limits:   fees on tron count in no window")
	if code := d.keyed("sign\n", "sign", d.write("order", order(1).Text())); code != 1 {
		t.Errorf("an order: got code %d, want it refused", code)
	}
	for name, args := range map[string][]string{
		"a key without a name":       {d.path("client")},
		"a key without a file":       {"--name", "shop"},
		"a revocation with a file":   {"--revoke", "00000000000000000000000000000000", d.path("client")},
		"a key that is another text": {"--name", "shop", d.path("order")},
	} {
		args = append([]string{"order-key", "--instance", instance, "--account", order(1).Account.String()}, args...)
		if code := d.keyed("", args...); code == 0 {
			t.Errorf("%s: got code 0, want it refused", name)
		}
	}
	if code := d.keyed("", "destination", "--instance", instance, "--chain", "BTC", "--address", "x"); code != 1 {
		t.Errorf("a chain that is no name: got code %d, want it refused", code)
	}
}

// A compromise order is shown from the bytes that are signed, with each address on a line of its own, in a namespace of
// its own.
func TestACompromiseOrderIsShownAndSigned(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1)
	o := approval.Compromise{Instance: instance, ID: approval.Nonce{5}, Version: 7, Policy: approval.HashOf("policy"),
		Created: noon, Expires: noon.AddDate(0, 6, 0), Cold: []approval.ColdDestination{
			{Chain: "bitcoin", Base: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}, {Chain: "ethereum", Base: "0xCo1d"}}}
	file := d.write("compromise.txt", o.Text())
	if code := d.keyed("sign\n", "sign", file); code != 0 {
		t.Fatalf("got code %d: %s, want 0", code, &d.err)
	}
	d.wantSays("once and until "+approval.Moment(o.Expires),
		"Cold       bitcoin  bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
		"Cold       ethereum  0xCo1d")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, signatures, err := sshsig.Split(string(content))
	if err != nil || text != o.Text() || len(signatures) != 1 {
		t.Fatalf("the file is %s, %v, want the order with 1 signature", content, err)
	}
	if _, err := sshsig.Verify(signatures[0], approval.NamespaceCompromise, []byte(text)); err != nil {
		t.Errorf("the signature: got %v, want one in %s", err, approval.NamespaceCompromise)
	}
	if _, err := sshsig.Verify(signatures[0], approval.NamespaceFreeze, []byte(text)); err == nil {
		t.Error("the signature counts for a freeze too, want it refused")
	}
	other := d.write("other.txt", strings.Replace(o.Text(), "cold: bitcoin", "cold: Bitcoin", 1))
	if code := d.keyed("sign\n", "sign", other); code == 0 {
		t.Error("another spelling was signed, want it refused")
	}
}
