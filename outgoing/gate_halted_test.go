package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// busy runs a function while it signs.
type busy struct {
	outgoing.Signer
	meanwhile func()
}

func (b busy) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	signed, err := b.Signer.Sign(ctx, id, request, unsigned)
	b.meanwhile()
	return signed, err
}

// asked is a chain that counts the requests for outgoing transactions.
type asked struct {
	*sim.Chain
	meanwhile func()
	builds    int
	sent      int
}

func (a *asked) Build(ctx context.Context, o chain.TxRequest) (chain.UnsignedTx, error) {
	a.builds++
	unsigned, err := a.Chain.Build(ctx, o)
	if a.meanwhile != nil {
		a.meanwhile()
	}
	return unsigned, err
}

func (a *asked) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	a.sent++
	return a.Chain.Broadcast(ctx, tx)
}

// scopes returns the halt scopes that cover the harness's currency.
func (r *harness) scopes() map[string]store.HaltScope {
	return map[string]store.HaltScope{"all": store.HaltAll, "chain": store.HaltChain(r.Chain.Capabilities().ID),
		"currency": store.HaltCurrency("COIN")}
}

func byAnn(scope store.HaltScope) store.Halt {
	return store.Halt{Scope: scope, Kind: store.HaltByOperator, Reason: "a drill", Actor: "ann"}
}

// Whenever a halt begins – before a withdrawal is assigned, while its transaction is built, or while it is signed –,
// nothing is sent; deposits are credited, withdrawals are accepted and wait; and after the end of the halt everything
// is paid.
func TestNothingIsSentDuringAHalt(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		for name, scope := range r.scopes() {
			for _, begin := range []string{"queued", "drafted", "signed", "stored"} {
				to := r.Chain.Named(name + begin)
				w, err := r.Withdraw(0, 10_000_000, to)
				r.Must(err)
				watched, once := &asked{Chain: r.Chain}, false
				halt := func() {
					if !once {
						once = true
						r.Halt(byAnn(scope))
					}
				}
				r.Trouble = true
				r.Sender.Chain = watched
				switch begin {
				case "queued":
					halt()
				case "drafted":
					watched.meanwhile = halt
				case "signed":
					r.Sender.Signer = busy{r.Signer, halt}
				case "stored":
					r.Chain.FailBroadcasts(sim.LostUnknown, 1)
					r.Step()
					halt()
				}
				before := watched.sent
				r.Sender.EventsRecorded = nil
				r.Step()
				if begin == "stored" {
					before = watched.sent
				}
				r.StepAndMine(5)
				if watched.sent != before || !r.Chain.Balance(to, "").IsZero() {
					t.Errorf("%s halted when it was %s: %d transactions were sent, %s paid", name, begin, watched.sent-before,
						r.Chain.Balance(to, ""))
				}
				if text := r.errors(); !strings.Contains(text, "are halted by ann: a drill") && begin != "queued" {
					t.Errorf("%s halted when it was %s: its error is %q", name, begin, text)
				}
				credited := r.Available(1)
				r.Pay(r.Wallet(1).Address, 5_000_000)
				r.StepAndMine(4)
				if r.Available(1) == credited {
					t.Errorf("%s halted: no deposit is credited", name)
				}
				if later, err := r.Withdraw(0, 1_000_000, r.Chain.Named("later")); err != nil ||
					later.Status != bursar.WithdrawalQueued {
					t.Errorf("%s halted: a withdrawal request is answered %v, want %v", name, err, bursar.WithdrawalQueued)
				}
				r.Trouble = false
				r.Resume(byAnn(scope))
				r.Restart()
				r.Settle()
				if got := r.Chain.Balance(to, ""); got != w.Amount {
					t.Errorf("%s halted when it was %s: afterwards %s was paid, want %s", name, begin, got, w.Amount)
				}
			}
		}
		r.Must(r.Audit())
	})
}

// errors joins the errors of the open outgoing transactions.
func (r *harness) errors() (text string) {
	r.View(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.Chain.Capabilities().ID, 100)
		for _, p := range open {
			text += p.Error + "\n"
		}
		return err
	})
	return text
}

// A transaction that was sent is sent again during a halt, at its current fee: no other version is signed.
func TestASentTransactionGoesOnDuringAHalt(t *testing.T) {
	for name, config := range map[string]sim.Config{"coins": bursartest.UTXOModel, "nonce": bursartest.Numbered} {
		config.BumpAfter = 2
		t.Run(name, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				r.Fund()
				w, err := r.Withdraw(0, 10_000_000, r.Chain.Named("to"))
				r.Must(err)
				r.Step()
				r.Chain.Forget() // by every node
				r.Halt(byAnn(store.HaltAll))
				r.Sender.Signer = busy{r.Signer, func() { t.Error("something was signed") }}
				r.Settle()
				if got := r.Chain.Balance(r.Chain.Named("to"), ""); got != w.Amount {
					t.Errorf("%s was paid, want %s", got, w.Amount)
				}
				r.Must(r.Audit())
			})
		})
	}
}

// A halt of one currency does not hold up another one, not even by a nonce that was reserved for it.
func TestAHaltedCurrencyBlocksNoOther(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.WithToken()
		r.Fund()
		r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.StepAndMine(4)
		tokens, err := r.Withdrawals.Request(ctx,
			withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10", Address: r.Chain.Named("token")})
		r.Must(err)
		r.Sender.Signer = bursartest.NoSigner
		r.Trouble = true
		r.Step() // its nonce is reserved
		r.Halt(byAnn(store.HaltCurrency(token.Code)))
		order, err := r.Withdraw(0, 10_000_000, r.Chain.Named("coin"))
		r.Must(err)
		r.Restart()
		r.StepAndMine(6)
		if got := r.Chain.Balance(r.Chain.Named("coin"), ""); got != order.Amount {
			t.Errorf("%s of the native asset was paid; open:\n%s, want %v", got, r.errors(), order.Amount)
		}
		if got := r.Chain.Balance(r.Chain.Named("token"), token.Contract); !got.IsZero() {
			t.Errorf("%s of the halted token was paid, want 0", got)
		}
		r.Trouble = false
		r.Resume(byAnn(store.HaltCurrency(token.Code)))
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("token"), token.Contract); got != tokens.Amount {
			t.Errorf("after the halt %s of the token was paid, want %s", got, tokens.Amount)
		}
	})
}
