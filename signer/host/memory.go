package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// OpenMemory opens the signer's memory. Where there is none it creates one: on mainnet a cold one, because nobody knows
// what was signed with the seed before.
func OpenMemory(ctx context.Context, cfg config.Config, fingerprint string, log *slog.Logger) (*memory.File, error) {
	path := StateFile(cfg)
	file, err := memory.Open(ctx, path, fingerprint)
	if errors.Is(err, memory.ErrMissing) {
		noted, unreadable := NotedPolicy(cfg)
		if unreadable != nil {
			return nil, unreadable
		}
		begin := memory.Init{Fingerprint: fingerprint, At: time.Now(),
			Cold: cfg.Network == config.Mainnet || noted.Version > 0}
		begin.New = !begin.Cold // with test money, nobody loses by believing it
		if err := memory.Create(ctx, path, begin); err != nil {
			return nil, err
		}
		log.Debug("signer state created", "file", path, "cold", begin.Cold)
		if cfg.Signer.CounterRequired {
			if err := BindCounter(ctx, cfg, begin, "the signer", "the state was created"); err != nil {
				return nil, err
			}
		}
		file, err = memory.Open(ctx, path, fingerprint)
	}
	if errors.Is(err, memory.ErrLocked) {
		return nil, fmt.Errorf("%w: run one signer for all, with signer.address, or give this one a seed file or "+
			"signer.state of its own", err)
	}
	if err != nil {
		return nil, err
	}
	if err := guard(ctx, cfg, file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := errors.Join(memory.Agree(ctx, file), AgreePolicy(ctx, cfg, file, log),
		AgreeOrderKeys(ctx, cfg, file, log), logMemory(ctx, file, log)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// logMemory logs what keeps the signer from signing.
func logMemory(ctx context.Context, keeper memory.Keeper, log *slog.Logger) error {
	return keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		if since := state.ColdSince; !since.IsZero() && time.Since(since) < 7*24*time.Hour {
			log.Warn("cold start: what was signed before is not known, and each window counts as used up until it has passed; "+
				"`bursar signer begin-again --unused` ends that, see docs/operations/signer.md",
				"since", since, "hourly_limits_from", since.Add(time.Hour), "daily_limits_from", since.Add(24*time.Hour),
				"weekly_limits_from", since.Add(7*24*time.Hour))
		}
		frozen, err := tx.Freezes(ctx)
		for _, f := range frozen {
			log.Warn("signer frozen", "since", f.At, "by", f.Who, "reason", f.Why)
		}
		return err
	})
}

// WarnOfLimits logs the currencies that cannot leave because they have no limit.
func WarnOfLimits(cfg config.Config, log *slog.Logger) {
	for _, currency := range cfg.Unlimited() {
		log.Warn("currency cannot be paid out: it has no limit, and on mainnet the signer pays nothing without one; "+
			"`bursar signer policy` prints limits", "currency", currency.Code)
	}
}
