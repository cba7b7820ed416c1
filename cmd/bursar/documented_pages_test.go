package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/mainnet"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// patienceOfPages is how long the commands of a block may take on a busy machine.
const patienceOfPages = 2 * time.Minute

// page is a document whose commands a shell runs in a folder of its own, as people copy them there.
type page struct {
	*harness
	text string
	ran  int
}

func (d *harness) page(name string) *page {
	d.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		d.Fatal(err)
	}
	for _, link := range []string{"bin/bursar", "bursar"} { // on the path, and as ./bursar
		to := filepath.Join(d.dir, link)
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			d.Fatal(err)
		}
		if err := os.Symlink(program, to); err != nil {
			d.Fatal(err)
		}
	}
	return &page{harness: d, text: string(text)}
}

// with returns the one block of the page that has a text in it. Fences may be indented; a block without one is.
func (p *page) with(part string) string {
	p.Helper()
	var found []string
	for _, b := range regexp.MustCompile("(?s)```[a-z]*\n(.*?)```").FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(b[1], part) {
			found = append(found, b[1])
		}
	}
	for _, b := range regexp.MustCompile(`(?m)(?:^ {4}.*\n)+`).FindAllString(p.text, -1) {
		if strings.Contains(b, part) && len(found) == 0 {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		p.Fatalf("the page has %d blocks with %q, want one", len(found), part)
	}
	return found[0]
}

// types has a shell run a text to its end, with names of the page replaced, and returns what it prints.
func (p *page) types(input, text string, names ...string) string {
	p.Helper()
	text = strings.NewReplacer(names...).Replace(text)
	p.ran += len(regexp.MustCompile(`\bbursar [a-z]`).FindAllString(text, -1))
	ctx, cancel := context.WithTimeout(p.Context(), patienceOfPages)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-eu", "-c", text)
	shell.Dir, shell.Stdin = p.dir, strings.NewReader(input)
	shell.Env = append(p.environ(), "PATH="+filepath.Join(p.dir, "bin")+":"+os.Getenv("PATH"))
	var said strings.Builder
	shell.Stderr = &said
	out, err := shell.Output()
	if err != nil {
		p.Fatalf("a shell ends with %v, want no error, and says %s%s of\n%s", err, out, said.String(), text)
	}
	return string(out)
}

// TestDocumentedPagesAreFollowed runs what documents have operators type, each page with what it takes for given.
func TestDocumentedPagesAreFollowed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a start of the program for each command: left out by -short")
	}
	for name, follow := range map[string]func(t *testing.T) (p *page, want int){
		"docs/operations.md":            followsOperations,
		"docs/operations/console.md":    followsConsole,
		"docs/operations/proposals.md":  followsProposals,
		"docs/operations/seed.md":       followsSeed,
		"docs/operations/orders.md":     followsOrders,
		"docs/operations/watch-only.md": followsWatchOnly,
		"docs/wrong-network.md":         followsWrongNetwork,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p, want := follow(t); p.ran != want {
				t.Errorf("%d commands of the page ran, want %d", p.ran, want)
			}
		})
	}
}

func followsOperations(t *testing.T) (*page, int) {
	d := newSeededHarness(t, "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}, "+
		"ethereum: {rpc: 'http://127.0.0.1:1', chain_id: 31337}, tron: {rpc: 'http://127.0.0.1:1'}, "+
		"solana: {rpc: 'http://127.0.0.1:1'}, xrpl: {rpc: 'http://127.0.0.1:1'}}")
	account := d.accountNamed("shop")
	p := d.page("docs/operations.md")
	for _, block := range []string{"bursar destination add", "bursar account fees ACCOUNT", "bursar limit set",
		"bursar webhook redeliver"} {
		p.types("", p.with(block), "ACCOUNT", account)
	}
	if fees := d.ok("account", "fees", account); !strings.Contains(fees, "network + 0.2%") {
		t.Errorf("the fees are\n%s, want those of the page", fees)
	}
	p.types("", p.with("bursar seed pool"), "100000", "20")
	return p, 13
}

func (d *harness) accountNamed(name string) string {
	d.Helper()
	return parse[createdAccount](d, "account", "create", "--name", name, "--json").AccountID.String()
}

func followsConsole(t *testing.T) (*page, int) {
	p := newSeededHarness(t, "console: {url: 'https://bursar.example'}").page("docs/operations/console.md")
	if link := p.types("", p.with("bursar operator invite")); !strings.Contains(link, "/console/invited#") {
		t.Errorf("an invitation prints %q, want a link", link)
	}
	p.types("", p.with("bursar operator roles"))
	p.types("", p.with("bursar audit acts list"))
	return p, 8
}

// Ann signs with ssh-keygen what somebody else proposed, and another proposal is rejected.
func followsProposals(t *testing.T) (*page, int) {
	const keys = "ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id_ed25519 && cat ~/.ssh/id_ed25519.pub"
	var p *page
	for _, command := range []string{"approve", "reject"} {
		d := newSeededHarness(t)
		if err := os.Mkdir(filepath.Join(d.dir, ".ssh"), 0o700); err != nil {
			t.Fatal(err)
		}
		next := d.page("docs/operations/proposals.md")
		key := strings.TrimSpace(next.types("", keys))
		d.configure("listen: 127.0.0.1:0\nadmin_listen: off\nnetwork: regtest\n" +
			"console: {url: 'https://bursar.example', ssh_keys: ['" + key + " Bob']}")
		proposed := d.proposes()
		approve, reject, _ := strings.Cut(next.with("bursar proposal list"), "bursar proposal reject")
		text := approve
		if command == "reject" {
			text = "bursar proposal reject" + reject
		}
		next.types("", text, "0193a6a0-0000-7000-8000-000000000000", proposed.ID.String())
		if p != nil {
			next.ran += p.ran
		}
		p = next
	}
	return p, 4
}

// Shares of an identity are made, two of three open the file, and so do the programs age and jq without Bursar.
func followsSeed(t *testing.T) (*page, int) {
	p := newSeededHarness(t).page("docs/operations/seed.md")
	made := p.run("", "seed", "shares", "make", "--need", "2", "--shares", "3")
	recipient := regexp.MustCompile(`age1[a-z0-9]+`).FindString(made.err)
	var shares []string
	for line := range strings.Lines(made.out) {
		if words := strings.Fields(line); len(words) == 33 {
			shares = append(shares, strings.Join(words, " "))
		}
	}
	if recipient == "" || len(shares) != 3 {
		t.Fatalf("shares are made as %d lines with the recipient %q, want 3 and one", len(shares), recipient)
	}
	add, remove, _ := strings.Cut(p.with("bursar seed recipients list"), "bursar seed recipients remove")
	p.types("", add, "age1…", recipient)
	p.env = nil // the passphrase is not needed
	p.types(shares[2]+"\n"+shares[0]+"\n", p.with("bursar seed shares combine"), "/dev/shm/identity", "identity", "rm ",
		": ")
	p.env = []string{"BURSAR_IDENTITY_FILE=identity"}
	p.types("", "bursar seed recipients remove"+remove)
	words := p.types("", p.with("jq -r .seed"))
	if _, err := signer.ParseMnemonic(strings.TrimSpace(words)); err != nil && !strings.Contains(words, "mnemonic") {
		t.Errorf("age prints %d words, %v, want those of the seed", len(strings.Fields(words)), err)
	}
	return p, 5
}

func followsOrders(t *testing.T) (*page, int) {
	d := newSeededHarness(t)
	account := d.accountNamed("shop")
	p := d.page("docs/operations/orders.md")
	id := strings.TrimSpace(p.types("", p.with("openssl genpkey")))
	line, _, _ := strings.Cut(p.with("bursar account order-key add"), "\n")
	p.types("", line, "ACCOUNT", account)
	if keys := d.ok("account", "order-key", "list", account, "--json"); len(id) != 32 || !strings.Contains(keys, id) {
		t.Errorf("the keys are %s, want %q, the ID that OpenSSL computes", keys, id)
	}
	return p, 1
}

// The file that the page has made is one that a service without a seed starts from, as it configures it.
func followsWatchOnly(t *testing.T) (*page, int) {
	d := newSeededHarness(t)
	p := d.page("docs/operations/watch-only.md")
	p.types("", p.with("bursar seed export-watch-only"), "50000", "50")
	if err := os.Chmod(filepath.Join(d.dir, "watch.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(p.with("watch.json}")), "\n")
	d.configure("listen: 127.0.0.1:0\nadmin_listen: off\nnetwork: regtest\n" + away + "\n" +
		strings.Replace(line, "/var/lib/bursar/", d.dir+"/", 1) + "\n")
	d.env = nil // no passphrase
	d.serving()
	return p, 1
}

func followsWrongNetwork(t *testing.T) (*page, int) {
	d := newSeededHarness(t, away)
	account := d.accountNamed("shop")
	var ids []bursar.ID
	d.change(func(ctx context.Context, tx *store.Tx) (err error) {
		ids, err = stray(ctx, tx, bursar.Address{Base: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}, 2)
		return err
	})
	p := d.page("docs/wrong-network.md")
	if found := p.types("", p.with("bursar find"), "HASH", strayHash); !strings.Contains(found, ids[1].String()) {
		t.Errorf("find prints\n%s\nwant the deposit %s", found, ids[1])
	}
	// A refund asks the chain what it costs, and the search of a block the node: sandbox/e2e does both.
	assign, _, _ := strings.Cut(p.with("bursar unattributed assign"), "bursar unattributed refund")
	p.types("", assign, " ID ", " "+ids[1].String()+" ", "ACCOUNT", account, "TEXT", "'case 7'")
	return p, 3
}

// README.md leads to a service on mainnet: its commands, with nodes of the two chains of its example.
func TestTheReadmeIsFollowed(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("on mainnet the seed is kept out of swap, which needs a right that only a privileged user is sure to have")
	}
	d := newEmptyHarness(t)
	d.env = []string{"BURSAR_LISTEN=127.0.0.1:0", "BURSAR_ADMIN_LISTEN=127.0.0.1:0"}
	p := d.page("README.md")
	nodes := mainnet.Nodes(t)
	words := p.types(nodes["bitcoin"]+"\n\n"+nodes["ethereum"]+"\n\n\n\n\n\n", p.with("./bursar init"),
		"go build ./cmd/bursar", ":")
	if len(strings.Fields(words)) < 24 {
		t.Errorf("init prints %q, want the words of the seed", words)
	}
	operates, _, serves := strings.Cut(p.with("./bursar serve"), "./bursar serve")
	if out := p.types("", operates); !serves || !strings.Contains(out, "apiKey") {
		t.Errorf("the page's commands print\n%s\nwant a key, and a service at their end", out)
	}
	d.env = append(d.env, "BURSAR_PASSPHRASE_FILE=passphrase")
	d.serves("serve")
}
