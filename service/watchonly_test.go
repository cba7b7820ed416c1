package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func seedOf(t *testing.T, n byte) *signer.Keys {
	t.Helper()
	keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n}, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// watchOnlyConfig is a configuration with a watch-only file of a seed, and with the address of a signer.
func watchOnlyConfig(t *testing.T, keys *signer.Keys) config.Config {
	t.Helper()
	folder, err := os.MkdirTemp("", "bursar") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	text, err := keys.ExportWatchOnly(2)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Network: config.Regtest}
	cfg.Signer.WatchOnly = filepath.Join(folder, "watch.json")
	cfg.Signer.Address = "unix:" + filepath.Join(folder, "s")
	if err := os.WriteFile(cfg.Signer.WatchOnly, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// answering runs something that greets as the signer of a seed does, until the test ends.
func answering(t *testing.T, cfg config.Config, keys *signer.Keys) {
	t.Helper()
	signs, err := signer.New(keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	exported, err := keys.Export()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var listener net.Listener
	if listener, err = (remote.Address{URL: cfg.Signer.Address}).Listen(ctx); err != nil {
		t.Fatal(err)
	}
	server := remote.Server{Signer: signs, KeyExport: exported, Log: slog.New(slog.DiscardHandler)}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A service that knows its keys from a file starts without its signer, and takes no other signer than its own later.
func TestAWatchOnlyServiceMeetsItsOwnSignerAlone(t *testing.T) {
	t.Parallel()
	own := seedOf(t, 1)
	for name, answers := range map[string]struct {
		seed byte
		want string
	}{"its own": {1, ""}, "another": {2, "another signer answers"}} {
		cfg := watchOnlyConfig(t, own)
		keys, signs, err := openWatchOnly(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("without its signer it does not start: %v, want it to", err)
		}
		if signs == nil || keys.Fingerprint() != own.Fingerprint() {
			t.Fatalf("the fingerprint is %s, want %s", keys.Fingerprint(), own.Fingerprint())
		}
		a := keys.(*remoteSigner)
		if err := a.Meet(t.Context()); !errors.Is(err, remote.ErrUnavailable) {
			t.Errorf("without a signer: got %v, want %v", err, remote.ErrUnavailable)
		}
		answering(t, cfg, seedOf(t, answers.seed))
		err = a.Meet(t.Context())
		if err == nil != (answers.want == "") || err != nil && !strings.Contains(err.Error(), answers.want) {
			t.Errorf("%s signer: got %v, want %q", name, err, answers.want)
		}
		_, _, err = openWatchOnly(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err == nil != (answers.want == "") {
			t.Errorf("starting beside %s signer: got %v, want %q", name, err, answers.want)
		}
	}
}

// A signer that is newer than the file knows a family more, and signs for the others. Each family of the file must be
// the signer's.
func TestAWatchOnlyServiceComparesTheFamiliesOfItsFile(t *testing.T) {
	t.Parallel()
	own := seedOf(t, 1)
	cfg := watchOnlyConfig(t, own)
	answering(t, cfg, own)
	other, err := seedOf(t, 2).Export()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(e signer.KeyExport)
		met    bool
	}{
		"the same":           {func(signer.KeyExport) {}, true},
		"without a hot key":  {func(e signer.KeyExport) { delete(e.Hot, chain.FamilySolana) }, true},
		"without an account": {func(e signer.KeyExport) { delete(e.Public.Accounts, chain.FamilyTron) }, true},
		"with another hot key": {func(e signer.KeyExport) { e.Hot[chain.FamilySolana] = other.Hot[chain.FamilySolana] },
			false},
		"with a hot key more":   {func(e signer.KeyExport) { e.Hot["unknown"] = other.Hot[chain.FamilySolana] }, false},
		"with another's family": {func(e signer.KeyExport) { maps.Copy(e.Public.Accounts, other.Public.Accounts) }, false},
	} {
		exported, err := own.Export()
		if err != nil {
			t.Fatal(err)
		}
		test.change(exported)
		keys, err := signer.FromKeyExport(exported)
		if err != nil {
			t.Fatal(err)
		}
		client, err := remote.Dial(remote.Address{URL: cfg.Signer.Address})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		a := &remoteSigner{WatchOnly: keys, client: client}
		a.unmet.Store(true)
		if err := a.Meet(t.Context()); (err == nil) != test.met || a.unmet.Load() == test.met {
			t.Errorf("a file %s: got %v, want it met: %v", name, err, test.met)
		}
	}
}

// Without an address there is no signer, which is no reason not to receive.
func TestAWatchOnlyServiceNeedsNoSigner(t *testing.T) {
	t.Parallel()
	cfg := watchOnlyConfig(t, seedOf(t, 1))
	cfg.Signer.Address = ""
	_, signs, err := openWatchOnly(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil || signs != (absentSigner{}) {
		t.Errorf("got %v, %v, want no signer and no error", signs, err)
	}
}

// forgedKeys are keys of a seed in which somebody put another account.
type forgedKeys struct {
	Keys
	family bursar.Family
}

func (k forgedKeys) Digests() map[bursar.Family]string {
	digests := maps.Clone(k.Keys.Digests())
	digests[k.family] = strings.Repeat("0", 64)
	return digests
}

// The attack: anyone who has the service's machine exports public keys with an account of their own among them, under
// the fingerprint of the seed. The database knows each family's keys.
func TestADatabaseRefusesOtherPublicKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		own, cfg := seedOf(t, 1), config.Config{Network: config.Regtest}
		if err := pin(t.Context(), db, cfg, own); err != nil {
			t.Fatal(err)
		}
		for family := range own.Digests() {
			if err := pin(t.Context(), db, cfg, forgedKeys{own, family}); !errors.Is(err, store.ErrMismatch) {
				t.Errorf("other keys of %s: got %v, want %v", family, err, store.ErrMismatch)
			}
		}
		if err := pin(t.Context(), db, cfg, own); err != nil {
			t.Errorf("its own keys: got %v, want no error", err)
		}
	})
}
