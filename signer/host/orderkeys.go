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

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// OrderKeysFile returns the file beside the seed that says which keys of clients the signer ever had. It is apart from
// the state, so that a state which is lost or set back does not take with it that an account's orders are signed.
func OrderKeysFile(cfg config.Config) string { return cfg.SeedFile + ".order-keys" }

// notedKey is what is noted of a key: enough to know it again, and not enough to let it sign.
type notedKey struct {
	Account bursar.ID `json:"account"`
	ID      string    `json:"id"`
	Revoked bool      `json:"revoked,omitempty"`
	From    int64     `json:"from,omitempty"` // since when it counts, in milliseconds: a loss does not end a hold
}

// AgreeOrderKeys makes the state and the file beside the seed know the same keys of clients. A key that the state has
// lost is there again by its ID alone: its account stays bound, and nothing that it signed is paid until it is added
// again; one that was revoked stays revoked.
//
// The attack: an intruder on the signer's machine removes the state or puts an older one back, and an account that
// signed its orders needs none.
func AgreeOrderKeys(ctx context.Context, cfg config.Config, keeper memory.Keeper, log *slog.Logger) error {
	noted, err := notedKeys(cfg)
	if err != nil {
		return err
	}
	var list []notedKey
	var lost int
	err = keeper.Do(ctx, func(tx memory.Tx) (err error) {
		if lost, err = rememberKeys(ctx, tx, noted); err != nil {
			return err
		}
		keys, err := tx.OrderKeys(ctx, bursar.ID{})
		list = nil
		for _, k := range keys {
			list = append(list, notedKey{
				Account: k.Account,
				ID:      k.ID,
				Revoked: !k.Revoked.IsZero(),
				From:    k.From.UnixMilli(),
			})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("compare the keys of clients with %s: %w", OrderKeysFile(cfg), err)
	}
	if lost > 0 {
		log.Error("keys of clients are lost with the signer's state, and nothing is paid for their accounts until they are "+
			"added again; see docs/operations/orders.md#lost-keys", "keys", lost)
	}
	if slices.Equal(list, noted) {
		return nil
	}
	return noteKeys(cfg, list)
}

// rememberKeys writes what is noted into a state that lacks it, and returns how many keys are lost.
func rememberKeys(ctx context.Context, tx memory.Tx, noted []notedKey) (lost int, err error) {
	state, err := tx.State(ctx)
	if err != nil {
		return 0, err
	}
	now := state.HighWater
	for _, n := range noted {
		list, err := tx.OrderKeys(ctx, n.Account)
		if err != nil {
			return 0, err
		}
		i := slices.IndexFunc(list, func(k memory.OrderKey) bool { return k.ID == n.ID })
		if i < 0 {
			if err := loseKey(ctx, tx, n, now); err != nil {
				return 0, err
			}
			list, i = []memory.OrderKey{{}}, 0
		}
		if n.Revoked && list[i].Revoked.IsZero() {
			if err := tx.RevokeOrderKey(ctx, n.Account, n.ID, now); err != nil {
				return 0, err
			}
		} else if list[i].Lost() {
			lost++
		}
	}
	return lost, nil
}

// loseKey remembers the ID of a key that this state never had.
func loseKey(ctx context.Context, tx memory.Tx, n notedKey, now time.Time) error {
	lost := memory.OrderKey{Account: n.Account, ID: n.ID, From: now}
	if held := time.UnixMilli(n.From).UTC(); held.After(now) {
		lost.From = held
	}
	if err := tx.AddOrderKey(ctx, lost); err != nil {
		return err
	}
	detail, err := json.Marshal(map[string]string{"account": n.Account.String(), "id": n.ID})
	if err != nil {
		return err
	}
	_, err = tx.Append(ctx, now, memory.KindLost, string(detail))
	return err
}

func noteKeys(cfg config.Config, list []notedKey) error {
	text, err := json.MarshalIndent(list, "", " ")
	if err == nil {
		err = writeDurably(OrderKeysFile(cfg), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note the keys of clients: %w", err)
	}
	return nil
}

// notedKeys reads which keys are noted. A file that cannot be read is an error: it says that there were some.
func notedKeys(cfg config.Config) (list []notedKey, err error) {
	text, err := os.ReadFile(OrderKeysFile(cfg))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if i := slices.IndexFunc(list, func(k notedKey) bool { return k.Account.IsZero() || k.ID == "" }); err == nil &&
		i >= 0 {
		err = errors.New("a key in it has no account or no ID")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, which says which keys of clients the signer had: %w", OrderKeysFile(cfg), err)
	}
	return list, nil
}
