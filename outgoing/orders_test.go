package outgoing_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// signing is a harness whose first account signs its orders, at the service and at the signer.
type signing struct {
	*harness
	clock    *bursartest.Clock
	key      ed25519.PrivateKey
	keeper   memory.Keeper // of the signer
	instance string
	n        byte
}

// ordering runs a test on a chain where the first account signs its orders.
func ordering(t *testing.T, config sim.Config, test func(t *testing.T, s *signing)) {
	byClock(t, config, func(t *testing.T, r *harness, c *bursartest.Clock) {
		s := &signing{harness: r, clock: c, key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))}
		keeper := memory.NewRAM()
		s.keeper = keeper
		signs, err := signer.NewWithMemory(t.Context(), r.Keys.Keys, map[bursar.ChainID]signer.Bounds{config.ID: {
			Capabilities: r.Chain.Capabilities(), Signable: r.Chain, MaxFee: bursar.Units(1 << 30), Now: c.Now}}, keeper)
		r.Must(err)
		public, err := orderkey.New(s.key.Public())
		r.Must(err)
		r.Do(func(tx *store.Tx) error {
			return tx.OrderKeys().Insert(t.Context(), bursar.OrderKey{AccountID: r.Accounts[0], ID: public.ID(), Name: "shop",
				Public: public.String(), CreatedAt: tx.Now(), UsableFrom: tx.Now()})
		})
		k := approval.OrderKey{Account: r.Accounts[0], ID: public.ID(), Key: public.String(), Name: "shop"}
		_, err = people.KeyOnMachine(t.Context(), keeper, k, 0, "ann", c.Now())
		r.Must(err)
		carries := &relay.Relay{DB: r.DB, Registry: r.Registry}
		p, err := signs.Policy(t.Context())
		r.Must(errors.Join(err,
			carries.Note(t.Context(), store.PolicyText{Instance: p.Instance, Text: p.Text, Orders: p.Orders})))
		s.instance = p.Instance
		r.Sender.Signer, r.Sender.Orders = signs, carries.Orders
		test(t, s)
	})
}

// order has the first account order a payment.
func (s *signing) order(units uint64, to string, life time.Duration, maxFee uint64) bursar.Withdrawal {
	s.T.Helper()
	s.n++
	address, err := s.Chain.ParseAddress(to)
	s.Must(err)
	now := s.clock.Now().UTC().Truncate(time.Second)
	text := approval.Order{Instance: s.instance, Account: s.Accounts[0], ID: bursar.ID{9, s.n},
		Chain: s.Chain.Capabilities().ID, To: address, Units: bursar.Units(units), MaxFee: bursar.Units(maxFee),
		Created: now, Expires: now.Add(life)}.Text()
	signature, err := client.SignOrder(s.key, text)
	s.Must(err)
	w, err := s.Withdrawals.Request(s.T.Context(), withdrawal.Request{Account: s.Accounts[0], Currency: "COIN",
		Amount: s.Currency.Exact(bursar.Units(units)), Address: to,
		Order: withdrawal.Order{Text: text, Signature: signature}})
	s.Must(err)
	return w
}

func TestWhatAClientOrderedIsPaid(t *testing.T) {
	for name, config := range map[string]sim.Config{"batches": bursartest.UTXOModel, "expiring": bursartest.Expiring} {
		t.Run(name, func(t *testing.T) {
			ordering(t, config, func(t *testing.T, s *signing) {
				before, to := s.Prepare(), s.Chain.Named("outside")
				w := s.order(300_000_000, to, time.Hour, 0)
				s.Settle()
				s.Ends(w, to, bursar.WithdrawalConfirmed, before)
			})
		})
	}
}

// The signer signs an order in one flow of transactions. Where the chain proves that none of them can be included, the
// customer gets the money back and signs another order.
func TestAnOrderWhoseTransactionExpiredIsRefunded(t *testing.T) {
	ordering(t, bursartest.Expiring, func(t *testing.T, s *signing) {
		before, to := s.Prepare(), s.Chain.Named("outside")
		w := s.order(300_000_000, to, time.Hour, 0)
		s.Lose(12)
		s.Settle()
		s.Ends(w, to, bursar.WithdrawalFailed, before)
		if got := s.Now(w).Error; !strings.Contains(got, "sign another order") {
			t.Errorf("the customer reads %q, want to sign another order", got)
		}
		again := s.order(300_000_000, to, time.Hour, 0)
		s.Settle()
		s.Ends(again, to, bursar.WithdrawalConfirmed, before)
	})
}

// An external spend that somebody booked may have paid the order: it is not refunded before an operator says that it
// was another payment.
func TestAnOrderThatMayHaveBeenPaidIsNotRefunded(t *testing.T) {
	ordering(t, bursartest.Expiring, func(t *testing.T, s *signing) {
		s.Prepare()
		w := s.order(300_000_000, s.Chain.Named("outside"), time.Hour, 0)
		s.Lose(1)
		paid, err := json.Marshal([]chain.Payment{{Address: w.Address, Amount: w.Amount}})
		s.Must(err)
		s.Do(func(tx *store.Tx) error {
			return tx.ExternalSpends().Put(ctx, store.ExternalSpend{Chain: s.Chain.Capabilities().ID, TxID: "theirs", Height: 1,
				MadeAt: tx.Now(), Payments: paid, Reservations: []byte("[]"), Status: store.ExternalSettled})
		})
		s.Lose(12)
		s.Trouble = true
		s.Blocks(3)
		if now := s.Now(w); now.Status != bursar.WithdrawalQueued || !s.alarmed(recovery.AlarmUnclear) {
			t.Errorf("the order is %s: %s, want %s with an alarm", now.Status, now.Error, bursar.WithdrawalQueued)
		}
	})
}

// An order that was not signed in time is refunded once the signer says so, and in a batch alone.
func TestAnOrderThatWaitedTooLongIsRefunded(t *testing.T) {
	ordering(t, bursartest.UTXOModel, func(t *testing.T, s *signing) {
		before, to := s.Prepare(), s.Chain.Named("outside")
		late := s.order(100_000_000, s.Chain.Named("late"), time.Hour, 0)
		w := s.order(300_000_000, to, 48*time.Hour, 0)
		s.clock.Advance(2 * time.Hour)
		s.Settle()
		if got := s.Now(late); got.Status != bursar.WithdrawalFailed || !strings.Contains(got.Error, "expired") {
			t.Errorf("the late one is %s: %q, want it failed and refunded", got.Status, got.Error)
		}
		s.Ends(w, to, bursar.WithdrawalConfirmed, before)
		s.WantAlarms()
	})
}

// An order with a bound on its fee waits for a lower fee alone: it holds up nobody else.
func TestABoundOnTheFeeHoldsUpNobodyElse(t *testing.T) {
	ordering(t, bursartest.UTXOModel, func(t *testing.T, s *signing) {
		s.Fund()
		free := []bursar.Withdrawal{s.order(10_000_000, s.Chain.Named("a"), time.Hour, 0)}
		bound := s.order(20_000_000, s.Chain.Named("b"), time.Hour, 1)
		free = append(free, s.order(30_000_000, s.Chain.Named("c"), time.Hour, 0))
		s.Trouble = true // it waits
		s.Step()
		if got := s.Now(free[0]).TxID; got == "" {
			t.Error("the first without a bound waits for the one behind it, want it signed at once")
		}
		s.Blocks(12)
		for i, w := range free {
			if got := s.Now(w).Status; got != bursar.WithdrawalConfirmed {
				t.Errorf("number %d without a bound is %s, want it paid", i, got)
			}
		}
		if got := s.Now(bound); got.Status != bursar.WithdrawalQueued {
			t.Errorf("the one with a bound is %s, want it to wait", got.Status)
		}
	})
}

// The database says that an account has no keys, and the signer knows better: nothing of it is paid, and it holds up
// nobody else.
func TestTheSignerKnowsWhoseOrdersAreSigned(t *testing.T) {
	ordering(t, bursartest.UTXOModel, func(t *testing.T, s *signing) {
		s.Fund()
		s.Pay(s.Wallet(1).Address, 1_000_000_000)
		s.Blocks(5)
		public, err := orderkey.New(s.key.Public())
		s.Must(err)
		k := approval.OrderKey{Account: s.Accounts[1], ID: public.ID(), Key: public.String(), Name: "shop"}
		_, err = people.KeyOnMachine(t.Context(), s.keeper, k, 0, "ann", s.clock.Now())
		s.Must(err)
		unsigned, err := s.Withdraw(1, 10_000_000, s.Chain.Named("thief"))
		s.Must(err)
		w := s.order(20_000_000, s.Chain.Named("outside"), time.Hour, 0)
		s.Trouble = true // an alarm is raised
		s.Blocks(12)
		if got := s.Now(unsigned); got.Status != bursar.WithdrawalQueued ||
			!s.Chain.Balance(s.Chain.Named("thief"), "").IsZero() {
			t.Errorf("what nobody signed is %s, want it to wait", got.Status)
		}
		if got := s.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the order is %s, want it paid", got)
		}
		s.WantAlarms("signer_refused")
	})
}

// Orders that the signer refuses, as those of a key that was revoked there, take no places of a currency: a customer
// with more of them than places would stop the payments of all others.
func TestRefusedOrdersTakeNoPlaces(t *testing.T) {
	config := bursartest.UTXOModel
	config.MaxPending, config.MaxPayments = 3, 1
	ordering(t, config, func(t *testing.T, s *signing) {
		s.Fund()
		s.Pay(s.Wallet(1).Address, 1_000_000_000)
		s.Blocks(5)
		public, err := orderkey.New(s.key.Public())
		s.Must(err)
		k := approval.OrderKey{Account: s.Accounts[0], ID: public.ID(), Revoke: true}
		_, err = people.KeyOnMachine(t.Context(), s.keeper, k, 0, "ann", s.clock.Now())
		s.Must(err)
		for range 5 {
			s.order(10_000_000, s.Chain.Named("a"), time.Hour, 0)
		}
		w, err := s.Withdraw(1, 20_000_000, s.Chain.Named("outside"))
		s.Must(err)
		s.Trouble = true // alarms are raised
		s.Blocks(12)
		if got := s.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the payment of another account is %s, want it paid", got)
		}
	})
}

// An order bounds its fee, and fees never fall that low: when it has expired, the signer says that it never signed it,
// and the client gets the money back. Until then it waits.
func TestAnOrderWhoseFeeIsNeverMetEndsWithItsTime(t *testing.T) {
	for name, config := range map[string]sim.Config{"batches": bursartest.UTXOModel, "nonces": bumping()} {
		t.Run(name, func(t *testing.T) {
			ordering(t, config, func(t *testing.T, s *signing) {
				before, to := s.Prepare(), s.Chain.Named("outside")
				w := s.order(20_000_000, to, time.Hour, 1)
				s.Trouble = true // it waits
				s.Blocks(3)
				s.clock.Advance(time.Hour + time.Minute)
				s.Blocks(3)
				waits, err := s.Withdrawals.Waits(t.Context(), w.ID)
				s.Must(err)
				if waits[w.ID] != bursar.WaitsForFee {
					t.Errorf("it waits for %q, want %q", waits[w.ID], bursar.WaitsForFee)
				}
				if got := s.Now(w); got.Status != bursar.WithdrawalQueued {
					t.Fatalf("within what clocks may differ it is %s, want it to wait", got.Status)
				}
				s.clock.Advance(2 * time.Minute)
				s.Blocks(3)
				s.Trouble = false
				s.Ends(w, to, bursar.WithdrawalFailed, before)
				if got := s.Now(w).Error; !strings.Contains(got, "expired") {
					t.Errorf("the customer reads %q, want that the order expired", got)
				}
				s.WantAlarms()
			})
		})
	}
}

// The signer's clock is behind: the service's alone ends no order, and nothing is signed above its bound.
func TestOnlyTheSignerEndsAnOrder(t *testing.T) {
	ordering(t, bursartest.UTXOModel, func(t *testing.T, s *signing) {
		before, to := s.Prepare(), s.Chain.Named("outside")
		w := s.order(20_000_000, to, time.Hour, 1)
		s.Trouble = true // it waits
		signs := s.Sender.Signer
		behind := &observed{Signer: signs, err: &signer.RefusalError{Reason: signer.ReasonOrderOnce, Detail: "it was signed"}}
		s.Sender.Signer = behind
		s.Step()
		behind.outgoingID = s.Now(w).OutgoingID
		s.clock.Advance(2 * time.Hour)
		s.Blocks(3)
		if got := s.Now(w); got.Status != bursar.WithdrawalQueued || behind.asked == 0 {
			t.Errorf("it is %s after the signer was asked %d times, want it to wait for the signer", got.Status, behind.asked)
		}
		s.Sender.Signer = signs
		s.Blocks(3)
		s.Trouble = false
		s.Ends(w, to, bursar.WithdrawalFailed, before)
	})
}

// A payment that the database has forgotten is signed again with its order: the signer may lack it, as where the
// process ended between the journal and the signer.
func TestAForgottenPaymentIsPutBackWithItsOrder(t *testing.T) {
	ordering(t, bursartest.UTXOModel, func(t *testing.T, s *signing) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		s.Guarded(file)
		s.Prepare()
		s.Settle()
		w := s.order(300_000_000, s.Chain.Named("receiver"), time.Hour, 0)
		before, signs := s.Backup(), s.Sender.Signer
		s.Step()
		s.Chain.Forget()
		s.Revive(before, file)
		waiting := s.waitingToBePutBack()
		if len(waiting) != 1 {
			t.Fatalf("%d payments are forgotten, want one", len(waiting))
		}
		carries := &relay.Relay{DB: s.DB, Registry: s.Registry}
		s.Must(carries.Note(t.Context(), store.PolicyText{Instance: s.instance, Orders: true}))
		s.Sender.Orders = carries.Orders
		var got []chain.Order
		s.Sender.Signer = &observed{Signer: signs, outgoingID: waiting[0].OutgoingID,
			before: func(_ chain.TxRequest, unsigned chain.UnsignedTx) { got = unsigned.Orders }}
		s.Step()
		if len(got) != 1 || got[0].Signature == "" {
			t.Errorf("the signer got the orders %+v, want the one that the client signed", got)
		}
		s.Settle()
		s.holdsOnce(w)
	})
}
