package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/remote"
)

// meetTime bounds how long a start waits for a remote signer that it can do without.
const meetTime = 5 * time.Second

// openWatchOnly opens the watch-only file of a configuration, and returns its remote signer, which need not be
// reachable, or absentSigner. A remote signer with other keys is an error.
func openWatchOnly(ctx context.Context, cfg config.Config, log *slog.Logger) (Keys, outgoing.Signer, error) {
	keys, err := readWatchOnly(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Signer.Address == "" {
		log.Warn("no signer is configured: withdrawals, refunds and sweeps wait", "watch_only", cfg.Signer.WatchOnly)
		return keys, absentSigner{}, nil
	}
	client, err := remote.Dial(host.Address(cfg))
	if err == nil {
		err = client.Expect(keys.LogKey())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reach the signer: %w", err)
	}
	a := &remoteSigner{WatchOnly: keys, client: client}
	a.unmet.Store(true)
	first, cancel := context.WithTimeout(ctx, meetTime)
	defer cancel()
	if err := a.Meet(first); errors.Is(err, remote.ErrUnavailable) {
		log.Warn("the signer is unreachable: withdrawals, refunds and sweeps wait", "address", cfg.Signer.Address,
			"error", err)
	} else if err != nil {
		client.Close()
		return nil, nil, err
	}
	return a, a, nil
}

func readWatchOnly(cfg config.Config, log *slog.Logger) (*signer.WatchOnly, error) {
	path := cfg.Signer.WatchOnly
	if err := host.OwnersOnly(cfg.Network, log, path, host.WatchOnlyMarks(cfg)); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the watch-only file: %w", err)
	}
	defer file.Close()
	keys, err := signer.ReadWatchOnly(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: make it again with `bursar seed export-watch-only`", path, err)
	}
	if keys.Network() != host.Network(cfg.Network) {
		return nil, fmt.Errorf("the keys in %s are for %s, but the configured network is %s", path, keys.Network(),
			cfg.Network)
	}
	return keys, nil
}

// keysOfCommands returns the keys in the watch-only file beside the seed file; nil where there is none. The database is
// compared with them as with any others, so that a file of another seed is refused. One that is of an earlier epoch
// than the seed is an error: it has another hot wallet.
func keysOfCommands(cfg config.Config, log *slog.Logger) (Keys, error) {
	cfg.Signer.WatchOnly = host.CommandsFile(cfg)
	if _, err := os.Lstat(cfg.Signer.WatchOnly); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	keys, err := readWatchOnly(cfg, log)
	if err != nil {
		return nil, err
	}
	begun, err := host.NotedEpochs(cfg)
	if err == nil && int(keys.Epoch()) != len(begun) {
		err = fmt.Errorf("%s is of epoch %d of the seed, and %d has begun: make it again with `bursar seed "+
			"export-watch-only`, or remove it", cfg.Signer.WatchOnly, keys.Epoch(), len(begun))
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// Meet compares the keys of the remote signer with those of this service, once: a service that knows its keys from a
// file starts without the signer. It compares the families of the file. The error is remote.ErrUnavailable while the
// signer is unreachable.
func (a *remoteSigner) Meet(ctx context.Context) error {
	if !a.unmet.Load() {
		return nil
	}
	exported, err := a.client.Hello(ctx)
	if err != nil {
		return err
	}
	known := exported.Digests() // a signer that is newer than the file knows more families
	maps.DeleteFunc(known, func(family bursar.Family, _ string) bool { return a.Digests()[family] == "" })
	if exported.Public.Fingerprint != a.Fingerprint() || exported.Public.Network != a.Network() ||
		!maps.Equal(known, a.Digests()) {
		return errors.New("the signer has other keys than signer.watch_only: make the file again with " +
			"`bursar seed export-watch-only` on the signer's machine")
	}
	if exported.Public.Epoch != a.Epoch() {
		return fmt.Errorf("the signer is in epoch %d, signer.watch_only in %d: make the file again with `bursar seed "+
			"export-watch-only` on the signer's machine, and start this service again", exported.Public.Epoch, a.Epoch())
	}
	a.unmet.Store(false)
	return nil
}
