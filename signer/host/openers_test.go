package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// withIdentity adds an identity to a seed file, and returns it.
func withIdentity(t *testing.T, cfg config.Config, passphrase string) string {
	t.Helper()
	env := map[string]string{"BURSAR_PASSPHRASE_FILE": file(t, cfg.SeedFile+".p", passphrase, 0o600)}
	open, err := OpenFile(cfg, variables(env), nil)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	next, err := open.Sealed.Add(open.Opened, signer.Way{Name: "key", Kind: signer.KindAge},
		signer.ToRecipient(identity.Recipient()))
	if err != nil {
		t.Fatal(err)
	}
	content, err := next.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := signer.ReplaceSeedFile(cfg.SeedFile, open.Content, content); err != nil {
		t.Fatal(err)
	}
	return identity.String()
}

func TestWhereAnIdentityMayBe(t *testing.T) {
	t.Parallel()
	cfg := seeded(t, config.Testnet, strong, 1)
	key := withIdentity(t, cfg, strong)
	folder := t.TempDir()
	closed := file(t, filepath.Join(folder, "closed"), "# a comment\n\n"+key+"\n", 0o600)
	open := file(t, filepath.Join(folder, "open"), key, 0o640)
	bad := file(t, filepath.Join(folder, "bad"), key+"x", 0o600)
	none := file(t, filepath.Join(folder, "none"), "# nothing\n", 0o600)
	long := file(t, filepath.Join(folder, "long"), strings.Repeat("#\n", maxIdentities), 0o600)
	plugin := file(t, filepath.Join(folder, "plugin"), "AGE-PLUGIN-NOSUCHTHING-1QQPQYQSZQGPQYQSZQGPQYQSZQGZL98PV", 0o600)
	file(t, filepath.Join(folder, "bursar-identity"), key, 0o440)
	for name, test := range map[string]struct {
		env  map[string]string
		want error
		says string
	}{
		"a file":         {map[string]string{"BURSAR_IDENTITY_FILE": closed}, nil, ""},
		"others read it": {map[string]string{"BURSAR_IDENTITY_FILE": open}, ErrReadable, "chmod 600 " + open},
		"a credential":   {map[string]string{"CREDENTIALS_DIRECTORY": folder}, nil, ""},
		"other credentials": {map[string]string{"CREDENTIALS_DIRECTORY": t.TempDir()}, signer.ErrNothingOpens,
			"no identity is given"},
		"no key":         {map[string]string{"BURSAR_IDENTITY_FILE": bad}, ErrIdentities, bad},
		"nothing":        {map[string]string{"BURSAR_IDENTITY_FILE": none}, ErrIdentities, none},
		"too long":       {map[string]string{"BURSAR_IDENTITY_FILE": long}, ErrIdentities, long},
		"no file":        {map[string]string{"BURSAR_IDENTITY_FILE": closed + "x"}, os.ErrNotExist, ""},
		"a plugin shown": {map[string]string{"BURSAR_IDENTITY_FILE": plugin, "AGEDEBUG": "plugin"}, nil, ""},
		"none":           {nil, signer.ErrNothingOpens, "no passphrase is given"},
	} {
		got, err := OpenFile(cfg, variables(test.env), nil)
		if name == "a plugin shown" { // whether its checksum is right or not, it must not open
			if err == nil || strings.Contains(err.Error(), "QQPQYQSZ") {
				t.Errorf("%s: %v, want an error without the identity", name, err)
			}
			continue
		}
		if !errors.Is(err, test.want) || err != nil && (!strings.Contains(err.Error(), test.says) ||
			strings.Contains(err.Error(), key)) {
			t.Errorf("%s: %v, want %v with %q", name, err, test.want, test.says)
		}
		if err == nil && got.Opened.By != "key" {
			t.Errorf("%s: opened by %s, want key", name, got.Opened.By)
		}
	}
}

// A cheap passphrase in a container is refused on mainnet as in a file of its own.
func TestACheapWayIsRefusedOnMainnet(t *testing.T) {
	t.Parallel()
	cfg := seeded(t, config.Testnet, strong, 1)
	key := withIdentity(t, cfg, strong)
	cfg.Network = config.Mainnet
	env := map[string]string{"BURSAR_IDENTITY_FILE": file(t, cfg.SeedFile+".key", key, 0o600)}
	if _, err := OpenFile(cfg, variables(env), nil); !errors.Is(err, ErrSandboxSeed) {
		t.Errorf("a file that a cheap passphrase opens: %v, want %v", err, ErrSandboxSeed)
	}
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Recipient(identity.Recipient().String(), variables(nil), nil); err != nil {
		t.Errorf("a recipient: %v", err)
	}
	for _, text := range []string{"", "age1", identity.String(), identity.Recipient().String() + "x"} {
		if _, err := Recipient(text, variables(nil), nil); !errors.Is(err, ErrRecipient) ||
			strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%.10q: %v, want %v", text, err, ErrRecipient)
		}
	}
}
