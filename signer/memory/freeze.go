package memory

import (
	"context"
	"time"
)

// SetFrozen freezes the signer: from then on it signs nothing, also after a restart, until it is thawed.
func SetFrozen(ctx context.Context, keeper Keeper, at time.Time, who, why string) error {
	return keeper.Do(ctx, func(tx Tx) error {
		if err := tx.AddFreeze(ctx, Freeze{At: at, Who: who, Why: why}); err != nil {
			return err
		}
		_, err := tx.Append(ctx, at, KindFreeze, detail(map[string]any{"who": who, "why": why}))
		return err
	})
}

// SetThawed ends every freeze and returns how many there were. Without a freeze nothing is written.
func SetThawed(ctx context.Context, keeper Keeper, at time.Time, who, why string) (n int, err error) {
	err = keeper.Do(ctx, func(tx Tx) error {
		if n, err = tx.Thaw(ctx, at, who, why); err != nil || n == 0 {
			return err
		}
		_, err = tx.Append(ctx, at, KindThaw, detail(map[string]any{"who": who, "why": why}))
		return err
	})
	return n, err
}
