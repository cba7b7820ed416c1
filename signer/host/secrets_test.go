package host

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

const strong = "correct horse battery staple"

// words is the first test vector of BIP 39 with 12 words.
const words = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

// file writes a file with a mode, whatever the umask is.
func file(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

// seeded returns a configuration with a seed file.
func seeded(t *testing.T, network config.Network, passphrase string, factor int) config.Config {
	t.Helper()
	mnemonic, err := signer.ParseMnemonic(words)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := signer.NewPassphrase(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := signer.SealWith(mnemonic, secret, factor)
	if err != nil {
		t.Fatal(err)
	}
	return config.Config{Network: network,
		SeedFile: file(t, filepath.Join(t.TempDir(), "seed.age"), string(sealed), 0o600)}
}

// variables returns a getenv.
func variables(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

func TestWhereAPassphraseMayBe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	closed := file(t, filepath.Join(folder, "closed"), strong, 0o600)
	open := file(t, filepath.Join(folder, "open"), strong, 0o640)
	file(t, filepath.Join(folder, "bursar-passphrase"), strong, 0o440)
	for _, test := range []struct {
		name    string
		network config.Network
		env     map[string]string
		want    error
	}{
		{"a variable on mainnet", config.Mainnet, map[string]string{"BURSAR_PASSPHRASE": strong}, ErrEnvironment},
		{"a variable on testnet", config.Testnet, map[string]string{"BURSAR_PASSPHRASE": strong}, nil},
		{"two", config.Testnet, map[string]string{"BURSAR_PASSPHRASE": strong, "BURSAR_PASSPHRASE_FILE": closed},
			signer.ErrTwoPassphrases},
		{"a file", config.Mainnet, map[string]string{"BURSAR_PASSPHRASE_FILE": closed}, nil},
		{"a file that others read", config.Mainnet, map[string]string{"BURSAR_PASSPHRASE_FILE": open}, ErrReadable},
		{"the same on testnet", config.Testnet, map[string]string{"BURSAR_PASSPHRASE_FILE": open}, ErrReadable},
		{"the same on regtest", config.Regtest, map[string]string{"BURSAR_PASSPHRASE_FILE": open}, nil},
		{"a credential", config.Mainnet, map[string]string{"CREDENTIALS_DIRECTORY": folder}, nil},
		{"other credentials", config.Mainnet, map[string]string{"CREDENTIALS_DIRECTORY": t.TempDir()},
			signer.ErrNoPassphrase},
		{"none", config.Mainnet, nil, signer.ErrNoPassphrase},
	} {
		_, err := Passphrase(config.Config{Network: test.network}, variables(test.env))
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if test.want == ErrReadable && !strings.Contains(err.Error(), "chmod 600 "+open) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAWeakPassphraseSealsNoSeedOnMainnet(t *testing.T) {
	t.Parallel()
	weak := map[string]string{"BURSAR_PASSPHRASE_FILE": file(t, filepath.Join(t.TempDir(), "weak"), "short", 0o600)}
	if _, _, err := NewPassphrase(config.Config{Network: config.Mainnet}, variables(weak)); !errors.Is(err,
		signer.ErrWeakPassphrase) {
		t.Errorf("on mainnet: %v, want %v", err, signer.ErrWeakPassphrase)
	}
	for _, network := range []config.Network{config.Testnet, config.Regtest} {
		if _, warns, err := NewPassphrase(config.Config{Network: network}, variables(weak)); !warns || err != nil {
			t.Errorf("on %s: %v, %v", network, warns, err)
		}
	}
	good := map[string]string{"BURSAR_PASSPHRASE_FILE": file(t, filepath.Join(t.TempDir(), "good"), strong, 0o600)}
	if _, warns, err := NewPassphrase(config.Config{Network: config.Mainnet}, variables(good)); warns || err != nil {
		t.Errorf("a strong one: %v, %v", warns, err)
	}
}

// What everybody can open does not open where it may be about money.
func TestASandboxsSeedIsRefusedOnMainnet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		network    config.Network
		passphrase string
		factor     int
		mode       os.FileMode
		want       error
		says       string
	}{
		{config.Mainnet, "sandbox", 17, 0o600, ErrSandboxSeed, "its passphrase is the sandbox's"},
		{config.Mainnet, strong, 8, 0o600, ErrSandboxSeed,
			"its work factor is 8, below 17; move it away and run `bursar seed"},
		{config.Mainnet, strong, 8, 0o644, ErrReadable, "has mode 0644"},
		{config.Testnet, strong, 8, 0o604, ErrReadable, "chmod 600"},
		{config.Testnet, "sandbox", 8, 0o600, nil, ""},
		{config.Regtest, "sandbox", 8, 0o644, nil, ""},
	} {
		cfg := seeded(t, test.network, test.passphrase, test.factor)
		if err := os.Chmod(cfg.SeedFile, test.mode); err != nil {
			t.Fatal(err)
		}
		phrase := file(t, cfg.SeedFile+".passphrase", test.passphrase, 0o600)
		keys, err := OpenKeys(cfg, variables(map[string]string{"BURSAR_PASSPHRASE_FILE": phrase}))
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v", test, err)
		}
		if err == nil {
			keys.Wipe()
		}
	}
}

func TestFilesOfTheSignerArePrivate(t *testing.T) {
	t.Parallel()
	cfg := seeded(t, config.Mainnet, strong, 8)
	log := slog.New(slog.DiscardHandler)
	state := file(t, StateFile(cfg), "", 0o600)
	open := file(t, filepath.Join(t.TempDir(), "bursar.yaml"), "", 0o644)
	if err := Private(cfg, log); err != nil {
		t.Errorf("private files: %v", err)
	}
	if err := Private(cfg, log, open); !errors.Is(err, ErrReadable) || !strings.Contains(err.Error(), open) {
		t.Errorf("a configuration that others read: %v, want %v and %v in it", err, ErrReadable, open)
	}
	file(t, state, "", 0o660)
	if err := Private(cfg, log); !errors.Is(err, ErrReadable) || !strings.Contains(err.Error(), "chmod 600 "+state) {
		t.Errorf("a state that others write: %v, want %v and %v in it", err, ErrReadable, "chmod 600 "+state)
	}
	cfg.Network = config.Regtest
	var text bytes.Buffer
	if err := Private(cfg, slog.New(slog.NewTextHandler(&text, nil)), open); err != nil ||
		strings.Count(text.String(), "not private") != 2 {
		t.Errorf("on regtest: %v, %s, want 2", err, &text)
	}
}
