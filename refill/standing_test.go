package refill_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// askedChain is a chain whose node says what is used up.
type askedChain struct {
	*fakeChain
	used   bool
	height uint64
	err    error
}

func (a *askedChain) UsedUp(_ context.Context, _ bursar.ColdWallet, _ []byte, since uint64) (bool, uint64, error) {
	return a.used && since == 5, a.height, a.err
}

func (a *askedChain) Unused(context.Context, bursar.ColdWallet, []byte) (uint64, error) {
	return 5, a.err
}

// Where blocks do not show what a transaction uses up, the final state does, once the books have come as far and have
// nothing that explains it.
func TestANonceThatAnotherTransactionAdvancedReplacesARefill(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		asked := &askedChain{fakeChain: f}
		s.Chain = asked
		b := begin(t, s)
		b.Bytes = []byte("2")
		want := func(what string, want refill.Standing, cause error) {
			t.Helper()
			r := state(t, s, b.ID)
			r.Bundle = "" // as lists have it
			if got, err := s.Standing(t.Context(), r); got != want || !errors.Is(err, cause) {
				t.Errorf("%s: got %s, %v, want %s, %v", what, got, err, want, cause)
			}
		}
		at := func(height uint64) {
			t.Helper()
			if err := db.Do(t.Context(), func(tx *store.Tx) error {
				return errors.Join(tx.Chains().Ensure(t.Context(), bursar.Bitcoin), tx.Blocks().Push(t.Context(), bursar.Bitcoin,
					store.Block{Height: height, Hash: "h", Parent: "p"}, 0))
			}); err != nil {
				t.Fatal(err)
			}
		}
		at(7)
		asked.used, asked.height = true, 9
		want("open", "open", nil)
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		want("ahead of the books", "sent", nil)
		at(9)
		want("used up", refill.Replaced, nil)
		asked.err = errors.New("no node")
		want("without a node", "sent", asked.err)
		asked.err, asked.used = nil, false
		want("not used up", "sent", nil)
		asked.used = true
		d := arrives(t, s, "id")
		want("by itself, and not final", "sent", nil)
		become(t, s, d, bursar.DepositConfirmed)
		want("by itself", refill.Booked, nil)
	})
}

// What revokes a refill does not replace it.
func TestARevocationReplacesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		old := begin(t, s)
		if _, err := s.Abandon(t.Context(), old.ID, "a device is lost"); err != nil {
			t.Fatal(err)
		}
		f.built, f.txID = "1", "revocation"
		next, err := s.Revoke(t.Context(), old.ID, refill.Request{Wallet: vault})
		if err != nil {
			t.Fatal(err)
		}
		next.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		s.Chain = &askedChain{fakeChain: f, used: true, height: 9}
		arrives(t, s, "revocation")
		if err := db.Do(t.Context(), func(tx *store.Tx) error {
			return errors.Join(tx.Chains().Ensure(t.Context(), bursar.Bitcoin), tx.Blocks().Push(t.Context(), bursar.Bitcoin,
				store.Block{Height: 9, Hash: "h", Parent: "p"}, 0))
		}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Standing(t.Context(), state(t, s, old.ID)); got != refill.Revoking || err != nil {
			t.Errorf("got %s, %v, want revoking", got, err)
		}
	})
}
