package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar/config"
)

// errNoLock is why the memory could not be locked where the limit is too low.
var errNoLock = errors.New("the limit of locked memory is too low: set LimitMEMLOCK=infinity in the systemd unit, " +
	"--ulimit memlock=-1 for a container, or `ulimit -l unlimited`")

// Protect keeps the memory of this process, which is about to hold the seed, from others: no process of the same user
// may read or trace it, it leaves no core, and it is not written to swap. The last needs a right that a process may
// lack: that is an error on mainnet, and a warning elsewhere, unless signer.lock_memory says otherwise.
func Protect(cfg config.Config, log *slog.Logger) error {
	if err := Shield(); err != nil {
		return err
	}
	policy := cfg.Signer.LockMemory
	if policy == config.LockOff {
		return nil
	}
	err := lockMemory()
	if err == nil {
		return nil
	}
	const rest = "or signer.lock_memory: preferred if this machine has no swap"
	if policy == config.LockRequired || policy == "" && cfg.Network == config.Mainnet {
		return fmt.Errorf("the seed could be written to swap: %w; %s", err, rest)
	}
	level := slog.LevelWarn
	if cfg.Network == config.Regtest {
		level = slog.LevelDebug
	}
	log.Log(context.Background(), level, "memory not locked: the seed could be written to swap", "error", err)
	return nil
}
