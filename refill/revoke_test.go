package refill_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func standing(t *testing.T, s *refill.Service, id bursar.ID) (got refill.Standing) {
	t.Helper()
	r := state(t, s, id)
	if err := s.DB.View(t.Context(), func(tx *store.Tx) (err error) {
		got, err = refill.StandingOf(t.Context(), tx, r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// arrives records that the transaction of a refill has paid the hot wallet, in a block.
func arrives(t *testing.T, s *refill.Service, txID string) (d bursar.Deposit) {
	t.Helper()
	d = bursar.Deposit{ID: bursar.ID{7}, Purpose: bursar.ForRefill, Currency: "BTC", Chain: bursar.Bitcoin, TxID: txID,
		Address: bursar.Address{Base: "home"}, Amount: bursar.Units(5), Height: 9, BlockHash: "b", SeenAt: s.DB.Now()}
	if err := s.DB.Do(t.Context(), func(tx *store.Tx) (err error) {
		if _, _, err = tx.Deposits().Record(t.Context(), store.NewDeposit{Deposit: d}); err != nil {
			return err
		}
		d, err = tx.Deposits().ByID(t.Context(), d.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

func become(t *testing.T, s *refill.Service, d bursar.Deposit, next bursar.DepositStatus) bursar.Deposit {
	t.Helper()
	if err := s.DB.Do(t.Context(), func(tx *store.Tx) (err error) {
		if err = tx.Deposits().SetStatus(t.Context(), d, next); err != nil {
			return err
		}
		d, err = tx.Deposits().ByID(t.Context(), d.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

// A refill is shown as revoked only while a final block holds the one that uses up what it would.
func TestARefillIsRevokedByTheFinalChain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, _ := newService(db)
		old := begin(t, s)
		want := func(when string, id bursar.ID, want refill.Standing) {
			t.Helper()
			if got := standing(t, s, id); got != want {
				t.Errorf("%s: got %s, want %s", when, got, want)
			}
		}
		revoke := refill.Request{Wallet: vault, Actor: "bob"}
		if _, err := s.Revoke(t.Context(), old.ID, revoke); !errors.Is(err, refill.ErrNotAbandoned) {
			t.Errorf("an open one: got %v, want ErrNotAbandoned", err)
		}
		if _, err := s.Abandon(t.Context(), old.ID, "a device is lost"); err != nil {
			t.Fatal(err)
		}
		want("abandoned", old.ID, "abandoned")
		b, err := s.Revoke(t.Context(), old.ID, revoke)
		if err != nil {
			t.Fatal(err)
		}
		if r := state(t, s, b.ID); r.Revokes != old.ID.String() || r.Amount != old.Payment.Amount || r.Actor != "bob" {
			t.Errorf("got %+v, want a refill of the same amount that names the other", r)
		}
		want("with somebody", old.ID, refill.Revoking)
		b.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		want("sent", old.ID, refill.Revoking)
		stuck, err := s.Revoke(t.Context(), b.ID, revoke)
		if err != nil {
			t.Fatalf("a sent one that is not final: got %v, want a refill that revokes it", err)
		}
		want("with somebody", b.ID, refill.Revoking)
		if _, err := s.Abandon(t.Context(), stuck.ID, "it went through"); err != nil {
			t.Fatal(err)
		}
		want("the other was abandoned", b.ID, "sent")
		d := arrives(t, s, "id")
		want("in a block that is not final", old.ID, refill.Revoking)
		d = become(t, s, d, bursar.DepositConfirmed)
		want("final", old.ID, refill.Revoked)
		want("final", b.ID, refill.Booked)
		if _, err := s.Revoke(t.Context(), b.ID, revoke); !errors.Is(err, refill.ErrNothingToRevoke) {
			t.Errorf("a final one: got %v, want ErrNothingToRevoke", err)
		}
		become(t, s, d, bursar.DepositReversed)
		want("reorged out", old.ID, refill.Revoking)
		want("reorged out", b.ID, "sent")
	})
}

// A refill whose nonce or outputs are used up cannot be broadcast any more, and a new one would revoke nothing.
func TestWhatIsUsedUpIsNotRevoked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		old := begin(t, s)
		if _, err := s.Abandon(t.Context(), old.ID, "late"); err != nil {
			t.Fatal(err)
		}
		other := vault
		other.Addresses = []string{"another"}
		if _, err := s.Revoke(t.Context(), old.ID, refill.Request{Wallet: other}); err == nil {
			t.Error("from another wallet: got no error, want one")
		}
		f.next = "coin:1"
		_, err := s.Revoke(t.Context(), old.ID, refill.Request{Wallet: vault})
		if !errors.Is(err, refill.ErrNothingToRevoke) {
			t.Errorf("used up: got %v, want ErrNothingToRevoke", err)
		}
		if got := standing(t, s, old.ID); got != "abandoned" {
			t.Errorf("got %s, want abandoned", got)
		}
		begin(t, s) // nothing was recorded that would be open
	})
}

// A wallet that has another nonce account since says nothing of the nonce of a bundle, which stays usable for ever:
// that it is used up would be a lie.
func TestAnotherNonceAccountRevokesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		s.Own.Kinds = []bursar.ColdKind{bursar.ColdNonce}
		durable := bursar.ColdWallet{Chain: "bitcoin", Name: "vault", Kind: bursar.ColdNonce, Addresses: []string{"cold"},
			NonceAccount: "first"}
		old, err := s.Begin(t.Context(), refill.Request{Wallet: durable, Amount: "0.5"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Abandon(t.Context(), old.ID, "late"); err != nil {
			t.Fatal(err)
		}
		f.next, durable.NonceAccount = "coin:1", "second"
		_, err = s.Revoke(t.Context(), old.ID, refill.Request{Wallet: durable})
		if err == nil || errors.Is(err, refill.ErrNothingToRevoke) {
			t.Errorf("got %v, want that the wallet is configured otherwise", err)
		}
	})
}

// A refill that was built at the highest fee cannot be replaced at a higher fee. One that was never sent from here is
// revoked at the market's price; one that nodes may have is not, because they would refuse it.
func TestARefillAtTheHighestFeeIsRevoked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		f.capped = &chain.FeeLimitError{Fee: bursar.Units(11), Limit: bursar.Units(10)}
		old := begin(t, s)
		if _, err := s.Abandon(t.Context(), old.ID, "a device is lost"); err != nil {
			t.Fatal(err)
		}
		b, err := s.Revoke(t.Context(), old.ID, refill.Request{Wallet: vault})
		if err != nil {
			t.Fatalf("an abandoned one: got %v, want a refill that revokes it", err)
		}
		b.Bytes = []byte("2")
		if _, err := s.Broadcast(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Revoke(t.Context(), b.ID, refill.Request{Wallet: vault}); !errors.Is(err, f.capped) {
			t.Errorf("a sent one: got %v, want %v", err, f.capped)
		}
	})
}

// A refill that waits is revoked by one that waits too: nodes that have the second want a higher price than its own.
func TestASecondRevocationOffersMoreThanTheFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, f := newService(db)
		old := begin(t, s)
		send := func(b ceremony.Bundle, txID string) {
			t.Helper()
			b.Bytes, f.txID = []byte("2"), txID
			if _, err := s.Broadcast(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		send(old, "first")
		revoke := func(built string) ceremony.Bundle {
			t.Helper()
			f.built = built
			b, err := s.Revoke(t.Context(), old.ID, refill.Request{Wallet: vault})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		lost := revoke("1")
		if f.replaces != "0" {
			t.Errorf("the first is to replace %q, want the refill", f.replaces)
		}
		if _, err := s.Abandon(t.Context(), lost.ID, "late"); err != nil {
			t.Fatal(err)
		}
		send(revoke("5"), "second")
		if f.replaces != "0" {
			t.Errorf("after one that was abandoned: it is to replace %q, want the refill", f.replaces)
		}
		revoke("6")
		if f.replaces != "5" {
			t.Errorf("it is to replace %q, want the revocation that was sent", f.replaces)
		}
	})
}
