package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/durable"
)

// Thaws is the part of a transaction about thaws that wait. An export has none of it: a thaw allows.
type Thaws interface {
	// WaitingThaw returns the thaw that waits.
	WaitingThaw(ctx context.Context) (t WaitingThaw, found bool, err error)
	// AddWaitingThaw lets a thaw wait. While one does, another is an error.
	AddWaitingThaw(ctx context.Context, t WaitingThaw) error
	// EndWaitingThaw ends the thaw that waits, without thawing. Where none does, it does nothing.
	EndWaitingThaw(ctx context.Context) error
	// ThawedMark returns the name of the marker file that the last thaw has ended or is about to; see Gate.Mark.
	ThawedMark(ctx context.Context) (mark string, err error)
	SetThawedMark(ctx context.Context, mark string) error
}

// WaitingThaw is a thaw that was signed and has not taken effect.
type WaitingThaw struct {
	Since time.Time // when it was taken
	At    time.Time // when it begins
	Who   string
	Why   string
	Mark  string // of the marker file that it is to end
}

// Text says when it begins, for people.
func (t WaitingThaw) Text() string {
	return fmt.Sprintf("thaws at %s, unless somebody freezes it again: a thaw by %s waits since %s",
		Minute(t.At), t.Who, Minute(t.Since))
}

// Minute is how a time is written for people.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// ErrThawWaits is returned for a thaw while another waits.
var ErrThawWaits = errors.New("a thaw waits already")

// thawLasts is how long after its time a thaw that waited can begin: the signer did not run meanwhile. One of a copy
// from long ago that was put back is void.
const thawLasts = 24 * time.Hour

// Thawing is what was decided about a thaw.
type Thawing struct {
	Who, Why string
	At       time.Time // when it begins; zero: at once
	Since    time.Time // when it was taken, if it waits
}

// Thawed is what came of a thaw.
type Thawed struct {
	Ended int         // how many freezes there were
	Waits WaitingThaw // its At is zero: none waits
}

// Thaw ends every freeze of a state file: in the state, then that of its marker. It returns how many there were. A
// freeze that comes meanwhile stays, and is an error.
func Thaw(ctx context.Context, file *File, at time.Time, who, why string) (n int, err error) {
	done, err := ThawIf(ctx, file, at, func(context.Context, Tx) (Thawing, error) {
		return Thawing{Who: who, Why: why}, nil
	})
	return done.Ended, err
}

// ThawIf is Thaw where decide, in the transaction that thaws, says by whom and why, or that it begins later, or
// refuses. It sees every freeze that the thaw would end; what comes after that stays, also if the machine stops in
// between. A thaw that begins later leaves everything frozen; ThawDue carries it out. The error is ErrThawWaits, or one
// of decide or the file.
func ThawIf(
	ctx context.Context, file *File, at time.Time, decide func(ctx context.Context, tx Tx) (Thawing, error),
) (done Thawed, err error) {
	mark, err := file.entered(ctx)
	if err == nil && mark == "" {
		mark, err = file.shutIfFrozen(ctx)
	}
	if err != nil {
		return done, err
	}
	err = file.Do(ctx, func(tx Tx) error {
		t, err := decide(ctx, tx)
		if err != nil {
			return err
		}
		if t.At.IsZero() {
			done.Ended, err = thawMarked(ctx, tx, at, t.Who, t.Why, mark)
			return err
		}
		done.Waits, err = waits(ctx, tx, t, mark)
		return err
	})
	if err != nil || !done.Waits.At.IsZero() {
		return done, err
	}
	return done, file.unmark(mark)
}

// waits lets a thaw wait that begins later. Where nothing is frozen there is nothing to wait for.
func waits(ctx context.Context, tx Tx, t Thawing, mark string) (w WaitingThaw, err error) {
	frozen, err := tx.Freezes(ctx)
	if err != nil || len(frozen) == 0 {
		return w, err
	}
	other, found, err := tx.WaitingThaw(ctx)
	if err == nil && found {
		err = fmt.Errorf("%w, and begins at %s", ErrThawWaits, Minute(other.At))
	}
	if err != nil {
		return w, err
	}
	w = WaitingThaw{Since: t.Since, At: t.At, Who: t.Who, Why: t.Why, Mark: mark}
	if err := tx.AddWaitingThaw(ctx, w); err != nil {
		return w, err
	}
	_, err = tx.Append(ctx, t.Since, KindThawWaits, detail(map[string]any{"who": t.Who, "why": t.Why, "at": t.At}))
	return w, err
}

// thawMarked thaws, and remembers which marker that ends: after a crash it freezes no more.
func thawMarked(ctx context.Context, tx Tx, at time.Time, who, why, mark string) (n int, err error) {
	if n, err = setThawed(ctx, tx, at, who, why); err != nil || n == 0 {
		return n, err
	}
	return n, tx.SetThawedMark(ctx, mark)
}

// ThawDue carries out the thaw that waits, once its time has come, and returns it while it waits, and how many freezes
// it has ended. A marker file that was made or touched since the thaw was taken is another freeze, which ends the wait;
// so does a thaw whose time passed long ago. The signer's process calls it now and then.
//
// The attack: somebody with the keys of enough authors thaws the signer. For an hour everybody else who may freeze sees
// that, and freezes.
func ThawDue(ctx context.Context, file *File, now time.Time) (done Thawed, err error) {
	if _, found, err := Waiting(ctx, file); err != nil || !found {
		return done, errors.Join(err, file.finishThaw(ctx))
	}
	mark, err := file.entered(ctx)
	if err != nil {
		return done, err
	}
	w, found, err := Waiting(ctx, file)
	if err != nil || !found { // what was entered ended it
		return done, err
	}
	if mark != w.Mark {
		f := Freeze{now.UTC(), "somebody", "the marker file was made, touched or removed while a thaw waited"}
		return done, errors.Join(file.Gate().Shut(f), Enter(ctx, file))
	}
	err = file.Do(ctx, func(tx Tx) error {
		w, found, err = tx.WaitingThaw(ctx) // a freeze may have ended it since
		if err != nil || !found {
			return err
		}
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		switch {
		case now.Before(w.At) || now.Before(state.HighWater):
			done.Waits = w
			return nil
		case !now.Before(w.At.Add(thawLasts)):
			return voidThaw(ctx, tx, now, "the signer did not run at its time: sign another")
		}
		done.Ended, err = thawMarked(ctx, tx, now, w.Who, w.Why, mark)
		return err
	})
	if err != nil || done.Ended == 0 {
		return done, err
	}
	return done, file.unmark(mark)
}

// voidThaw ends a thaw that waits without thawing.
func voidThaw(ctx context.Context, tx Tx, at time.Time, why string) error {
	w, found, err := tx.WaitingThaw(ctx)
	if err != nil || !found {
		return err
	}
	if err := tx.EndWaitingThaw(ctx); err != nil {
		return err
	}
	_, err = tx.Append(ctx, at, KindThawVoid, detail(map[string]any{"who": w.Who, "since": w.Since, "why": why}))
	return err
}

// Waiting returns the thaw that waits in a memory.
func Waiting(ctx context.Context, keeper Keeper) (w WaitingThaw, found bool, err error) {
	err = keeper.Do(ctx, func(tx Tx) error {
		w, found, err = tx.WaitingThaw(ctx)
		return err
	})
	return w, found, err
}

// entered enters every freeze of markers into the state, and returns the name of the marker that is there: what is made
// after that has another.
func (f *File) entered(ctx context.Context) (mark string, err error) {
	path := f.path + markerSuffix
	enter := func(freeze Freeze) error {
		return f.Do(ctx, func(tx Tx) error { return enterOnce(ctx, tx, freeze) })
	}
	if err := alone(f.path, gateTime, func() error { return gather(path, enter) }); err != nil {
		return "", err
	}
	mark = markOf(path)
	return mark, Enter(ctx, f)
}

// shutIfFrozen shuts the gate of a state that says frozen alone, as after an import, so that there is a marker that a
// thaw can wait for.
func (f *File) shutIfFrozen(ctx context.Context) (mark string, err error) {
	list, err := Freezes(ctx, f)
	if err != nil || len(list) == 0 {
		return "", err
	}
	err = f.Gate().Shut(list[0])
	return f.Gate().Mark(), err
}

func (f *File) unmark(mark string) error {
	return alone(f.path, gateTime, func() error { return unmark(f.path+markerSuffix, mark) })
}

// finishThaw removes the marker of a freeze that was thawed, where a crash left it. It opens the gate only if nothing
// else is frozen in the state.
func (f *File) finishThaw(ctx context.Context) error {
	thawed := ""
	err := f.Do(ctx, func(tx Tx) error {
		list, err := tx.Freezes(ctx)
		if err != nil || len(list) > 0 {
			return err
		}
		thawed, err = tx.ThawedMark(ctx)
		return err
	})
	if err != nil || thawed == "" {
		return err
	}
	path := f.path + markerSuffix
	aside := path + asideSuffix
	if markOf(path) != thawed && markOf(aside) != thawed {
		return nil
	}
	return alone(f.path, gateTime, func() error {
		if markOf(aside) == thawed {
			if err := os.Remove(aside); err != nil {
				return fmt.Errorf("thaw: %w", err)
			}
		}
		if markOf(path) == thawed {
			return unmark(path, thawed)
		}
		return durable.SyncFolder(filepath.Dir(path))
	})
}
