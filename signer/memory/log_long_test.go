package memory

import (
	"context"
	"testing"
	"time"
)

// A long log is read in several transactions, so that a signer can write in between.
func TestALongLogIsVerified(t *testing.T) {
	t.Parallel()
	m := NewRAM()
	do(t, m, func(ctx context.Context, tx Tx) error {
		for range 2*verifyAtOnce + 7 {
			if _, err := tx.Append(ctx, noon, KindSigned, "{}"); err != nil {
				return err
			}
		}
		return nil
	})
	if head, err := Verify(t.Context(), m); err != nil || head.Number != 2*verifyAtOnce+8 {
		t.Errorf("the newest entry is %d, %v, want %v", head.Number, err, 2*verifyAtOnce+8)
	}
	m.log[verifyAtOnce+3].Detail = "{ }"
	if _, err := Verify(t.Context(), m); err == nil {
		t.Error("a change is not noticed")
	}
}

func TestBeginningAgain(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	do(t, f, remember)
	before, err := stateOf(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	earlier := noon.Add(-time.Hour)
	if err := BeginAgain(t.Context(), path, Init{"seed", earlier, true, false}, "ann", "the clock was wrong"); err != nil {
		t.Fatal(err)
	}
	f = reopen(t, path)
	after, err := stateOf(t.Context(), f)
	if err != nil || after.Instance == before.Instance || after.ColdSince != earlier || after.HighWater != earlier {
		t.Errorf("the state is %+v, was %+v, %v", after, before, err)
	}
	head, err := Verify(t.Context(), f)
	if err != nil || head.Number != 2 || head.Kind != KindBegin ||
		head.Detail != `{"cold":true,"dated":3,"who":"ann","why":"the clock was wrong"}` {
		t.Errorf("the log ends with %+v, %v", head, err)
	}
	do(t, f, func(ctx context.Context, tx Tx) error { // what was remembered stays
		_, found, err := tx.UTXO(ctx, "bitcoin", "a:0")
		if !found {
			t.Error("the UTXO is forgotten")
		}
		return err
	})
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	first := Entry{}.Next(noon, KindInit, "{}")
	second := first.Next(noon, KindSigned, "{}")
	a, b := CheckpointOf("x", first), CheckpointOf("x", second)
	if !b.After(a) || a.After(b) || a.After(a) || CheckpointOf("y", second).After(a) || a.Hash == b.Hash {
		t.Errorf("%+v and %+v", a, b)
	}
}
