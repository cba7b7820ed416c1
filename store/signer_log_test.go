package store_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What was seen of a signer's log only grows, for each instance of its state by itself.
func TestTheSeenSignerLogOnlyGrows(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		note := func(instance string, number int64) (newest store.SignerLog) {
			t.Helper()
			err := db.Do(t.Context(), func(tx *store.Tx) (err error) {
				newest, err = tx.Settings().NoteSignerLog(t.Context(),
					store.SignerLog{Instance: instance, Number: number, Hash: strings.Repeat("ab", 32), Signature: "01"},
					func(l store.SignerLog) bool { return l.Signature == "01" })
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return newest
		}
		for _, step := range []struct {
			instance     string
			number, want int64
		}{{"A", 7, 7}, {"A", 8, 8}, {"A", 3, 8}, {"B", 1, 1}, {"A", 8, 8}} {
			if got := note(step.instance, step.number); got.Number != step.want || got.Hash != strings.Repeat("ab", 32) ||
				got.Instance != step.instance {
				t.Errorf("%+v gives %+v", step, got)
			}
		}
		err := db.View(t.Context(), func(tx *store.Tx) error {
			for instance, want := range map[string]int64{"A": 8, "B": 1, "C": 0} {
				if list, err := tx.Settings().SignerLogs(t.Context()); err != nil || len(list) != 2 || list[0].Number != 8 ||
					list[1].Instance != "B" {
					t.Errorf("the noted logs are %+v, %v; want those of A and B", list, err)
				}
				if seen, err := tx.Settings().SeenSignerLog(t.Context(), instance); err != nil || seen.Number != want {
					t.Errorf("%s: %+v, %v, want %v", instance, seen, err, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
