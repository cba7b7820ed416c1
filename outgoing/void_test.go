package outgoing_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// bumping is an account-model chain on which fees are bumped soon.
func bumping() sim.Config {
	config := bursartest.Numbered
	config.BumpAfter = 3
	return config
}

// jammed has a payment of TOKEN signed, and sent at a fee that is too low or not sent at all.
func (r *harness) jammed(sent bool) bursar.Withdrawal {
	r.T.Helper()
	r.WithTokens()
	r.Fund()
	r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
	r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
	r.Settle()
	w := r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("one who wants tokens"))
	r.Trouble = true
	if sent {
		r.Step()
		r.Chain.SetRate(50) // no block includes it without a bump
	} else {
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Step()
		r.Chain.ClearFaults()
	}
	return w
}

func (r *harness) tokensOf(name string) bursar.Amount {
	token, err := r.Registry.Get("TOKEN")
	r.Must(err)
	return r.Chain.Balance(r.Chain.Named(name), token.Contract)
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
				r.Halt(shortToken())
				w := r.Order(100_000_000, r.Chain.Named("coin"))
				r.Blocks(30)
				if got := r.Chain.Balance(r.Chain.Named("coin"), ""); got != w.Amount {
					t.Errorf("of COIN, which is not halted, %s was paid; the withdrawal is %s", got, r.Now(w).Status)
					r.LogOpen(10)
				}
				if got := r.tokensOf("one who wants tokens"); !got.IsZero() {
					t.Errorf("%s units of the halted TOKEN were paid, want 0", got)
				}
				if got := r.Now(held).Status; got != bursar.WithdrawalQueued {
					t.Errorf("the payment of TOKEN is %s, want %s", got, bursar.WithdrawalQueued)
				}
				r.Resume(shortToken())
				r.Settle()
				if got := r.tokensOf("one who wants tokens"); got != held.Amount {
					t.Errorf("after the halt %s units of TOKEN were paid of %s", got, held.Amount)
				}
				r.NothingOpen()
				r.Must(r.Chain.Check())
				r.Must(r.Reconcile())
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
		out := r.version(r.Now(held).TxID)
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Chain.FailBroadcasts(sim.LostUnknown, 2) // no node gets the voiding transaction
		for range 2 {
			r.Step()
		}
		if got := len(r.fillers()); got != 1 {
			t.Fatalf("%d transactions are to make it void, want 1", got)
		}
		r.Chain.ClearFaults()
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, out))
		r.Chain.Mine(1)
		r.Blocks(12)
		if got := r.tokensOf("one who wants tokens"); got != held.Amount || r.Now(held).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s units of TOKEN were paid, and the withdrawal is %s, want %s and %s",
				got, r.Now(held).Status, held.Amount, bursar.WithdrawalConfirmed)
		}
		if got := r.Chain.Balance(r.Chain.Named("coin"), ""); got != w.Amount {
			t.Errorf("of COIN %s was paid, want %s", got, w.Amount)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// fillers returns the open voiding transactions.
func (r *harness) fillers() (list []bursar.OutgoingTx) {
	for _, p := range r.Open() {
		request, err := outgoing.DecodeRequest(p)
		r.Must(err)
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
		out := r.version(r.Now(held).TxID)
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Step()
		r.Step()
		r.Blocks(1)
		filler := r.fillers()
		if len(filler) != 1 || filler[0].Height == 0 {
			t.Fatalf("the voiding transaction is in no block: %+v", filler)
		}
		r.Undo(filler[0].TxID, filler[0].TxID)
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, out))
		r.Chain.Mine(1)
		r.Blocks(12)
		if got := r.tokensOf("one who wants tokens"); got != held.Amount || r.Now(held).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s units of TOKEN were paid, and the withdrawal is %s, want %s and %s",
				got, r.Now(held).Status, held.Amount, bursar.WithdrawalConfirmed)
		}
		if got := r.Chain.Balance(r.Chain.Named("coin"), ""); got != w.Amount {
			t.Errorf("of COIN %s was paid, want %s", got, w.Amount)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// A held payment that no transaction of another currency waits behind stays as it is, and is sent after the halt.
func TestAHeldPaymentThatBlocksNothingIsKept(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		held := r.jammed(false)
		before := r.Now(held).TxID
		r.Halt(shortToken())
		r.Blocks(10)
		r.Resume(shortToken())
		r.Settle()
		if now := r.Now(held); now.TxID != before || now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s by %s, and was signed as %s", now.Status, now.TxID, before)
		}
	})
}

// If nothing can make it void, because the native asset itself is halted, an alarm says what waits behind what, and
// names the command that ends the halt. It closes automatically.
func TestTransactionsHeldUpByTheNativeAssetsHaltRaiseAnAlarm(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		r.WithTokens()
		r.Fund()
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 100_000)
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100_000)
		r.Settle()
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Step()
		r.Chain.ClearFaults()
		r.Halt(byAnn(store.HaltCurrency("COIN")))
		token := r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("one who wants tokens"))
		r.Blocks(3)
		r.View(func(tx *store.Tx) error {
			open, err := tx.Alarms().OfKind(ctx, "nonce_blocked")
			if err == nil && (len(open) != 1 || !strings.Contains(open[0].Message, "`bursar currency resume COIN`") ||
				!strings.Contains(open[0].Message, r.Now(token).OutgoingID.String()) ||
				!strings.Contains(open[0].Message, r.Now(w).OutgoingID.String())) {
				t.Errorf("the alarms are %+v", open)
			}
			return err
		})
		r.Resume(byAnn(store.HaltCurrency("COIN")))
		r.Settle()
		if r.alarmed("nonce_blocked") {
			t.Error("the alarm is still open")
		}
		if got := r.tokensOf("one who wants tokens"); got != token.Amount {
			t.Errorf("%s units of TOKEN were paid, want %s", got, token.Amount)
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
				r.Guarded(file)
				r.Halt(shortToken())
				w := r.Order(100_000_000, r.Chain.Named("coin"))
				before := r.Backup()
				for n := 0; n < 12 && len(r.fillers()) == 0; n++ {
					r.Blocks(1)
				}
				r.Step()
				list := r.fillers()
				if len(list) != 1 || list[0].Status != bursar.OutgoingSent && list[0].Status != bursar.OutgoingSigned {
					t.Fatalf("the voiding transaction is %+v", list)
				}
				g := r.Revive(before, file)
				r.WithTokens()
				r.TakeLease(g)
				r.Trouble = true
				r.Chain.Forget() // no node has it until it is put back and sent
				r.Step()
				r.Blocks(40)
				if got := r.Chain.Balance(r.Chain.Named("coin"), ""); got != w.Amount {
					t.Errorf("of COIN, which is not halted, %s was paid; the withdrawal is %s, want %v", got, r.Now(w).Status,
						w.Amount)
				}
				if now := r.Now(held).Status; now != bursar.WithdrawalQueued {
					t.Errorf("the payment of TOKEN, whose nonce is used, is %s, want %s", now, bursar.WithdrawalQueued)
				}
				r.Resume(shortToken())
				r.Blocks(20)
				if got := r.tokensOf("one who wants tokens"); got != held.Amount {
					t.Errorf("after the halt %s units of TOKEN were paid of %s", got, held.Amount)
					r.LogOpen(10)
				}
				r.NothingOpen()
				r.Must(r.Chain.Check())
				r.Must(r.Reconcile())
			})
		})
	}
}
