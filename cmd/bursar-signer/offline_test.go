package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/chain/bitcoin/psbt"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/signer"
)

// offlineMachine is a machine without a network, with the key of a cold wallet, and a bundle for it.
type offlineMachine struct {
	*harness
	bundle ceremony.Bundle
	rules  bitcoin.Network
}

// newOfflineMachine has the seed and the hot wallet's public keys in files, and a bundle that pays the hot wallet 0.4
// BTC.
func newOfflineMachine(t *testing.T) *offlineMachine {
	t.Helper()
	v := &offlineMachine{harness: newHarness(t, "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}}")}
	v.seal()
	hot, err := signer.KeysFromSeed(bytes.Repeat([]byte{7}, 32), signer.Testnet)
	v.must(err)
	exported, err := json.Marshal(hot.ExportPublic())
	v.must(err)
	v.write("hot.json", string(exported))
	v.rules, err = bitcoin.Bitcoin("regtest")
	v.must(err)
	key, says, code := v.run("offline", "key", "bitcoin")
	if code != 0 || !strings.HasPrefix(key, "[") {
		t.Fatalf("offline key exits with %d: %s, want 0 and %q first", code, says, "[")
	}
	body := "wpkh(" + strings.TrimSpace(key) + "/<0;1>/*)"
	sum, err := descriptor.Checksum(body)
	v.must(err)
	d, err := descriptor.Parse(body + "#" + sum)
	v.must(err)
	v.found(hot, d)
	return v
}

func (b *harness) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// seal writes a seed file that opens quickly.
func (b *harness) seal() {
	b.Helper()
	mnemonic, err := signer.NewMnemonic(bytes.NewReader(bytes.Repeat([]byte{9}, 64)))
	b.must(err)
	secret, err := signer.NewPassphrase(passphrase)
	b.must(err)
	sealed, err := signer.SealWith(mnemonic, secret, 10)
	b.must(err)
	b.write("seed.age", string(sealed))
}

// found makes a bundle of a descriptor's first address, which holds 1 BTC.
func (v *offlineMachine) found(hot *signer.Keys, d *descriptor.Descriptor) {
	v.Helper()
	out, err := d.At(0, 0)
	v.must(err)
	cold, err := v.rules.AddressOf(out.Script)
	v.must(err)
	pub, err := hot.Public(chain.Hot(chain.FamilyBitcoin))
	v.must(err)
	adapter, err := bitcoin.New(bitcoin.Config{ID: "bitcoin", Network: v.rules,
		Node: rpc.Config{URLs: []string{"http://127.0.0.1:1"}}})
	v.must(err)
	home, err := adapter.Address(pub, 0)
	v.must(err)
	script, err := adapter.Script(home.Base)
	v.must(err)
	previous := wire.NewMsgTx(2)
	previous.AddTxIn(&wire.TxIn{})
	previous.AddTxOut(wire.NewTxOut(1e8, out.Script))
	var raw bytes.Buffer
	v.must(previous.SerializeNoWitness(&raw))
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: previous.TxHash()}, Sequence: 0xfffffffd})
	tx.AddTxOut(wire.NewTxOut(4e7, script))
	tx.AddTxOut(wire.NewTxOut(6e7-1000, out.Script))
	p := psbt.New(tx)
	p.Inputs[0].Set([]byte{psbt.InPrevious}, raw.Bytes())
	data, err := p.Encode()
	v.must(err)
	at := time.Now().UTC().Truncate(time.Second)
	v.bundle = ceremony.Bundle{Instance: hot.Fingerprint(), Network: "regtest", ID: bursar.ID{0: 1, 15: 3},
		Wallet: bursar.ColdWallet{Chain: "bitcoin", Name: "vault", Kind: bursar.ColdDescriptor, Descriptor: d.String(),
			Addresses: []string{cold}},
		Payment: chain.Payment{Address: home, Amount: bursar.Units(4e7)}, MaxFee: bursar.Units(10_000),
		Created: at, Expires: at.Add(time.Hour), Bytes: data}
	v.write("refill.txt", v.bundle.Text())
}

// typed runs the program with a line on standard input.
func (b *harness) typed(line string, args ...string) (out, says string, code int) {
	b.Helper()
	c := exec.CommandContext(b.Context(), program, args...)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Env = b.folder, append([]string{"HOME=" + b.folder}, b.env...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(line), &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		b.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

func (v *offlineMachine) read(name string) string {
	v.Helper()
	data, err := os.ReadFile(filepath.Join(v.folder, name))
	v.must(err)
	return string(data)
}

// A person reads what the bytes do, types the amount, and carries the signed bundle away, as a file or as frames.
func TestABundleIsSignedOffline(t *testing.T) {
	t.Parallel()
	v := newOfflineMachine(t)
	shown, says, code := v.run("offline", "show", "refill.txt")
	if code != 0 || !strings.Contains(shown, "0.40000000 BTC") || !strings.Contains(shown, "0 of 1") {
		t.Fatalf("show exits with %d: %s %s, want 0 and %q in it and %q in it", code, shown, says, "0.40000000 BTC", "0 of 1")
	}
	if _, says, code := v.typed("0.4\n", "offline", "sign", "refill.txt", "--out", "signed.txt"); code != 1 ||
		!strings.Contains(says, "nothing is signed") {
		t.Errorf("another amount is typed: got %d, %s, want 1 and %q in it", code, says, "nothing is signed")
	}
	if _, says, code := v.typed("0.40000000\n", "offline", "sign", "refill.txt", "--out", "signed.txt"); code != 0 {
		t.Fatalf("sign exits with %d: %s, want 0", code, says)
	}
	signed, err := ceremony.Read(v.read("signed.txt"))
	if err != nil || !signed.Same(v.bundle) || bytes.Equal(signed.Bytes, v.bundle.Bytes) {
		t.Errorf("the signed bundle is %+v, %v", signed, err)
	}
	if _, says, code := v.typed("0.40000000\n", "offline", "sign", "refill.txt", "--out", "signed.txt"); code != 1 ||
		!strings.Contains(says, "exists") {
		t.Errorf("a file is overwritten: got %d, %s, want 1 and %q in it", code, says, "exists")
	}
	if _, says, code := v.run("offline", "combine", "refill.txt", "signed.txt", "--out", "joined.txt"); code != 0 ||
		v.read("joined.txt") != v.read("signed.txt") {
		t.Errorf("combine exits with %d: %s", code, says)
	}
	frames, err := ceremony.Frames(v.read("signed.txt"))
	v.must(err)
	if _, says, code := v.typed("noise\n"+strings.Join(frames, "\n"), "offline", "read", "--out", "read.txt"); code != 0 ||
		v.read("read.txt") != v.read("signed.txt") {
		t.Errorf("read exits with %d: %s", code, says)
	}
	codes, says, code := v.run("offline", "show", "signed.txt", "--qr", "--once", "--every", "1ms", "--qr-dir", "codes")
	if code != 0 || strings.Count(codes, " of ") != len(frames) {
		t.Errorf("show --qr exits with %d: %s, want 0 and %v", code, says, len(frames))
	}
	for _, name := range []string{"codes/frame-00001.png", "codes/frame-00001.svg"} {
		if len(v.read(name)) < 500 {
			t.Errorf("%s has %d bytes, want at least 500", name, len(v.read(name)))
		}
	}
}

// Anyone who has the machine that faces the network asks the offline machine for more.
func TestAttacksOnTheOfflineMachine(t *testing.T) {
	t.Parallel()
	v := newOfflineMachine(t)
	for name, a := range map[string]struct {
		change func(b *ceremony.Bundle)
		says   string
	}{
		"another destination": {func(b *ceremony.Bundle) { b.Payment.Address.Base = b.Wallet.Addresses[0] }, "destination"},
		"another amount":      {func(b *ceremony.Bundle) { b.Payment.Amount = bursar.Units(1) }, "unrequested_payment"},
		"another instance":    {func(b *ceremony.Bundle) { b.Instance = "other" }, "another service"},
		"another network":     {func(b *ceremony.Bundle) { b.Network = "mainnet" }, "another service"},
		"an old bundle":       {func(b *ceremony.Bundle) { b.Expires = b.Created.Add(-time.Second) }, "expired"},
		"a low fee bound":     {func(b *ceremony.Bundle) { b.MaxFee = bursar.Units(999) }, "fee"},
		"another chain":       {func(b *ceremony.Bundle) { b.Wallet.Chain = "litecoin" }, "not configured"},
		"a token":             {func(b *ceremony.Bundle) { b.Payment.Contract = "0x1" }, "not configured"},
		"other bytes":         {func(b *ceremony.Bundle) { b.Bytes = b.Bytes[:len(b.Bytes)-1] }, "unreadable"},
	} {
		bad := v.bundle
		a.change(&bad)
		v.write("bad.txt", bad.Text())
		if _, says, code := v.typed("0.40000000\n", "offline", "sign", "bad.txt", "--out", "bad-signed.txt"); code != 1 ||
			!strings.Contains(says, a.says) {
			t.Errorf("%s: got %d, %s, want %q", name, code, says, a.says)
		}
	}
	v.write("bad.txt", strings.Replace(v.bundle.Text(), "units: 40000000", "units: 40000001", 1))
	if _, says, code := v.run("offline", "show", "bad.txt"); code != 1 || !strings.Contains(says, "checksum") {
		t.Errorf("a bundle that was changed: got %d, %s, want 1 and %q in it", code, says, "checksum")
	}
}
