package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// noWay checks that nothing is being made void, and that no alarm is raised about it.
func (r *harness) noWay() {
	r.T.Helper()
	if list := r.fillers(); len(list) > 0 {
		r.T.Errorf("something is made void: %+v", list)
	}
	r.wantNone("nonce_blocked")
}

// A held payment is not made void for a transaction that waits for another reason than its nonce: the other currency is
// halted too, its nonce is lower, or it has none yet.
func TestNothingIsVoidedForATransactionThatWaitsForSomethingElse(t *testing.T) {
	for name, behind := range map[string]func(r *harness){
		"of the same currency": func(r *harness) { r.OrderOf(0, "TOKEN", 500, r.Chain.Named("another")) },
		"not built": func(r *harness) {
			r.Sender.Chain = unbuilt{r.Chain}
			r.Order(100_000_000, r.Chain.Named("another"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bumping(), func(t *testing.T, r *harness) {
				held := r.jammed(false)
				behind(r)
				if name == "of the same currency" {
					r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
					r.Step()
				}
				r.Halt(shortToken())
				for range 6 {
					r.Chain.Mine(1)
					r.Step()
					r.noWay()
				}
				r.Sender.Chain = r.Chain
				r.Chain.ClearFaults()
				r.Resume(shortToken())
				r.Settle()
				if now := r.Now(held); now.Status != bursar.WithdrawalConfirmed {
					t.Errorf("the withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
				}
			})
		})
	}
	t.Run("of a lower nonce", func(t *testing.T) {
		each(t, bumping(), func(t *testing.T, r *harness) {
			r.WithTokens()
			r.Fund()
			r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
			r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
			r.Settle()
			r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
			r.Trouble = true
			r.Order(100_000_000, r.Chain.Named("before"))
			r.Step()
			held := r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("held"))
			r.Step()
			if r.Now(held).TxID == "" {
				t.Fatal("it is not signed")
			}
			r.Halt(shortToken())
			for range 6 {
				r.Chain.Mine(1)
				r.Step()
				r.noWay()
			}
			r.Chain.ClearFaults()
			r.Resume(shortToken())
			r.Settle()
		})
	})
}

// unbuilt is a chain that builds nothing new.
type unbuilt struct{ *sim.Chain }

func (unbuilt) Build(context.Context, chain.TxRequest) (chain.UnsignedTx, error) {
	return chain.UnsignedTx{}, sim.ErrNode
}

// If another currency's payment waits behind a second payment of the halted currency, the held payment is made void for
// it.
func TestAHeldPaymentIsVoidedForTransactionsFurtherBehind(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		second := r.OrderOf(0, "TOKEN", 500, r.Chain.Named("another who wants tokens"))
		r.Step()
		r.Chain.ClearFaults()
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Blocks(40)
		r.holdsOnce(w)
		for _, token := range []bursar.Withdrawal{held, second} {
			if now := r.Now(token); now.Status != bursar.WithdrawalQueued {
				t.Errorf("a payment of TOKEN is %s, want %s", now.Status, bursar.WithdrawalQueued)
			}
		}
		r.Resume(shortToken())
		r.Settle()
		if got := r.tokensOf("another who wants tokens"); got != second.Amount {
			t.Errorf("%s units of TOKEN were paid of %s", got, second.Amount)
		}
	})
}

// On a chain whose transactions expire, a held one frees its nonce by itself: nothing makes it void.
func TestAnExpiringPaymentIsNotVoidedForOthers(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		for range 15 {
			r.Chain.Mine(1)
			r.Step()
			r.noWay()
		}
		r.holdsOnce(w)
		r.Resume(shortToken())
		r.Settle()
		if got := r.tokensOf("one who wants tokens"); got != held.Amount {
			t.Errorf("%s units of TOKEN were paid of %s", got, held.Amount)
		}
	})
}

// On a chain whose wallets share one address there is none to send the nonce's unit to: an alarm says what waits behind
// what.
func TestOnASharedAddressAnAlarmSaysWhatIsHeldUp(t *testing.T) {
	config := memoed
	config.BumpAfter = 3
	each(t, config, func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Blocks(5)
		if list := r.fillers(); len(list) > 0 {
			t.Errorf("it is made void by %+v, want none", list)
		}
		r.View(func(tx *store.Tx) error {
			open, err := tx.Alarms().OfKind(ctx, "nonce_blocked")
			if err == nil && (len(open) != 1 || !strings.Contains(open[0].Message, "the chain has no address for that") ||
				!strings.Contains(open[0].Message, r.Now(held).OutgoingID.String())) {
				t.Errorf("the alarms are %+v", open)
			}
			return err
		})
		r.Resume(shortToken())
		r.Settle()
		r.wantNone("nonce_blocked")
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", now.Status, bursar.WithdrawalConfirmed)
		}
	})
}

// adoptedToken has a payment of TOKEN adopted from a block, and returns it as it was and as it is.
func (r *harness) adoptedToken() (token, now bursar.Withdrawal) {
	r.T.Helper()
	r.WithTokens()
	r.Prepare()
	r.Pay(r.Wallet(0).Address, 1_000_000_000)
	r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
	r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
	r.Settle()
	token = r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("one who wants tokens"))
	before := r.Backup()
	r.Step()
	r.Chain.Mine(1)
	r.Restore(before)
	r.WithTokens()
	r.Step()
	now = r.Now(token)
	if now.TxID == "" || len(r.version(now.TxID).Raw) > 0 {
		r.T.Fatalf("it was not adopted: %+v", now)
	}
	return token, now
}

// A payment of a halted currency whose bytes are not known, because its block was reorged out, does not hold up other
// currencies either.
func TestAnAdoptedPaymentOfAHaltedCurrencyHoldsUpNoOther(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		token, first := r.adoptedToken()
		r.vanishes(first.TxID)
		r.Halt(shortToken())
		r.Recovered()
		r.waitedFor(first.OutgoingID)
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Blocks(20)
		r.holdsOnce(w)
		if now := r.Now(token); now.Status != bursar.WithdrawalQueued || now.OutgoingID == first.OutgoingID {
			t.Errorf("the payment of TOKEN is %s", now.Status)
		}
		r.Resume(shortToken())
		r.Settle()
		if got := r.tokensOf("one who wants tokens"); got != token.Amount {
			t.Errorf("%s units of TOKEN were paid of %s", got, token.Amount)
		}
	})
}

// If, before the voiding transaction is requested, the halt has ended or the held payment is in a block, nothing is
// requested.
func TestNothingIsVoidedAfterTheHaltHasEnded(t *testing.T) {
	for name, meanwhile := range map[string]func(r *harness, held bursar.Withdrawal){
		"nothing":            nil,
		"the halt has ended": func(r *harness, _ bursar.Withdrawal) { r.Resume(shortToken()) },
		"it is in a block": func(r *harness, held bursar.Withdrawal) {
			r.Do(func(tx *store.Tx) error {
				return tx.Outgoing().Include(ctx, held.OutgoingID, held.TxID, r.height(), false, bursar.Units(1))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				armed, looks := false, false
				then := func() {}
				r := newHarness(t, db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
					looks = looks || armed && at == store.Running && strings.Contains(what, "ORDER BY s.number") &&
						strings.Contains(what, "s.id <>")
					if at == store.Ended && looks {
						armed, looks = false, false
						then()
					}
					return nil
				}}), bumping())
				held := r.Now(r.jammed(false))
				r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
				r.Order(100_000_000, r.Chain.Named("coin"))
				r.Step()
				r.Halt(shortToken())
				if armed = true; meanwhile != nil {
					then = func() { meanwhile(r, held) }
				}
				_ = r.Sender.Step(ctx, r.Lease)
				if armed {
					t.Fatal("nobody looked for what waits")
				}
				if n := len(r.fillers()); (n == 0) != (meanwhile != nil) {
					t.Errorf("%d transactions are to make it void", n)
				}
			})
		})
	}
}
