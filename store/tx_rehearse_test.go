package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A rehearsal ends each transaction that wrote something with its own error, after the witness, and changes nothing;
// what only reads, and what fails by itself, is as it would be.
func TestARehearsalChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, instead, own, witnessed := context.Background(), errors.New("rehearsed"), errors.New("refused"), 0
		db.Witness(func(context.Context, *store.Tx) error { witnessed++; return nil })
		db.Rehearse(instead)
		alarm := store.Alarm{Chain: bursar.Bitcoin, Kind: "odd", Ref: "x", Message: "m"}
		raise := func(after error) error {
			return db.Do(ctx, func(tx *store.Tx) error {
				return errors.Join(tx.Alarms().Raise(ctx, alarm), after)
			})
		}
		if err := raise(nil); !errors.Is(err, instead) || witnessed != 1 {
			t.Errorf("a change ends with %v after %d witnesses, want %v after 1", err, witnessed, instead)
		}
		if err := raise(own); !errors.Is(err, own) || errors.Is(err, instead) {
			t.Errorf("a refusal ends with %v, want %v", err, own)
		}
		var open []store.Alarm
		err := db.Do(ctx, func(tx *store.Tx) (err error) {
			open, err = tx.Alarms().List(ctx, 10)
			return err
		})
		if err != nil || len(open) != 0 {
			t.Errorf("reading gives %v, %v, want no alarm", open, err)
		}
	})
}
