package e2e

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

// signerBuilt compiles the signer's own program beside the others, for the one test that needs it.
var signerBuilt = sync.OnceValues(func() (string, error) {
	if _, err := built(); err != nil {
		return "", err
	}
	program := filepath.Join(builtIn, "bursar-signer")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "../../cmd/bursar-signer").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build bursar-signer: %w\n%s", err, out)
	}
	return program, nil
})

// offlineMachine is a folder with the signer's program, a seed of its own, and a configuration whose nodes are nowhere.
type offlineMachine struct {
	*testing.T
	program, dir string
}

func newOfflineMachine(t *testing.T) *offlineMachine {
	t.Helper()
	program, err := signerBuilt()
	m := &offlineMachine{t, program, storetest.Folder(t)}
	m.need(err)
	mnemonic, err := signer.NewMnemonic(bytes.NewReader(bytes.Repeat([]byte{9}, 64)))
	m.need(err)
	secret, err := signer.NewPassphrase("offline")
	m.need(err)
	sealed, err := signer.SealWith(mnemonic, secret, 10)
	m.need(err)
	for name, text := range map[string]string{"cold.age": string(sealed), "passphrase": "offline\n",
		"bursar.yaml": "network: regtest\nseed_file: cold.age\nchains:\n  bitcoin: {rpc: \"http://127.0.0.1:1\"}\n" +
			"  xrpl: {rpc: \"http://127.0.0.1:1\"}\n  solana: {rpc: \"http://127.0.0.1:1\"}\n"} {
		m.need(os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600))
	}
	return m
}

func (m *offlineMachine) need(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// run runs a command of the machine with what a person types.
func (m *offlineMachine) run(typed string, args ...string) string {
	m.Helper()
	command := exec.Command(m.program, append([]string{"offline"}, args...)...)
	command.Dir, command.Stdin = m.dir, strings.NewReader(typed)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "BURSAR_PASSPHRASE_FILE=" + filepath.Join(m.dir, "passphrase")}
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		m.Fatalf("bursar-signer offline %v: %v\n%s%s", args, err, out, &complaint)
	}
	return strings.TrimSpace(string(out))
}

// descriptor returns the descriptor of the machine's key, and its first address.
func (m *offlineMachine) descriptor() (text, address string) {
	m.Helper()
	body := "wpkh(" + m.run("", "key", "bitcoin") + "/<0;1>/*)"
	sum, err := descriptor.Checksum(body)
	m.need(err)
	d, err := descriptor.Parse(body + "#" + sum)
	m.need(err)
	out, err := d.At(0, 0)
	m.need(err)
	network, err := bitcoin.Bitcoin("regtest")
	m.need(err)
	address, err = network.AddressOf(out.Script)
	m.need(err)
	return d.String(), address
}

// coldIn adds cold wallets to the service's configuration, and starts it again with it.
func (w *harness) coldIn(wallets map[string]string) {
	w.t.Helper()
	w.must(w.server.stop())
	file := filepath.Join(w.dir, "bursar.yaml")
	text, err := os.ReadFile(file)
	w.must(err)
	for chain, wallet := range wallets {
		before := "  " + chain + ": {"
		if !strings.Contains(string(text), before) {
			w.t.Fatalf("the configuration has no chain %s: %s", chain, text)
		}
		text = []byte(strings.Replace(string(text), before, before+"cold: {vault: "+wallet+"}, ", 1))
	}
	w.must(os.WriteFile(file, text, 0o600))
	w.serve()
	w.ready()
}

// nonceAccount makes a nonce account with an authority, by a transaction as Solana's own command makes it.
func (w *harness) nonceAccount(c *currency, authority string) string {
	w.t.Helper()
	payer, at := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, 32)), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{4}, 32))
	public := func(key ed25519.PrivateKey) []byte { return key.Public().(ed25519.PublicKey) }
	w.pay(c, share{base58.Encode(public(payer)), "1"})
	w.mine(untilFinal)
	var latest struct {
		Value struct{ Blockhash string }
	}
	w.must(rpc(w.rpc(c.network), "getLatestBlockhash", &latest, map[string]any{"commitment": "finalized"}))
	system := make([]byte, 32)
	message := slices.Concat([]byte{2, 0, 3, 5}, public(payer), public(at),
		base58.Decode("SysvarRecentB1ockHashes11111111111111111111"),
		base58.Decode("SysvarRent111111111111111111111111111111111"), system, base58.Decode(latest.Value.Blockhash),
		[]byte{2, 4, 2, 0, 1, 52, 0, 0, 0, 0}, binary.LittleEndian.AppendUint64(nil, 1_447_680), // rent-exempt with 80 bytes
		binary.LittleEndian.AppendUint64(nil, 80), system,
		[]byte{4, 3, 1, 2, 3, 36, 6, 0, 0, 0}, base58.Decode(authority))
	raw := slices.Concat([]byte{2}, ed25519.Sign(payer, message), ed25519.Sign(at, message), message)
	var id string
	w.must(rpc(w.rpc(c.network), "sendTransaction", &id, base64.StdEncoding.EncodeToString(raw),
		map[string]any{"encoding": "base64"}))
	w.mine(untilFinal)
	return base58.Encode(public(at))
}

// Both programs, the real ones, play a refill of Bitcoin, one of the XRP Ledger and one of Solana: the service books
// what cold wallets receive, builds the bundles, a machine that reaches no node shows and signs them, what is broadcast
// is booked by its final block, and books equal the chains.
func TestRefillsWithBothPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	m, w := newOfflineMachine(t), newSeparateService(t, build(t), "", "bitcoin,xrpl,solana")
	w.blocks("manual")
	text, first := m.descriptor()
	account, key := m.run("", "address", "xrpl"), m.run("", "address", "solana")
	nonce := ""
	for _, c := range w.currencies {
		if c.chain == "solana" {
			nonce = w.nonceAccount(c, key)
		}
	}
	w.coldIn(map[string]string{
		"bitcoin": fmt.Sprintf("{kind: descriptor, descriptor: %q, addresses: [%q]}", text, first),
		"xrpl":    fmt.Sprintf("{kind: address, addresses: [%q]}", account),
		"solana":  fmt.Sprintf("{kind: nonce, addresses: [%q], nonce_account: %q}", key, nonce),
	})
	w.must(os.WriteFile(filepath.Join(m.dir, "hot.json"), w.run("seed", "export-public"), 0o600))
	for _, c := range w.currencies {
		w.pay(c, share{map[string]string{"bitcoin": first, "xrpl": account, "solana": key}[c.chain], "40"})
	}
	w.mine(untilFinal)
	w.balanced()
	for _, c := range w.currencies {
		w.refills(m, c, "15")
	}
	w.mine(untilFinal)
	w.eventually("the refills are booked", func() error {
		var list []struct{ Currency, Amount, Status string }
		out, err := w.try("cold", "list", "--json")
		if err == nil {
			err = json.Unmarshal(out, &list)
		}
		for _, r := range list {
			if r.Status != "booked" {
				err = fmt.Errorf("the refill of %s %s is %s", r.Amount, r.Currency, r.Status)
			}
		}
		if err == nil && len(list) != len(w.currencies) {
			err = fmt.Errorf("%d refills are listed, want %d", len(list), len(w.currencies))
		}
		return err
	})
	w.balanced()
}

// refills has a refill built, signed on the offline machine and broadcast.
func (w *harness) refills(m *offlineMachine, c *currency, amount string) {
	w.t.Helper()
	unsigned, signed := filepath.Join(m.dir, c.code+".txt"), filepath.Join(m.dir, c.code+"-signed.txt")
	w.run("cold", "refill", "--wallet", "vault", "--currency", c.code, "--amount", amount, "--out", unsigned)
	shown := m.run("", "show", unsigned)
	pays := ""
	for line := range strings.Lines(shown) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "pays" && words[2] == c.code {
			pays = words[1]
		}
	}
	if got, want := c.units(pays), c.units(amount); got.Cmp(want) != 0 {
		w.t.Fatalf("the offline machine shows %s, want it to pay %s %s", shown, amount, c.code)
	}
	m.run(pays+"\n", "sign", unsigned, "--out", signed)
	if out := w.run("cold", "broadcast", signed); !bytes.Contains(out, []byte("is sent as transaction")) {
		w.t.Errorf("the broadcast says %s, want that it is sent", out)
	}
}
