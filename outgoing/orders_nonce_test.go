package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/people"
)

// A client bounds the fee of its order, and the network's fee rises above that once it is sent: what waits behind its
// nonce is other customers' money. It is made void, and the client gets its money back.
func TestABoundOnTheFeeDoesNotBlockTheNoncesBehindIt(t *testing.T) {
	ordering(t, bumping(), func(t *testing.T, s *signing) {
		s.Fund()
		s.Pay(s.Wallet(1).Address, 1_000_000_000)
		s.Blocks(5)
		bound := s.order(10_000_000, s.Chain.Named("a"), time.Hour, 500_000)
		s.Step()
		s.Chain.SetRate(50) // no block includes it without a bump
		if got := s.Now(bound); got.TxID == "" {
			t.Fatalf("the one with a bound is %s, want it signed", got.Status)
		}
		w, err := s.Withdraw(1, 20_000_000, s.Chain.Named("outside"))
		s.Must(err)
		s.Trouble = true // it cannot be bumped
		s.Blocks(30)
		if got := s.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the one behind it is %s, want it paid", got)
			s.LogOpen(10)
		}
		if got := s.Now(bound); got.Status != bursar.WithdrawalFailed || !s.Chain.Balance(s.Chain.Named("a"), "").IsZero() {
			t.Errorf("the one with a bound is %s, want it refunded", got.Status)
		}
	})
}

// A key is revoked, and a transaction that pays an order of it is too cheap: the signer replaces it no more, and it
// must not block the nonces behind it.
func TestARevokedKeyDoesNotBlockTheNoncesBehindItsPayment(t *testing.T) {
	ordering(t, bumping(), func(t *testing.T, s *signing) {
		s.Fund()
		s.Pay(s.Wallet(1).Address, 1_000_000_000)
		s.Blocks(5)
		revoked := s.order(10_000_000, s.Chain.Named("a"), time.Hour, 0)
		s.Step()
		s.Chain.SetRate(50) // no block includes it without a bump
		public, err := orderkey.New(s.key.Public())
		s.Must(err)
		k := approval.OrderKey{Account: s.Accounts[0], ID: public.ID(), Revoke: true}
		_, err = people.KeyOnMachine(t.Context(), s.keeper, k, 0, "ann", s.clock.Now())
		s.Must(err)
		w, err := s.Withdraw(1, 20_000_000, s.Chain.Named("outside"))
		s.Must(err)
		s.Trouble = true // it cannot be bumped
		s.Blocks(30)
		if got := s.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the one behind it is %s, want it paid", got)
			s.LogOpen(10)
		}
		if got := s.Now(revoked).Status; got != bursar.WithdrawalFailed {
			t.Errorf("the one of the revoked key is %s, want it refunded", got)
		}
	})
}
