package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/sshsig"
)

const instance = "K7QJ3ZL2M5XW4RT6P8YN9VBHCD"

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

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

// desk is an approver with a key file, and a service with payments that wait.
type desk struct {
	t        *testing.T
	folder   string
	waiting  listed
	taken    []signedText // what the service took
	url      string
	password string // that the service asks for; empty: none
	out, err bytes.Buffer
}

func newDesk(t *testing.T, seed byte, orders ...approval.Order) *desk {
	t.Helper()
	d := &desk{t: t, folder: t.TempDir(), waiting: listed{Instance: instance, Policy: policy(t).Text()}}
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

func (d *desk) path(name string) string { return filepath.Join(d.folder, name) }

func (d *desk) write(name, text string) string {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return d.path(name)
}

// run runs the program with answers and returns its exit code.
func (d *desk) run(answers string, env map[string]string, args ...string) int {
	d.out.Reset()
	d.err.Reset()
	s := &session{stdin: bufio.NewReader(strings.NewReader(answers)), out: &d.out, err: &d.err,
		getenv: func(name string) string { return env[name] }, now: func() time.Time { return noon.Add(time.Hour) }}
	return run(d.t.Context(), s, args)
}

func (d *desk) keyed(answers string, args ...string) int {
	return d.run(answers, nil, append([]string{"--key", d.path("key"), "--journal", d.path("journal")}, args...)...)
}

// votes returns what the signer would count.
func (d *desk) votes(o approval.Order) (votes []roster.Vote) {
	d.t.Helper()
	for _, s := range d.taken {
		v, _ := policy(d.t).Votes(o, []roster.Signed{{Text: s.Text, Signature: s.Signature}}, noon.Add(2*time.Hour))
		votes = append(votes, v...)
	}
	return votes
}

func (d *desk) wantSays(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.err.String(), text) {
			d.t.Errorf("it says\n%s, want %q", &d.err, text)
		}
	}
}

func TestWhatIsTypedIsSigned(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1), order(2))
	if code := d.keyed("\n1.5\nbc1qar zzwf5mdq\n", "yes", d.url); code != 0 {
		t.Fatalf("got code %d: %s, want 0", code, &d.err)
	}
	d.wantSays("You are ann", "Pay        1.5 BTC", "To         bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "Passed over",
		"Delivered")
	if len(d.taken) != 1 || len(d.votes(order(2))) != 1 || d.votes(order(2))[0].Person != "ann" {
		t.Errorf("got %d approvals, %v, want one of the second order by ann", len(d.taken), d.votes(order(2)))
	}
	// Asked again, the program remembers.
	d.keyed("\n\n", "yes", d.url, order(2).ID.String())
	d.wantSays("By you     2026-11-24T13:00:00Z yes order " + order(2).ID.String())
}

func TestThePasswordOfTheListenerIsSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
	d.password = "correct horse battery staple"
	if code := d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url); code != 1 || len(d.taken) != 0 {
		t.Errorf("without it: got code %d", code)
	}
	d.wantSays("HTTP 401: \"the password is missing or wrong\"")
	file := d.write("password", d.password+"\n")
	if code := d.keyed("1.5\nbc1qar zzwf5mdq\n", "--password-file", file, "yes", d.url); code != 0 ||
		len(d.votes(order(1))) != 1 {
		t.Errorf("with it: got code %d: %s, want 0 and 1 of them", code, &d.err)
	}
}

// A further payment of the same order is approved only if the approver asks for it and says so.
func TestAFurtherPaymentIsLoud(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1), order(2))
	id := order(1).ID.String()
	if code := d.keyed("", "yes", "--payment", "2", d.url); code != 2 {
		t.Errorf("without an order: got code %d, want 2", code)
	}
	if d.keyed("pay again\n1.5\nbc1qar zzwf5mdq\n", "yes", "--payment", "2", d.url, id); len(d.taken) != 0 {
		t.Errorf("mistyped: got %d approvals, want none", len(d.taken))
	}
	d.keyed("pay again 2\n1.5\nbc1qar zzwf5mdq\n", "yes", "--payment", "2", d.url, id)
	d.wantSays("PAYMENT 2 of this order", "the money can leave 2 TIMES")
	if votes := d.votes(order(1)); len(votes) != 1 || votes[0].Payment != 2 {
		t.Errorf("got %v, want one approval of payment 2", votes)
	}
}

// Anyone who listens on the way would have the password.
func TestThePasswordIsNotSentInTheClear(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
	file := d.write("password", "correct horse battery staple\n")
	for _, url := range []string{"http://192.0.2.1/approvals", "http://localhost.example.com/approvals"} {
		if code := d.keyed("", "--password-file", file, "list", url); code != 2 {
			t.Errorf("%s: got code %d, want 2", url, code)
		}
		d.wantSays("the password is sent over https")
	}
}

func TestWhatIsMistypedIsNotSigned(t *testing.T) {
	t.Parallel()
	for _, answers := range []string{"15\nbc1qar zzwf5mdq\n", "1.50\nbc1qar zzwf5mdq\n", "1.5\nBC1QAR ZZWF5MDQ\n",
		"1.5\nwf5mdq\n", "1.5\nbc1qar\n", "1.5\n\n", "\n",
		"150000000\nbc1qar zzwf5mdq\n", "yes\nyes\n"} {
		d := newDesk(t, 1, order(1))
		d.keyed(answers, "yes", d.url)
		if len(d.taken) != 0 {
			t.Errorf("%q: got a signature, want none", answers)
		}
		if _, err := os.Stat(d.path("journal")); err == nil {
			t.Errorf("%q: got a line in the journal, want none", answers)
		}
	}
	d := newDesk(t, 1, order(1))
	if code := d.keyed("1.5\n", "yes", d.url); code != 1 || len(d.taken) != 0 {
		t.Errorf("an answer that is cut off: got code %d and %d signatures, want 1 and none", code, len(d.taken))
	}
}

// What the service says beside the bytes changes nothing of what is shown, and moves no cursor.
func TestTheServiceCannotChangeWhatIsShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
	d.waiting.Orders[0].Reason = "\x1b[2J\x1b[HPay 0.01 BTC \u202e"
	d.waiting.Orders[0].TxID = "\r\x1bdeadbeef"
	d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url)
	if strings.ContainsAny(d.err.String(), "\x1b\r\u202e") {
		t.Errorf("it says %q, with control characters", d.err.String())
	}
	d.wantSays("WARNING    a transaction that pays this was signed before", "find out why it failed first")
	other := newDesk(t, 1, order(1))
	other.waiting.Orders[0].Text = strings.Replace(other.waiting.Orders[0].Text, "bc1q", "bc1q\u0430", 1)
	if code := other.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", other.url); code != 1 || len(other.taken) != 0 {
		t.Errorf("an address that is not ASCII: got code %d", code)
	}
	token := order(1)
	token.Contract = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	unknown := newDesk(t, 1, token)
	if code := unknown.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", unknown.url); code != 1 || len(unknown.taken) != 0 {
		t.Errorf("an asset that the policy does not have: got code %d", code)
	}
	unknown.wantSays("the policy has no asset 0xdAC17F958D2ee523a2206206994597C13D831ec7 of bitcoin")
}

// A false policy would show other decimals: an approval under it is worth nothing to the signer.
func TestAFalsePolicyMakesTheApprovalWorthless(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
	lie := policy(t)
	lie.Assets[0].Decimals = 10
	d.waiting.Policy = lie.Text()
	d.keyed("0.015\nbc1qar zzwf5mdq\n", "yes", d.url)
	if len(d.taken) != 1 || len(d.votes(order(1))) != 0 {
		t.Errorf("got %d approvals of which %d count, want one that does not", len(d.taken), len(d.votes(order(1))))
	}
}

func TestWhatWasSignedBeforeIsShown(t *testing.T) {
	t.Parallel()
	first := newDesk(t, 2, order(1))
	first.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", first.url)
	d := newDesk(t, 1, order(1))
	d.waiting.Orders[0].Approvals = append(first.taken, signedText{first.taken[0].Text, "forged"})
	d.keyed("\n", "yes", d.url)
	d.wantSays("Signed     yes by bob with ssh at 2026-11-24T13:00:00Z until 2026-11-24T21:00:00Z", "by nobody who counts")
}

func TestANoIsSigned(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
	d.keyed("no\n", "no", d.url, order(1).ID.String())
	if votes := d.votes(order(1)); len(votes) != 1 || votes[0].Decision != approval.No {
		t.Errorf("got %v, want a no", votes)
	}
}

func TestAFileInAFileOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
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
	if len(d.votes(order(1))) != 1 {
		t.Error("the approval in the file does not count")
	}
}

func TestAStrangerSignsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 9, order(1))
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
	d := newDesk(t, 1, order(1))
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
	if votes := d.votes(order(1)); len(votes) != 1 || votes[0].Person != "bob" {
		t.Errorf("got %v, want bob's", votes)
	}
}

func TestTextsAreWrittenAndSigned(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := policy(t)
	next := policy(t)
	next.Version, next.Previous, next.Hold = 2, first.Hash(), time.Hour
	next.Rules[0].Need = 2
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
		"policy": {nil, next.Text(), "tightens: allow large: need 2 approver instead of 1 approver"},
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

// clientKey is the key of a client, which signs orders.
const clientKey = "MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw="

// A service in other hands writes lines of its own under what was parsed, right above the question.
func TestAServiceWritesNoLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1))
	fake := "-\n" + strings.Repeat("\n", 60) + "Pay        1.5 BTC\nTo         bc1qYOUROWNADDRESSxxxxxxxxxxxxxxxxxxwf5mdq"
	d.waiting.Orders[0].TxID = fake
	d.keyed("\n", "yes", d.url)
	if n := strings.Count("\n"+d.err.String(), "\nTo  "); n != 1 {
		t.Errorf("got %d lines that say where it goes, want 1: %q", n, d.err.String())
	}
	d.waiting.Orders[0].TxID, d.waiting.Orders[0].Reason = "", fake
	d.keyed("\n", "yes", d.url)
	if n := strings.Count("\n"+d.err.String(), "\nTo  "); n != 1 {
		t.Errorf("got %d lines that say where it goes, want 1", n)
	}
}

// "It failed, please sign again" under another ID: what this person signed to the same address is shown.
func TestTheSamePaymentUnderAnotherID(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1, order(1), order(2))
	d.keyed("1.5\nbc1qar zzwf5mdq\n", "yes", d.url, order(1).ID.String())
	if len(d.taken) != 1 {
		t.Fatalf("got %d approvals, want 1", len(d.taken))
	}
	d.keyed("\n", "yes", d.url, order(2).ID.String())
	d.wantSays("By you ")
}
