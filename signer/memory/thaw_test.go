package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The machine stops while a thaw has put aside a marker that somebody made meanwhile: the freeze stays.
func TestAFreezeDuringAThawAndACrashWins(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	if err := errors.Join(Stop(path, Freeze{noon, "ann", "first"}), Enter(t.Context(), f)); err != nil {
		t.Fatal(err)
	}
	if _, err := SetThawed(t.Context(), f, noon, "bob", "over"); err != nil {
		t.Fatal(err)
	}
	// The marker is now that of another freeze, and a thaw of the first was cut off with it aside.
	err := errors.Join(Stop(path, Freeze{noon.Add(time.Minute), "cat", "second"}),
		os.Rename(path+markerSuffix, path+markerSuffix+asideSuffix), f.Close())
	if err != nil {
		t.Fatal(err)
	}
	f = reopen(t, path)
	if _, frozen, err := f.Gate().Frozen(); !frozen || err != nil {
		t.Errorf("got frozen %t, %v, want a freeze", frozen, err)
	}
	if err := Agree(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	list, err := Freezes(t.Context(), f)
	if err != nil || len(list) != 1 || list[0].Who != "cat" {
		t.Errorf("got freezes %+v, %v, want that of cat", list, err)
	}
	if n, err := Thaw(t.Context(), f, noon.Add(time.Hour), "bob", "over"); n != 1 || err != nil {
		t.Errorf("got %d thawed, %v, want 1", n, err)
	}
	if _, frozen, err := f.Gate().Frozen(); frozen || err != nil {
		t.Errorf("got frozen %t, %v after the thaw, want none", frozen, err)
	}
}

// A full disk takes a name but no new content: a freeze while another one is in its marker file counts as a later one
// nevertheless, which no thaw of the first ends.
func TestAFreezeOnAFullDiskIsALaterOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), strings.Repeat("s", 240)) // so long that no file can be made beside the marker
	if err := Create(t.Context(), path, Init{Fingerprint: "seed", At: noon}); err != nil {
		t.Fatal(err)
	}
	f := reopen(t, path)
	if err := errors.Join(Stop(path, Freeze{noon, "ann", "first"}), Enter(t.Context(), f)); err != nil {
		t.Fatal(err)
	}
	first := f.Gate().Mark()
	at := noon.Add(time.Hour)
	_, err := ThawIf(t.Context(), f, noon, func(context.Context, Tx) (Thawing, error) {
		return Thawing{Who: "bob", Why: "over", Since: noon, At: at}, nil
	})
	err = errors.Join(err, Stop(path, Freeze{noon.Add(time.Minute), "cat", "second"}), Enter(t.Context(), f))
	if err != nil {
		t.Fatal(err)
	}
	if second := f.Gate().Mark(); second == first {
		t.Errorf("both freezes have the marker %q, want another for the second", second)
	}
	if done, err := ThawDue(t.Context(), f, at); done.Ended > 0 || err != nil {
		t.Errorf("an hour later it ended %d freezes, %v, want none", done.Ended, err)
	}
	if _, frozen, err := f.Gate().Frozen(); !frozen || err != nil {
		t.Errorf("got frozen %t, %v, want frozen", frozen, err)
	}
}

// Of two markers, one put aside by a thaw that was cut off, a thaw ends both, and the state has both.
func TestAMarkerThatWasPutAsideIsNotLostBesideAnother(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	err := errors.Join(Stop(path, Freeze{noon, "ann", "first"}),
		os.Rename(path+markerSuffix, path+markerSuffix+asideSuffix),
		Stop(path, Freeze{noon.Add(time.Minute), "cat", "second"}))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Thaw(t.Context(), f, noon.Add(time.Hour), "bob", "over"); n != 2 || err != nil {
		t.Errorf("got %d thawed, %v, want 2", n, err)
	}
	if _, frozen, err := f.Gate().Frozen(); frozen || err != nil {
		t.Errorf("got frozen %t, %v after the thaw, want none", frozen, err)
	}
}

// What decides about a thaw sees every freeze there is, and is undone with the thaw.
func TestAThawIsDecidedWithinItsTransaction(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	refused := errors.New("made before the freeze")
	if err := Stop(path, Freeze{noon, "ann", "first"}); err != nil {
		t.Fatal(err)
	}
	_, err := ThawIf(t.Context(), f, noon, func(ctx context.Context, tx Tx) (Thawing, error) {
		list, err := tx.Freezes(ctx)
		if len(list) != 1 || err != nil {
			t.Errorf("got freezes %+v, %v, want that of the marker", list, err)
		}
		return Thawing{}, errors.Join(refused, tx.AddNonce(ctx, "n", 0))
	})
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
	do(t, f, func(ctx context.Context, tx Tx) error {
		list, err := tx.Freezes(ctx)
		if _, used, failed := tx.Nonce(ctx, "n"); used || len(list) != 1 {
			t.Errorf("got the nonce used %t, freezes %+v, want neither used nor thawed", used, errors.Join(err, failed))
		}
		return err
	})
}
