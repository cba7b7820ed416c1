package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/bursar/bursar/signer"
)

// pluginProgram is the name under which this program is a plugin of age; see TestMain.
const pluginProgram = "age-plugin-drill"

// runPlugin is a plugin whose identities are keys of age in an envelope of its own, as those of a device are.
func runPlugin() int {
	p, err := plugin.New("drill")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p.HandleRecipient(func(data []byte) (age.Recipient, error) { return age.ParseX25519Recipient(string(data)) })
	p.HandleIdentity(func(data []byte) (age.Identity, error) {
		if string(data) == "unplugged" {
			return nil, fmt.Errorf("the device is not plugged in")
		}
		if err := p.DisplayMessage("touch the device"); err != nil {
			return nil, err
		}
		return age.ParseX25519Identity(string(data))
	})
	return p.Main()
}

// words is the first test vector of BIP 39 with 12 words.
const words = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

// sealedHarness is a harness with a seed file that costs little to open, and the plugin on the path.
func sealedHarness(t *testing.T, lines ...string) *harness {
	t.Helper()
	b := newHarness(t, lines...)
	mnemonic, err := signer.ParseMnemonic(words)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := signer.NewPassphrase(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := signer.SealWith(mnemonic, secret, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.write("seed.age", string(sealed))
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(b.folder, pluginProgram)); err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "PATH="+b.folder+":"+os.Getenv("PATH"))
	return b
}

// with returns the harness with another environment.
func (b *harness) with(env ...string) *harness {
	return &harness{T: b.T, folder: b.folder, env: append(env, "PATH="+b.folder+":"+os.Getenv("PATH"))}
}

// says runs the program, which must succeed and say something.
func (b *harness) says(want string, args ...string) string {
	b.Helper()
	out, says, code := b.run(args...)
	if code != 0 || !strings.Contains(out+says, want) {
		b.Fatalf("%v exits with %d: %s%s, want 0 with %q", args, code, out, says, want)
	}
	return out
}

// refuses runs the program, which must fail with a code, say something and leave the seed file as it is.
func (b *harness) refuses(code int, want string, args ...string) {
	b.Helper()
	before := b.read("seed.age")
	out, says, got := b.run(args...)
	if got != code || !strings.Contains(says, want) {
		b.Errorf("%v exits with %d: %s%s, want %d with %q", args, got, out, says, code, want)
	}
	if b.read("seed.age") != before {
		b.Errorf("%v changed the seed file, want it as it was", args)
	}
}

func (b *harness) read(name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder, name))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// The seed file opens by a plugin's identity and by shares once they are added, and no longer by the passphrase once
// that is removed; the seed stays the same.
func TestTheSeedFileOpensInSeveralWays(t *testing.T) {
	t.Parallel()
	b := sealedHarness(t)
	before := b.says("opens", "seed", "check")
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	recipient := plugin.EncodeRecipient("drill", []byte(key.Recipient().String()))
	b.says("The way device is added to", "seed", "recipients", "add", "device", "--recipient", recipient)
	shares := strings.Split(strings.TrimSpace(b.says("2 of these 3", "seed", "shares", "make")), "\n")
	if len(shares) != 3 {
		t.Fatalf("there are %d shares, want 3", len(shares))
	}
	identity := b.combine(shares[2], shares[0])
	own, err := age.ParseX25519Identity(strings.TrimSpace(identity))
	if err != nil {
		t.Fatalf("the shares give no identity of age: %v", err)
	}
	b.says("recovery", "seed", "recipients", "add", "recovery", "--recipient", own.Recipient().String())
	list := b.says("", "seed", "recipients", "list")
	for _, want := range []string{"passphrase  passphrase", "device      age         age1drill1", "recovery    age"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list is\n%s, want %q", list, want)
		}
	}
	b.write("device", plugin.EncodeIdentity("drill", []byte(key.String())))
	b.write("recovery", identity)
	byDevice, byShares := b.with("BURSAR_IDENTITY_FILE=device"), b.with("BURSAR_IDENTITY_FILE=recovery")
	for way, with := range map[string]*harness{"passphrase": b, "device": byDevice, "recovery": byShares} {
		if got := with.says("The way "+way+" opens it", "seed", "check"); got != before {
			t.Errorf("by %s: %q, want %q", way, got, before)
		}
	}
	byDevice.says("age-plugin-drill: touch the device", "seed", "check")
	b.refuses(1, "would not open with what is given here; nothing was changed", "seed", "recipients", "remove",
		"passphrase")
	byShares.says("is removed from", "seed", "recipients", "remove", "passphrase")
	b.refuses(1, "device: no identity is given; recovery: no identity is given", "seed", "check")
	if got := byDevice.says("opens", "seed", "check"); got != before {
		t.Errorf("after the passphrase is removed: %q, want %q", got, before)
	}
	b.write("unplugged", plugin.EncodeIdentity("drill", []byte("unplugged")))
	b.with("BURSAR_IDENTITY_FILE=unplugged").refuses(1, "age-plugin-drill", "seed", "check")
	b.with("BURSAR_IDENTITY_FILE=device", "AGEDEBUG=plugin").refuses(1, "AGEDEBUG would show", "seed", "check")
	if err := os.Remove(filepath.Join(b.folder, pluginProgram)); err != nil {
		t.Fatal(err)
	}
	byDevice.refuses(1, `"drill" plugin not found`, "seed", "check")
}

// combine gives shares to the program.
func (b *harness) combine(shares ...string) string {
	b.Helper()
	c := exec.CommandContext(b.Context(), program, "seed", "shares", "combine")
	c.Dir, c.Env, c.Stdin = b.folder, []string{"HOME=" + b.folder}, strings.NewReader(strings.Join(shares, "\n"))
	var says bytes.Buffer
	c.Stderr = &says
	out, err := c.Output()
	if err != nil {
		return says.String()
	}
	return string(out)
}

func TestSharesAreRefused(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	shares := strings.Split(strings.TrimSpace(b.says("3 of these 4", "seed", "shares", "make", "--need", "3", "--shares",
		"4")), "\n")
	others := strings.Split(strings.TrimSpace(b.says("2 of these 2", "seed", "shares", "make", "--need", "2", "--shares",
		"2")), "\n")
	for want, given := range map[string][]string{
		"too few shares: 2 of 3": shares[:2],
		"not all of one set":     {shares[0], shares[1], others[0]},
		"a share is there twice": {shares[0], shares[1], shares[1]},
		"line 2: read a share":   {shares[0], shares[1][1:]},
		"none is given":          nil,
	} {
		if says := b.combine(given...); !strings.Contains(says, want) || strings.Contains(says, "AGE-SECRET") {
			t.Errorf("it says %q, want %q", says, want)
		}
	}
	if _, says, code := b.run("seed", "shares", "make", "--need", "1"); code != 2 ||
		!strings.Contains(says, "2 to 16 shares") {
		t.Errorf("one share of three exits with %d: %s, want 2", code, says)
	}
	if entries, err := os.ReadDir(b.folder); err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v, %v, want what it held", entries, err)
	}
}

func TestWaysThatAreRefused(t *testing.T) {
	t.Parallel()
	b := sealedHarness(t, "signer: {tpm: none, token_command: ['true']}")
	b.write("key.pem", "no key")
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"say what the seed file is to open with": {"x"},
		"can't be used together":                 {"x", "--tpm", "--token", "key.pem"},
		"open the TPM":                           {"x", "--tpm"},
		"PCRs are numbers from 0 to 23":          {"x", "--tpm", "--pcrs", "7,x"},
		"must be a public key of RSA":            {"x", "--token", "key.pem"},
		"that is no recipient of age":            {"x", "--recipient", "age1x"},
		"named by 1 to 32":                       {"X", "--recipient", key.Recipient().String()},
	} {
		code := 1
		if strings.HasPrefix(want, "say") || strings.HasPrefix(want, "can't") || strings.HasPrefix(want, "PCRs") {
			code = 2
		}
		b.refuses(code, want, append([]string{"seed", "recipients", "add"}, args...)...)
	}
	b.refuses(1, "no such way", "seed", "recipients", "remove", "x")
	b.refuses(1, "must keep a passphrase or a recipient", "seed", "recipients", "remove", "passphrase")
}

// Debian's age 1.1.1 opens the parts of our file, as signer.md describes it, and makes a file that we open.
func TestAnotherAgeReadsAndWritesTheSeedFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs age")
	}
	other, err := exec.LookPath("age")
	if err != nil {
		t.Fatal("age is not installed: go run ./test -install age")
	}
	b := sealedHarness(t)
	before := b.says("opens", "seed", "check")
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	b.write("identity", key.String()+"\n")
	b.says("added", "seed", "recipients", "add", "key", "--recipient", key.Recipient().String())
	var parts struct {
		Ways []signer.Way `json:"ways"`
		Seed string       `json:"seed"`
	}
	if err := json.Unmarshal([]byte(b.read("seed.age")), &parts); err != nil || len(parts.Ways) != 2 {
		t.Fatalf("the file has %d ways, %v, want 2", len(parts.Ways), err)
	}
	run := func(input string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), other, args...)
		c.Dir, c.Stdin = b.folder, strings.NewReader(input)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("age %v: %v", args, err)
		}
		return string(out)
	}
	b.write("key", run(parts.Ways[1].Sealed, "-d", "-i", "identity"))
	seed := run(parts.Seed, "-d", "-i", "key")
	if !strings.Contains(seed, words) {
		t.Errorf("age opens the seed into %d bytes, want one with the words", len(seed))
	}
	b.write("seed.age", run(seed, "-a", "-r", key.Recipient().String()))
	if got := b.with("BURSAR_IDENTITY_FILE=identity").says("opens", "seed", "check"); got != before {
		t.Errorf("a file that age wrote: %q, want %q", got, before)
	}
}
