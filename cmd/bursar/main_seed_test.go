package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer"
)

// known is the first test vector of BIP 39 with 12 words, and the account key that BIP 84 publishes for it.
const (
	known     = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	knownXpub = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
)

// encryptsAtFullStrength marks a test whose seed files are as hard to open as those of an operator, which takes most of
// a second of processor time each.
func encryptsAtFullStrength(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what derives several keys from passphrases at full strength")
	}
}

func TestANewSeedComesBackFromItsWords(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	d := newHarness(t)
	made := d.run("", "seed", "new")
	words := strings.Fields(made.out)
	if made.code != 0 || len(words) != 24 || strings.Count(made.out, "\n") != 1 ||
		!strings.Contains(made.err, "shown only once") {
		t.Fatalf("seed new exits with %d after %d words and says %q, want 0 and 24 of them and 1 and %q in it", made.code,
			len(words), made.err, "shown only once")
	}
	info, err := os.Stat(filepath.Join(d.dir, "seed.age"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the seed file is %v, %v, want 0o600", info, err)
	}
	first := parse[signer.PublicKeys](d, "seed", "export-public")
	other := newHarness(t)
	if o := other.run(strings.ToUpper(strings.Join(words, "\n")), "seed", "restore"); o.code != 0 || o.out != "" ||
		!strings.Contains(o.err, first.Fingerprint) {
		t.Fatalf("seed restore gives %+v, want 0 and %q and %v in it", o, "", first.Fingerprint)
	}
	second := parse[signer.PublicKeys](other, "seed", "export-public")
	if first.Fingerprint != second.Fingerprint || len(first.Accounts) == 0 ||
		first.Accounts["evm"] != second.Accounts["evm"] {
		t.Errorf("%+v became %+v, want %v and some and %v", first, second, second.Fingerprint, second.Accounts["evm"])
	}
}

func TestASeedIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	before, err := os.ReadFile(filepath.Join(d.dir, "seed.age"))
	if err != nil {
		t.Fatal(err)
	}
	d.fails(exitFailed, "exists and is not overwritten", "seed", "new")
	d.fails(exitFailed, "exists and is not overwritten", "seed", "restore")
	if after, err := os.ReadFile(filepath.Join(d.dir, "seed.age")); err != nil || string(after) != string(before) {
		t.Errorf("the seed file has changed, %v, want %v", err, string(before))
	}
}

func TestPublicKeysAreThoseOfTheStandard(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	d := newHarness(t)
	d.env = append(d.env, "BURSAR_NETWORK=mainnet")
	d.fails(exitUsage, "on mainnet the passphrase may not be in BURSAR_PASSPHRASE", "seed", "new")
	d.env = []string{"BURSAR_NETWORK=mainnet", "BURSAR_PASSPHRASE_FILE=" + filepath.Join(d.dir, "passphrase")}
	d.writeFile("passphrase", passphrase)
	d.fails(exitFailed, "the passphrase is weak", "seed", "new")
	d.writeFile("passphrase", "correct horse battery staple")
	if o := d.run(known+"\n", "seed", "restore"); o.code != 0 {
		t.Fatal(o.err)
	}
	if got := parse[signer.PublicKeys](d, "seed", "export-public").Accounts["bitcoin"]; got != knownXpub {
		t.Errorf("bitcoin's account key is %s, want %v", got, knownXpub)
	}
}

// The database holds the hashes of keys, and who was paid what.
func TestADatabaseIsPrivate(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.ok("migrate")
	info, err := os.Stat(filepath.Join(d.dir, "bursar.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the new database is %v, %v, want 0o600", info, err)
	}
}

func (d *harness) writeFile(name, text string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
}

func TestInvalidMnemonics(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for _, test := range []struct{ words, want string }{
		{"", "a mnemonic has 12, 15, 18, 21 or 24 words"},
		{strings.Replace(known, "about", "abandon", 1), "checksum does not match"},
		{strings.Replace(known, "about", "hunter2", 1), "word 12 of 12: the word is not in the English list"},
		{strings.Repeat("abandon ", 2000), "a mnemonic has 12, 15, 18, 21 or 24 words"},
	} {
		o := d.run(test.words, "seed", "restore")
		if o.code != exitFailed || !strings.Contains(o.err, test.want) || strings.Contains(o.err, "hunter2") || o.out != "" {
			t.Errorf("%.30q gives %+v, want %v and %v in it and no %q and %q", test.words, o, exitFailed, test.want, "hunter2",
				"")
		}
	}
	if _, err := os.Stat(filepath.Join(d.dir, "seed.age")); err == nil {
		t.Error("a seed file was written, want an error")
	}
}

func TestPassphrases(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	file := filepath.Join(d.dir, "passphrase")
	if err := os.WriteFile(file, []byte(passphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = []string{"BURSAR_PASSPHRASE_FILE=" + file}
	d.ok("seed", "export-public")
	d.env = append(d.env, "BURSAR_PASSPHRASE=x")
	d.fails(exitUsage, "are both set", "seed", "export-public")
	d.env = nil
	d.fails(exitUsage, "no passphrase is given: set BURSAR_PASSPHRASE_FILE", "account", "create", "--name", "x")
	d.env = []string{"BURSAR_PASSPHRASE=wrong"}
	d.fails(exitFailed, "the passphrase does not open the seed file", "account", "create", "--name", "x")
	d.fails(exitFailed, "the passphrase does not open the seed file", "serve")
	empty := newHarness(t)
	empty.fails(exitFailed, "create one with `bursar seed new`", "account", "create", "--name", "x")
	if _, err := os.Stat(filepath.Join(empty.dir, "bursar.db")); err == nil {
		t.Error("a database was made without a seed")
	}
}
