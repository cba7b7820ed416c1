package refill_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// On a chain whose transactions end, a bundle lasts no longer than its transaction, nothing begins to revoke it, and it
// is shown as ended only when whatever took it in time would be booked.
func TestARefillEndsByItself(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		f.ends = db.Now().Add(90 * time.Minute)
		b := begin(t, s)
		if want := f.ends.Truncate(time.Second); !b.Expires.Equal(want) {
			t.Errorf("the bundle: got %s as its end, want %s", b.Expires, want)
		}
		if r := state(t, s, b.ID); !r.EndsAt.Equal(f.ends.Truncate(time.Microsecond)) || len(r.Uses) != 1 {
			t.Errorf("recorded: got %s and %v, want %s and what it uses up", r.EndsAt, r.Uses, f.ends)
		}
		tx, err := s.Abandon(t.Context(), b.ID, "a device is lost")
		if err != nil || !tx.Ends.Equal(f.ends) {
			t.Errorf("abandoned: got %v, %v, want its end", tx, err)
		}
		if _, err := s.Revoke(t.Context(), b.ID, refill.Request{Wallet: vault}); !errors.Is(err, refill.ErrEnds) {
			t.Errorf("revoked before its end: got %v, want ErrEnds", err)
		}
		f.ends = db.Now().Add(-time.Second)
		if _, err := s.Revoke(t.Context(), b.ID, refill.Request{Wallet: vault}); !errors.Is(err, refill.ErrEnded) {
			t.Errorf("revoked after its end: got %v, want ErrEnded", err)
		}
		if _, err := s.Own.Evaluate(b, db.Now()); !errors.Is(err, ceremony.ErrExpired) {
			t.Errorf("evaluated after its end: got %v, want ErrExpired", err)
		}
		f.ends = db.Now().Add(9 * 24 * time.Hour)
		if _, err := s.Own.Evaluate(b, db.Now()); !errors.Is(err, ceremony.ErrLasting) {
			t.Errorf("a transaction that outlasts bundles: got %v, want ErrLasting", err)
		}
		// What the chain says its time is counts: our clock is years beyond the end in each case.
		ends := state(t, s, b.ID).EndsAt
		for i, test := range []struct {
			block time.Time
			want  refill.Standing
		}{{time.Time{}, "abandoned"}, {ends.Add(-time.Minute), "abandoned"}, {ends.Add(time.Minute), "abandoned"},
			{ends.Add(2 * time.Hour), refill.Ended}} {
			if err := db.Do(t.Context(), func(tx *store.Tx) error {
				return errors.Join(tx.Chains().Ensure(t.Context(), bursar.Bitcoin), tx.Blocks().Push(t.Context(), bursar.Bitcoin,
					store.Block{Height: uint64(i), Hash: "h", Parent: "p", Time: test.block}, 0))
			}); err != nil {
				t.Fatal(err)
			}
			if got := standing(t, s, b.ID); got != test.want {
				t.Errorf("with a block of %s and an end at %s: got %s, want %s", test.block, ends, got, test.want)
			}
		}
	})
}

// Somebody else's copy with other signatures is another transaction with the same reservation: the refill can be in no
// block any more, and a reorg takes that back.
func TestARefillIsReplacedByAnotherTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, _ := newService(db)
		b := begin(t, s)
		b.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		spend := store.ColdSpend{Chain: "bitcoin", TxID: "other", Base: "cold", Height: 9, Lots: []byte("[]"),
			Uses: []string{"coin:0"}}
		put := func(x store.ColdSpend) {
			t.Helper()
			if err := db.Do(t.Context(), func(tx *store.Tx) error {
				if err := tx.Cold().PutSpend(t.Context(), x); err != nil {
					return err
				}
				return tx.Cold().SetSpend(t.Context(), x)
			}); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			txID   string
			booked bool
			want   refill.Standing
		}{{"other", false, "sent"}, {"other", true, refill.Replaced}, {"other", false, "sent"},
			{"id", false, "sent"}, {"id", true, refill.Failed}} {
			spend.TxID, spend.Booked = step.txID, step.booked
			put(spend)
			if got := standing(t, s, b.ID); got != step.want {
				t.Errorf("%s, booked %v: got %s, want %s", step.txID, step.booked, got, step.want)
			}
		}
		d := arrives(t, s, "id") // its fee is booked before what it paid: that is no failure
		if got := standing(t, s, b.ID); got != "sent" {
			t.Errorf("paid, and not booked yet: got %s, want sent", got)
		}
		become(t, s, d, bursar.DepositConfirmed)
		if got := standing(t, s, b.ID); got != refill.Booked {
			t.Errorf("booked: got %s, want booked", got)
		}
	})
}
