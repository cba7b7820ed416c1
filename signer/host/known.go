package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/durable"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// PolicyFile returns the file beside the seed that says which policy was in force. It is apart from the state, so that
// a state that is lost or started again does not take with it that there was a policy.
func PolicyFile(cfg config.Config) string { return cfg.SeedFile + ".policy" }

// NotePolicy notes beside the seed which policy is in force, durably, unless a later one is noted.
func NotePolicy(cfg config.Config, p memory.KnownPolicy) error {
	before, err := NotedPolicy(cfg)
	if err != nil || before.Version >= p.Version {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("note the policy: %w", err)
	}
	if err := writeDurably(PolicyFile(cfg), append(text, '\n')); err != nil {
		return fmt.Errorf("note the policy: %w", err)
	}
	return nil
}

// writeDurably replaces a file by another, at once and so that a power cut leaves the one or the other. The file has
// the owner of its folder: a command that root runs must not leave what the signer's user cannot read.
func writeDurably(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if info, failed := os.Stat(filepath.Dir(path)); failed != nil {
		err = errors.Join(err, failed)
	} else {
		err = errors.Join(err, signer.KeepOwner(file, info))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return durable.SyncFolder(filepath.Dir(path))
}

// NotedPolicy reads beside the seed which policy was in force; its Version is 0 where none was. A file that cannot be
// read is an error: it says that there was one.
func NotedPolicy(cfg config.Config) (p memory.KnownPolicy, err error) {
	text, err := os.ReadFile(PolicyFile(cfg))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && p.Version < 1 {
		err = errors.New("no version is named")
	}
	if err != nil {
		return p, fmt.Errorf("read %s, which says what policy was in force: %w", PolicyFile(cfg), err)
	}
	return p, nil
}

// AgreePolicy makes the state and the file beside the seed know the same policy. Where the state has lost it, the
// signer runs and signs nothing. Where both name one version and mean two texts, the signer freezes, and the error is
// people.ErrTwo.
func AgreePolicy(ctx context.Context, cfg config.Config, keeper memory.Keeper, log *slog.Logger) error {
	noted, err := NotedPolicy(cfg)
	if err != nil {
		return err
	}
	var known memory.KnownPolicy
	err = keeper.Do(ctx, func(tx memory.Tx) (err error) {
		if known, err = tx.KnownPolicy(ctx); err != nil || known.Version > 0 {
			return err
		}
		list, err := tx.Policies(ctx) // of a release that did not note it
		if err != nil || len(list) == 0 {
			return err
		}
		known = memory.KnownPolicy{Version: list[0].Version, Hash: people.HashOf(list[0])}
		return tx.KnowPolicy(ctx, known)
	})
	if err != nil {
		return err
	}
	if known.Version > noted.Version {
		return NotePolicy(cfg, known)
	}
	lost, err := people.KnowPolicy(ctx, keeper, noted, time.Now())
	if errors.Is(err, people.ErrTwo) {
		frozen := memory.Stop(StateFile(cfg), memory.Freeze{At: time.Now().UTC(), Who: "the signer itself", Why: err.Error()})
		return errors.Join(fmt.Errorf("%w; %s says the other; see "+
			"docs/operations/approvals.md#one-version-with-two-texts", err, PolicyFile(cfg)), frozen)
	}
	if lost {
		log.Error("the policy that people signed is lost with the state, and nothing is signed until it is applied again; "+
			"see docs/operations/approvals.md#a-lost-policy", "version", noted.Version, "hash", noted.Hash)
	}
	return err
}
