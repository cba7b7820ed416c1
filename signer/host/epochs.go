package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// Errors of epochs. Each says what to do.
var (
	ErrEpochMissing = errors.New("the seed of an epoch that has begun is missing: put its file back from the backup, or " +
		"`bursar seed restore --epoch N` with its words")
	ErrEpochOther = errors.New("the seed of an epoch is not the one with which it began")
	ErrEpochOrder = errors.New("epochs begin one after another, and none goes back")
	ErrEpochRule  = errors.New("the policy that people signed does not name the epoch and its seed: sign and apply a " +
		"version with that line first")
	ErrEpochForged = errors.New("the file that says which epochs have begun is not signed by this seed: somebody else " +
		"wrote it, or an earlier release did and the state that knew them is lost; put both back from the backup, or " +
		"remove the file and `bursar signer begin-epoch` again")
)

// Epoch numbers the seeds of an instance.
type Epoch = chain.Epoch

// MaxEpoch is the last.
const MaxEpoch = chain.MaxEpoch

// SeedFileOf returns the configuration as if the seed of an epoch were the only one. That of epoch 0 is seed_file, the
// others are beside it.
func SeedFileOf(cfg config.Config, e chain.Epoch) config.Config {
	if e > 0 {
		cfg.SeedFile = fmt.Sprintf("%s.epoch-%d", cfg.SeedFile, e)
	}
	return cfg
}

// NewestSeed returns the newest epoch that has a seed file; 0 where there is only the first.
func NewestSeed(cfg config.Config) (newest chain.Epoch, err error) {
	for e := chain.Epoch(1); e <= chain.MaxEpoch; e++ {
		_, err := os.Lstat(SeedFileOf(cfg, e).SeedFile)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("look for the seeds of epochs: %w", err)
		}
		newest = e
	}
	return newest, nil
}

// KeysOfSeeds returns the keys of the seeds of the epochs, each of 64 bytes, in the epoch that is noted beside the
// seed and signed by the first of them. What an earlier release noted, unsigned, begins nothing before AgreeEpochs has
// found it in the state. It keeps no reference to the seeds.
func KeysOfSeeds(cfg config.Config, seeds []byte) (*signer.Keys, error) {
	var keys *signer.Keys
	for seed := range slices.Chunk(seeds, SeedBytes) {
		next, err := signer.KeysFromSeed(seed, Network(cfg.Network))
		if err != nil {
			return nil, err
		}
		if keys == nil {
			keys = next
		} else if err := keys.Add(next); err != nil {
			return nil, err
		}
	}
	note, err := readEpochs(cfg)
	if err != nil {
		return nil, err
	}
	signed, err := note.signed(keys)
	if err != nil || !signed {
		return keys, err
	}
	return keys, agree(keys, note.Epochs)
}

// agree begins the newest epoch, once its seeds are those with which they began. An epoch is one of the seed, whatever
// network the command that began it was given: the policy that people signed was asked in any case.
func agree(keys *signer.Keys, begun []memory.Epoch) error {
	for _, e := range begun {
		fingerprint, err := keys.FingerprintOf(chain.Epoch(e.Number))
		if errors.Is(err, signer.ErrNoEpoch) {
			return fmt.Errorf("epoch %d: %w", e.Number, ErrEpochMissing)
		}
		if err != nil {
			return err
		}
		if fingerprint != e.Fingerprint {
			return fmt.Errorf("epoch %d: %w: its fingerprint is %s, not %s", e.Number, ErrEpochOther, fingerprint,
				e.Fingerprint)
		}
	}
	return keys.Begin(chain.Epoch(len(begun)))
}

// names reports whether the policy that people signed is of an epoch with its seed.
func names(policy roster.Policy, e memory.Epoch) bool {
	return policy.Epoch.Number == int64(e.Number) && policy.Epoch.Fingerprint == e.Fingerprint
}

// AgreeEpochs makes the state, the file beside the seed and the keys know the same epochs. It is called before the keys
// are used.
//
// The attack: an intruder on the signer's machine removes the state or puts an older one back, and money goes to the
// hot wallet of a seed that was given up. Or they write a file that says that an epoch of a seed of their own has
// begun: the seed must have signed it, and where people signed a policy that is in force, that must name the epoch. A
// signature is asked for whatever there is of a policy: who writes beside the seed can make it seem lost too.
func AgreeEpochs(
	ctx context.Context, cfg config.Config, keeper memory.Keeper, keys *signer.Keys, log *slog.Logger,
) error {
	note, err := readEpochs(cfg)
	if err != nil {
		return err
	}
	signed, err := note.signed(keys)
	if err != nil {
		return fmt.Errorf("compare the epochs with %s: %w", EpochsFile(cfg), err)
	}
	noted := note.Epochs
	var begun []memory.Epoch
	err = keeper.Do(ctx, func(tx memory.Tx) (err error) {
		if begun, err = tx.Epochs(ctx); err != nil || len(begun) >= len(noted) {
			return err
		}
		if !signed {
			return ErrEpochForged
		}
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		policy, found, err := people.InForce(ctx, tx, time.Now())
		switch newest := noted[len(noted)-1]; {
		case errors.Is(err, people.ErrLost): // with the state, as it seems; nothing is signed until people apply it again
		case err != nil:
			return err
		case found && !names(policy, newest):
			return fmt.Errorf("%w: %s says that epoch %d has begun", ErrEpochRule, EpochsFile(cfg), newest.Number)
		}
		for _, e := range noted[len(begun):] {
			if err := addEpoch(ctx, tx, e, state.HighWater, "found beside the seed", ""); err != nil {
				return err
			}
		}
		begun = noted
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare the epochs with %s: %w", EpochsFile(cfg), err)
	}
	if len(begun) > len(noted) || !signed {
		if err := noteEpochs(cfg, keys, begun); err != nil {
			return err
		}
	}
	if err := agree(keys, begun); err != nil {
		return err
	}
	if newest := keys.Newest(); newest > keys.Epoch() {
		log.Warn("the seed of the next epoch is ready, and has not begun; `bursar signer begin-epoch` begins it",
			"in_force", keys.Epoch(), "ready", newest)
	}
	return nil
}

func addEpoch(ctx context.Context, tx memory.Tx, e memory.Epoch, at time.Time, who, why string) error {
	if err := tx.AddEpoch(ctx, e); err != nil {
		return err
	}
	detail, err := json.Marshal(map[string]any{"epoch": e.Number, "fingerprint": e.Fingerprint, "who": who, "why": why})
	if err == nil {
		_, err = tx.Append(ctx, at, memory.KindEpoch, string(detail))
	}
	return err
}

// BeginEpoch begins an epoch: from the next start of the signer on, its seed has the hot wallet and all new addresses.
// What is in the state is durable before the file beside the seed is written; a next start writes a file that lacks it.
// An epoch that has begun already is no error. Errors: ErrEpochOrder, ErrEpochMissing, ErrEpochRule where people
// signed a policy that does not name this seed, people.ErrLost where the state has lost that policy.
func BeginEpoch(
	ctx context.Context, cfg config.Config, keeper memory.Keeper, keys *signer.Keys, e chain.Epoch, who, why string,
) error {
	fingerprint, err := keys.FingerprintOf(e)
	if err != nil || e == 0 {
		return fmt.Errorf("epoch %d: %w", e, errors.Join(ErrEpochMissing, err))
	}
	if err := AgreePolicy(ctx, cfg, keeper, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	next := memory.Epoch{Number: uint32(e), Fingerprint: fingerprint, Begun: time.Now().UTC().Truncate(time.Millisecond)}
	var begun []memory.Epoch
	err = keeper.Do(ctx, func(tx memory.Tx) (err error) {
		if begun, err = tx.Epochs(ctx); err != nil || len(begun) == int(e) && begun[e-1].Fingerprint == fingerprint {
			return err
		}
		if int(e) != len(begun)+1 {
			return fmt.Errorf("%w: epoch %d has begun, and epoch %d is asked for", ErrEpochOrder, len(begun), e)
		}
		policy, found, err := people.InForce(ctx, tx, time.Now())
		if err != nil {
			return err
		}
		if found && !names(policy, next) {
			return fmt.Errorf("%w: `epoch: %d %s`", ErrEpochRule, e, fingerprint)
		}
		begun = append(begun, next)
		return addEpoch(ctx, tx, next, next.Begun, who, why)
	})
	if err != nil {
		return err
	}
	return noteEpochs(cfg, keys, begun)
}
