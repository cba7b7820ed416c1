package memory

import (
	"context"
	"slices"
	"time"
)

// SetFrozen enters a freeze into the state: from then on the signer signs nothing, also after a restart, until it is
// thawed. Stop freezes sooner.
func SetFrozen(ctx context.Context, keeper Keeper, at time.Time, who, why string) error {
	return keeper.Do(ctx, func(tx Tx) error { return setFrozen(ctx, tx, Freeze{at, who, why}) })
}

func setFrozen(ctx context.Context, tx Tx, f Freeze) error {
	if err := tx.AddFreeze(ctx, f); err != nil {
		return err
	}
	_, err := tx.Append(ctx, f.At, KindFreeze, detail(map[string]any{"who": f.Who, "why": f.Why}))
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
	if n, err = tx.Thaw(ctx, at, who, why); err != nil || n == 0 {
		return n, err
	}
	_, err = tx.Append(ctx, at, KindThaw, detail(map[string]any{"who": who, "why": why}))
	return n, err
}

// Thaw ends every freeze of a state file: in the state, then that of its marker. It returns how many there were. A
// freeze that comes meanwhile stays, and is an error.
func Thaw(ctx context.Context, file *File, at time.Time, who, why string) (n int, err error) {
	return ThawIf(ctx, file, at, func(context.Context, Tx) (string, string, error) { return who, why, nil })
}

// ThawIf is Thaw where decide, in the transaction that thaws, says by whom and why, or refuses. It sees every freeze
// that the thaw would end; what comes after that stays, also if the machine stops in between.
func ThawIf(
	ctx context.Context, file *File, at time.Time, decide func(ctx context.Context, tx Tx) (who, why string, err error),
) (n int, err error) {
	path := file.path + markerSuffix
	enter := func(f Freeze) error {
		return file.Do(ctx, func(tx Tx) error { return enterOnce(ctx, tx, f) })
	}
	if err := alone(file.path, gateTime, func() error { return gather(path, enter) }); err != nil {
		return 0, err
	}
	m, readErr := readMarker(path)
	if err := Enter(ctx, file); err != nil {
		return 0, err
	}
	err = file.Do(ctx, func(tx Tx) error {
		who, why, err := decide(ctx, tx)
		if err != nil {
			return err
		}
		n, err = setThawed(ctx, tx, at, who, why)
		return err
	})
	if err != nil {
		return 0, err
	}
	if readErr != nil {
		m.Mark = "" // without readable content there is none
	}
	return n, alone(file.path, gateTime, func() error { return unmark(path, m) })
}

// Enter enters the freeze of the gate into the state, unless that has this one already. Of several freezes each is
// kept: a thaw must come after the newest.
func Enter(ctx context.Context, keeper Keeper) error {
	f, frozen, err := keeper.Gate().Frozen()
	if err != nil || !frozen {
		return err
	}
	return keeper.Do(ctx, func(tx Tx) error { return enterOnce(ctx, tx, f) })
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

// Agree makes the gate and the state say the same at the start of a signer: frozen, if one of them does.
func Agree(ctx context.Context, keeper Keeper) error {
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
