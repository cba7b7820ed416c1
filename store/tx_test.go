package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A View reads what transactions that write read and lock: what an operator is shown of a recovery, for one.
func TestAViewReadsWhatOthersLock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		err := db.View(t.Context(), func(tx *store.Tx) error {
			found, err := tx.Withdrawals().UnfinishedTo(t.Context(), "tron", []string{"somewhere"})
			if len(found) > 0 {
				t.Errorf("an empty database has %+v, want none", found)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A View needs no witness, whatever its statements begin with: it cannot write, and so cannot append to the log either.
func TestAViewHasNoWitness(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		asked := errors.New("the witness was asked")
		db.Witness(func(context.Context, *store.Tx) error { return asked })
		err := db.View(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.Links().Missing(t.Context(), 0, 1) // which begins with WITH
			return err
		})
		if err != nil {
			t.Errorf("%v, want no error", err)
		}
		err = db.Do(t.Context(), func(tx *store.Tx) error {
			return tx.Settings().Pin(t.Context(), "a", "b")
		})
		if !errors.Is(err, asked) {
			t.Errorf("%v, want %v", err, asked)
		}
	})
}

// What is asked for together takes one round trip; behind the first result nothing more can be asked.
func TestStatementsOfAReadAreAskedForTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ids := []bursar.ID{{1}}
		err := db.ReadTogether(t.Context(), func(tx *store.Tx) error {
			lists, rules := tx.DestinationLists().OfDeferred(t.Context(), ids), tx.FeeRules().OfDeferred(t.Context(), ids...)
			of, err := lists.Get(t.Context())
			if err != nil {
				return err
			}
			all, err := rules.Get(t.Context())
			if len(of) > 0 || len(all) > 0 {
				t.Errorf("found %v and %v, want nothing", of, all)
			}
			if err == nil && db.Postgres() {
				if _, late := tx.DestinationLists().Of(t.Context(), ids); late == nil ||
					!strings.Contains(late.Error(), "one statement") {
					t.Errorf("a statement behind the first result gives %v", late)
				}
			}
			return err
		})
		if err == nil == db.Postgres() {
			t.Errorf("the read ends with %v", err)
		}
		if err := db.ReadTogether(t.Context(), func(tx *store.Tx) error {
			return tx.Chains().Ensure(t.Context(), "bitcoin")
		}); err == nil || !strings.Contains(err.Error(), "writes nothing") {
			t.Errorf("a write gives %v, want an error and %q in it", err, "writes nothing")
		}
	})
}

// A Read makes one statement and writes nothing: two statements without a transaction could see two states.
func TestAReadMakesOneStatement(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		read := func(tx *store.Tx) error {
			_, err := tx.Ledger().Balances(t.Context(), ledger.Custody)
			return err
		}
		if err := db.Read(t.Context(), read); err != nil {
			t.Errorf("one statement gives %v", err)
		}
		for name, c := range map[string]struct {
			f    func(tx *store.Tx) error
			want string
		}{
			"two statements": {func(tx *store.Tx) error { _, _ = read(tx), read(tx); return nil }, "one statement"},
			"a write":        {func(tx *store.Tx) error { return tx.Chains().Ensure(t.Context(), "bitcoin") }, "writes nothing"},
		} {
			if err := db.Read(t.Context(), c.f); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s gives %v, want an error with %q", name, err, c.want)
			}
		}
	})
}

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
