package memory

import (
	"context"
	"errors"
	"slices"
	"time"
)

// SetFrozen enters a freeze into the state: from then on the signer signs nothing, also after a restart, until it is
// thawed. Stop freezes sooner.
func SetFrozen(ctx context.Context, keeper Keeper, at time.Time, who, why string) error {
	return keeper.Do(ctx, func(tx Tx) error { return setFrozen(ctx, tx, Freeze{at, who, why}) })
}

// setFrozen enters a freeze, which ends a thaw that waits: it has to be signed again by people who know of the freeze.
func setFrozen(ctx context.Context, tx Tx, f Freeze) error {
	_, ended, err := tx.WaitingThaw(ctx)
	if err == nil {
		err = errors.Join(tx.EndWaitingThaw(ctx), tx.AddFreeze(ctx, f))
	}
	if err != nil {
		return err
	}
	says := map[string]any{"who": f.Who, "why": f.Why}
	if ended {
		says["ends_thaw"] = true
	}
	_, err = tx.Append(ctx, f.At, KindFreeze, detail(says))
	return err
}

// SetThawed ends every freeze in the state and returns how many there were. Without a freeze nothing is written.
func SetThawed(ctx context.Context, keeper Keeper, at time.Time, who, why string) (n int, err error) {
	err = keeper.Do(ctx, func(tx Tx) error {
		n, err = setThawed(ctx, tx, at, who, why)
		return err
	})
	if err == nil {
		keeper.Gate().forget()
	}
	return n, err
}

func setThawed(ctx context.Context, tx Tx, at time.Time, who, why string) (n int, err error) {
	if err := tx.EndWaitingThaw(ctx); err != nil {
		return 0, err
	}
	if n, err = tx.Thaw(ctx, at, who, why); err != nil || n == 0 {
		return n, err
	}
	_, err = tx.Append(ctx, at, KindThaw, detail(map[string]any{"who": who, "why": why}))
	return n, err
}

// Enter enters the freeze of the gate into the state, unless that has this one already. Of several freezes each is
// kept: a thaw must come after the newest.
//
// The marker of a freeze that was thawed is none: a crash kept its thaw from removing it.
func Enter(ctx context.Context, keeper Keeper) error {
	f, frozen, err := keeper.Gate().Frozen()
	if err != nil || !frozen {
		return err
	}
	mark := keeper.Gate().Mark()
	return keeper.Do(ctx, func(tx Tx) error {
		thawed, err := tx.ThawedMark(ctx)
		if err != nil || mark != "" && mark == thawed {
			return err
		}
		return enterOnce(ctx, tx, f)
	})
}

func enterOnce(ctx context.Context, tx Tx, f Freeze) error {
	list, err := tx.Freezes(ctx)
	same := func(one Freeze) bool {
		return one.Who == f.Who && one.Why == f.Why && millis(one.At) == millis(f.At)
	}
	if err != nil || slices.ContainsFunc(list, same) {
		return err
	}
	return setFrozen(ctx, tx, f)
}

// Agree makes the gate and the state say the same at the start of a signer: frozen, if one of them does. A thaw that a
// crash cut off after it was committed is carried out to its end.
func Agree(ctx context.Context, keeper Keeper) error {
	if file, is := keeper.(*File); is {
		if err := file.finishThaw(ctx); err != nil {
			return err
		}
	}
	if err := Enter(ctx, keeper); err != nil {
		return err
	}
	list, err := Freezes(ctx, keeper)
	if err != nil || len(list) == 0 {
		return err
	}
	if _, shut, err := keeper.Gate().Frozen(); shut || err != nil {
		return err
	}
	return keeper.Gate().Shut(list[0])
}

// Freezes returns every freeze, that of the gate too where it is not in the state yet.
func Freezes(ctx context.Context, keeper Keeper) (list []Freeze, err error) {
	err = keeper.Do(ctx, func(tx Tx) error {
		list, err = tx.Freezes(ctx)
		return err
	})
	if err != nil || len(list) > 0 {
		return list, err
	}
	f, frozen, err := keeper.Gate().Frozen()
	if frozen {
		list = append(list, f)
	}
	return list, err
}

// StopIf freezes the signer of a state file if decide, in a transaction, says so. The freeze is durable before that
// transaction is: after a crash between the two the signer is frozen, and nothing of the transaction has happened.
func StopIf(
	ctx context.Context, file *File, decide func(ctx context.Context, tx Tx) (Freeze, error),
) error {
	err := file.Do(ctx, func(tx Tx) error {
		f, err := decide(ctx, tx)
		if err != nil {
			return err
		}
		return Stop(file.path, f)
	})
	if err != nil {
		return err
	}
	return Enter(ctx, file)
}
