package store_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What persons signed is carried as it was, each once, and nobody fills the database with it.
func TestApprovalsAreKeptAsTheyWere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		add := func(order byte, text string) error {
			return db.Do(ctx, func(tx *store.Tx) error {
				return tx.Approvals().Add(ctx, store.Approval{OrderID: bursar.ID{order}, Text: text, Signature: "s\n"})
			})
		}
		of := func(orders ...bursar.ID) (list []store.Approval) {
			err := db.View(ctx, func(tx *store.Tx) (err error) {
				list, err = tx.Approvals().Of(ctx, orders...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		for _, one := range []struct {
			order byte
			text  string
		}{{1, "a\n"}, {1, "a\n"}, {2, "a\n"}, {3, "b\n"}} {
			if err := add(one.order, one.text); err != nil {
				t.Fatal(err)
			}
		}
		if got := of(bursar.ID{1}); len(got) != 1 ||
			got[0] != (store.Approval{OrderID: bursar.ID{1}, Text: "a\n", Signature: "s\n"}) {
			t.Errorf("got %+v, want the one that was kept", got)
		}
		if got := of(bursar.ID{2}, bursar.ID{3}, bursar.ID{4}); len(got) != 2 {
			t.Errorf("got %+v, want two", got)
		}
		for i := range store.MaxApprovals - 1 {
			if err := add(1, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(1, "one too many"); err == nil || len(of(bursar.ID{1})) != store.MaxApprovals {
			t.Errorf("one too many: got %v, %d kept, want an error and %v of them", err, len(of(bursar.ID{1})),
				store.MaxApprovals)
		}
	})
}

func TestTheSignersPolicyIsNoted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		for _, want := range []store.PolicyText{{}, {Instance: "I", Text: "one\n"},
			{Instance: "J", Text: "two\n", Orders: true}} {
			var got store.PolicyText
			err := db.Do(ctx, func(tx *store.Tx) (err error) {
				if want.Text != "" {
					if err := tx.Settings().NotePolicy(ctx, want); err != nil {
						return err
					}
				}
				got, err = tx.Settings().Policy(ctx)
				return err
			})
			if err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		}
	})
}

// The newest policy that the signer said was in force stays, unless nobody believes it.
func TestTheNewestPolicyClaimIsNoted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		for _, step := range []struct {
			version, want int64
			believed      bool
		}{{0, 0, false}, {2, 2, true}, {1, 2, true}, {0, 2, true}, {3, 3, true}, {1, 1, false}} {
			var got store.PolicyClaim
			err := db.Do(ctx, func(tx *store.Tx) (err error) {
				seen := store.PolicyClaim{}
				if step.version > 0 {
					seen = store.PolicyClaim{Version: step.version, Hash: "sha256:ab", Signature: "cd"}
				}
				got, err = tx.Settings().NotePolicyClaim(ctx, seen, func(store.PolicyClaim) bool { return step.believed })
				return err
			})
			if err != nil || got.Version != step.want {
				t.Errorf("version %d, believed %t: got %+v, %v, want %d", step.version, step.believed, got, err, step.want)
			}
			if got.Version > 0 && (got.Hash != "sha256:ab" || got.Signature != "cd") {
				t.Errorf("got %+v, want it as it was signed", got)
			}
		}
	})
}
