package outgoing_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// bumping is an account-model chain on which fees are bumped soon.
func bumping() sim.Config {
	config := numbered
	config.BumpAfter = 3
	return config
}

// jammed has a payment of TOKEN signed, and sent at a fee that is too low or not sent at all.
func (r *harness) jammed(sent bool) bursar.Withdrawal {
	r.t.Helper()
	r.withTokens()
	r.fund()
	r.give("TOKEN", bursar.Address{Base: r.hot.Base}, 100_000)
	r.give("TOKEN", r.walletOf(0, "TOKEN").Address, 100_000)
	r.settle()
	w := r.orderOf(0, "TOKEN", 1_000, r.chain.Named("one who wants tokens"))
	r.trouble = true
	if sent {
		r.step()
		r.chain.SetRate(50) // no block takes it without a bump
	} else {
		r.chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.step()
		r.chain.ClearFaults()
	}
	return w
}

func (r *harness) tokensOf(name string) bursar.Amount {
	token, err := r.registry.Get("TOKEN")
	r.must(err)
	return r.chain.Balance(r.chain.Named(name), token.Contract)
}

func shortToken() store.Halt {
	return store.Halt{Scope: store.HaltCurrency("TOKEN"), Kind: store.HaltByShortPayout, Ref: "x", Reason: "it was short"}
}

// A transaction of a halted currency holds up no other currency: neither signed bytes that are held, nor sent ones that
// may not be bumped, keep the nonces behind them out of blocks. Nothing of the halted currency is paid meanwhile, and
// afterwards it is paid once.
func TestAHaltedCurrencyHoldsUpNoOther(t *testing.T) {
	for name, sent := range map[string]bool{"signed and not sent": false, "sent at a low fee": true} {
		t.Run(name, func(t *testing.T) {
			each(t, bumping(), func(t *testing.T, r *harness) {
				held := r.jammed(sent)
				r.halt(shortToken())
				w := r.order(100_000_000, r.chain.Named("coin"))
				r.blocks(30)
				if got := r.chain.Balance(r.chain.Named("coin"), ""); got != w.Amount {
					t.Errorf("of COIN, which is not halted, %s was paid; the withdrawal is %s", got, r.now(w).Status)
					r.logOpen(10)
				}
				if got := r.tokensOf("one who wants tokens"); !got.IsZero() {
					t.Errorf("%s units of the halted TOKEN were paid", got)
				}
				if got := r.now(held).Status; got != bursar.WithdrawalQueued {
					t.Errorf("the payment of TOKEN is %s", got)
				}
				r.resume(shortToken())
				r.settle()
				if got := r.tokensOf("one who wants tokens"); got != held.Amount {
					t.Errorf("after the halt %s units of TOKEN were paid of %s", got, held.Amount)
				}
				r.nothingOpen()
				r.must(r.chain.Check())
				r.must(r.reconcile())
				if r.alarmed("nonce_blocked") {
					t.Error("the alarm is open although nothing is held up")
				}
			})
		})
	}
}

// The bytes of a held payment may have been sent before their process ended: if they are included before the voiding
// transaction, they count, and nobody is paid twice.
func TestAHeldPaymentThatIsIncludedAfterAllCounts(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		out := r.version(r.now(held).TxID)
		r.halt(shortToken())
		w := r.order(100_000_000, r.chain.Named("coin"))
		r.chain.FailBroadcasts(sim.LostUnknown, 2) // no node gets the voiding transaction
		for range 2 {
			r.step()
		}
		if got := len(r.fillers()); got != 1 {
			t.Fatalf("%d transactions are to make it void", got)
		}
		r.chain.ClearFaults()
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, out))
		r.chain.Mine(1)
		r.blocks(12)
		if got := r.tokensOf("one who wants tokens"); got != held.Amount || r.now(held).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s units of TOKEN were paid, and the withdrawal is %s", got, r.now(held).Status)
		}
		if got := r.chain.Balance(r.chain.Named("coin"), ""); got != w.Amount {
			t.Errorf("of COIN %s was paid", got)
		}
		r.nothingOpen()
		r.must(r.chain.Check())
		r.must(r.reconcile())
	})
}

// fillers returns the open voiding transactions.
func (r *harness) fillers() (list []bursar.OutgoingTx) {
	for _, p := range r.open() {
		request, err := outgoing.DecodeRequest(p)
		r.must(err)
		if request.Kind == chain.KindGasTopUp {
			list = append(list, p)
		}
	}
	return list
}

// If a reorg removes the voiding transaction from its block before that is final, and the held payment is included on
// the other branch, the payment counts, and nobody is paid twice.
func TestAHeldPaymentIsIncludedAfterAReorg(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		out := r.version(r.now(held).TxID)
		r.halt(shortToken())
		w := r.order(100_000_000, r.chain.Named("coin"))
		r.step()
		r.step()
		r.blocks(1)
		filler := r.fillers()
		if len(filler) != 1 || filler[0].Height == 0 {
			t.Fatalf("the voiding transaction is in no block: %+v", filler)
		}
		r.undo(filler[0].TxID, filler[0].TxID)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, out))
		r.chain.Mine(1)
		r.blocks(12)
		if got := r.tokensOf("one who wants tokens"); got != held.Amount || r.now(held).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s units of TOKEN were paid, and the withdrawal is %s", got, r.now(held).Status)
		}
		if got := r.chain.Balance(r.chain.Named("coin"), ""); got != w.Amount {
			t.Errorf("of COIN %s was paid", got)
		}
		r.nothingOpen()
		r.must(r.chain.Check())
		r.must(r.reconcile())
	})
}

// A held payment that no transaction of another currency waits behind stays as it is, and is sent after the halt.
func TestAHeldPaymentThatBlocksNothingIsKept(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		before := r.now(held).TxID
		r.halt(shortToken())
		r.blocks(10)
		r.resume(shortToken())
		r.settle()
		if now := r.now(held); now.TxID != before || now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("it is %s by %s, and was signed as %s", now.Status, now.TxID, before)
		}
	})
}

// If nothing can make it void, because the native asset itself is halted, an alarm says what waits behind what, and
// names the command that ends the halt. It closes automatically.
func TestTransactionsHeldUpByTheNativeAssetsHaltRaiseAnAlarm(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		r.withTokens()
		r.fund()
		r.give("TOKEN", bursar.Address{Base: r.hot.Base}, 100_000)
		r.give("TOKEN", r.walletOf(0, "TOKEN").Address, 100_000)
		r.settle()
		w := r.order(100_000_000, r.chain.Named("coin"))
		r.trouble = true
		r.chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.step()
		r.chain.ClearFaults()
		r.halt(byAnn(store.HaltCurrency("COIN")))
		token := r.orderOf(0, "TOKEN", 1_000, r.chain.Named("one who wants tokens"))
		r.blocks(3)
		r.view(func(tx *store.Tx) error {
			open, err := tx.Alarms().OfKind(ctx, "nonce_blocked")
			if err == nil && (len(open) != 1 || !strings.Contains(open[0].Message, "`bursar currency resume COIN`") ||
				!strings.Contains(open[0].Message, r.now(token).OutgoingID.String()) ||
				!strings.Contains(open[0].Message, r.now(w).OutgoingID.String())) {
				t.Errorf("the alarms are %+v", open)
			}
			return err
		})
		r.resume(byAnn(store.HaltCurrency("COIN")))
		r.settle()
		if r.alarmed("nonce_blocked") {
			t.Error("the alarm is still open")
		}
		if got := r.tokensOf("one who wants tokens"); got != token.Amount {
			t.Errorf("%s units of TOKEN were paid", got)
		}
	})
}

// A voiding transaction that a failover forgets after it was signed is put back from the journal: it voids the held
// payment as before, which is paid again after the halt, and so are payments that were not forgotten.
func TestAVoidingTransactionIsPutBackFromTheJournal(t *testing.T) {
	for name, sent := range map[string]bool{"signed and not sent": false, "sent at a low fee": true} {
		t.Run(name, func(t *testing.T) {
			each(t, bumping(), func(t *testing.T, r *harness) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				held := r.jammed(sent)
				r.guarded(file)
				r.halt(shortToken())
				w := r.order(100_000_000, r.chain.Named("coin"))
				before := r.backup()
				for n := 0; n < 12 && len(r.fillers()) == 0; n++ {
					r.blocks(1)
				}
				r.step()
				list := r.fillers()
				if len(list) != 1 || list[0].Status != bursar.OutgoingSent && list[0].Status != bursar.OutgoingSigned {
					t.Fatalf("the voiding transaction is %+v", list)
				}
				g := r.revive(before, file)
				r.withTokens()
				r.takeLease(g)
				r.trouble = true
				r.chain.Forget() // no node has it until it is put back and sent
				r.step()
				r.blocks(40)
				if got := r.chain.Balance(r.chain.Named("coin"), ""); got != w.Amount {
					t.Errorf("of COIN, which is not halted, %s was paid; the withdrawal is %s", got, r.now(w).Status)
				}
				if now := r.now(held).Status; now != bursar.WithdrawalQueued {
					t.Errorf("the payment of TOKEN, whose nonce is used, is %s", now)
				}
				r.resume(shortToken())
				r.blocks(20)
				if got := r.tokensOf("one who wants tokens"); got != held.Amount {
					t.Errorf("after the halt %s units of TOKEN were paid of %s", got, held.Amount)
					r.logOpen(10)
				}
				r.nothingOpen()
				r.must(r.chain.Check())
				r.must(r.reconcile())
			})
		})
	}
}
