package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// mute is a signer that does not answer.
type mute struct{}

func (mute) Sign(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error) {
	return chain.SignedTx{}, errors.New("the signer does not answer")
}

// honest is the signer with the harness's keys.
func honest(r *harness) *signer.Signer {
	id := r.chain.Capabilities().ID
	s, err := signer.New(r.keys.Keys,
		map[bursar.ChainID]signer.Policy{id: {Capabilities: r.chain.Capabilities(), Signable: r.chain,
			MaxFee: bursar.Units(1 << 30)}})
	r.must(err)
	r.signer = s
	return s
}

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
	return map[string]store.HaltScope{"all": store.HaltAll, "chain": store.HaltChain(r.chain.Capabilities().ID),
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
		r.fund()
		for name, scope := range r.scopes() {
			for _, begin := range []string{"queued", "drafted", "signed", "stored"} {
				to := r.chain.Named(name + begin)
				w, err := r.withdraw(0, 10_000_000, to)
				r.must(err)
				watched, once := &asked{Chain: r.chain}, false
				halt := func() {
					if !once {
						once = true
						r.halt(byAnn(scope))
					}
				}
				r.trouble = true
				r.sender.Chain = watched
				switch begin {
				case "queued":
					halt()
				case "drafted":
					watched.meanwhile = halt
				case "signed":
					r.sender.Signer = busy{r.signer, halt}
				case "stored":
					r.chain.FailBroadcasts(sim.LostUnknown, 1)
					r.step()
					halt()
				}
				before := watched.sent
				r.sender.Settled = nil
				r.step()
				if begin == "stored" {
					before = watched.sent
				}
				r.stepAndMine(5)
				if watched.sent != before || !r.chain.Balance(to, "").IsZero() {
					t.Errorf("%s halted when it was %s: %d transactions were sent, %s paid", name, begin, watched.sent-before,
						r.chain.Balance(to, ""))
				}
				if text := r.errors(); !strings.Contains(text, "are halted by ann: a drill") && begin != "queued" {
					t.Errorf("%s halted when it was %s: its error is %q", name, begin, text)
				}
				credited := r.available(1)
				r.pay(r.wallet(1).Address, 5_000_000)
				r.stepAndMine(4)
				if r.available(1) == credited {
					t.Errorf("%s halted: no deposit is credited", name)
				}
				if later, err := r.withdraw(0, 1_000_000, r.chain.Named("later")); err != nil ||
					later.Status != bursar.WithdrawalQueued {
					t.Errorf("%s halted: a withdrawal request is answered %v", name, err)
				}
				r.trouble = false
				r.resume(byAnn(scope))
				r.restart()
				r.settle()
				if got := r.chain.Balance(to, ""); got != w.Amount {
					t.Errorf("%s halted when it was %s: afterwards %s was paid", name, begin, got)
				}
			}
		}
		r.must(r.audit())
	})
}

// errors joins the errors of the open outgoing transactions.
func (r *harness) errors() (text string) {
	r.view(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.chain.Capabilities().ID, 100)
		for _, p := range open {
			text += p.Error + "\n"
		}
		return err
	})
	return text
}

// A transaction that was sent is sent again during a halt, at its current fee: no other version is signed.
func TestASentTransactionGoesOnDuringAHalt(t *testing.T) {
	for name, config := range map[string]sim.Config{"coins": utxoModel, "nonce": numbered} {
		config.BumpAfter = 2
		t.Run(name, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				r.fund()
				w, err := r.withdraw(0, 10_000_000, r.chain.Named("to"))
				r.must(err)
				r.step()
				r.chain.Forget() // by every node
				r.halt(byAnn(store.HaltAll))
				r.sender.Signer = busy{r.signer, func() { t.Error("something was signed") }}
				r.settle()
				if got := r.chain.Balance(r.chain.Named("to"), ""); got != w.Amount {
					t.Errorf("%s was paid", got)
				}
				r.must(r.audit())
			})
		})
	}
}

// A halt of one currency does not hold up another one, not even by a nonce that was reserved for it.
func TestAHaltedCurrencyBlocksNoOther(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withToken()
		r.fund()
		r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
			Amount: bursar.Units(80_000_000)})
		r.stepAndMine(4)
		tokens, err := r.withdrawals.Request(ctx,
			withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10", Address: r.chain.Named("token")})
		r.must(err)
		r.sender.Signer = mute{}
		r.trouble = true
		r.step() // its nonce is reserved
		r.halt(byAnn(store.HaltCurrency(token.Code)))
		order, err := r.withdraw(0, 10_000_000, r.chain.Named("coin"))
		r.must(err)
		r.restart()
		r.stepAndMine(6)
		if got := r.chain.Balance(r.chain.Named("coin"), ""); got != order.Amount {
			t.Errorf("%s of the native asset was paid; open:\n%s", got, r.errors())
		}
		if got := r.chain.Balance(r.chain.Named("token"), token.Contract); !got.IsZero() {
			t.Errorf("%s of the halted token was paid", got)
		}
		r.trouble = false
		r.resume(byAnn(store.HaltCurrency(token.Code)))
		r.settle()
		if got := r.chain.Balance(r.chain.Named("token"), token.Contract); got != tokens.Amount {
			t.Errorf("after the halt %s of the token was paid", got)
		}
	})
}

// withToken adds a token to the harness's chain.
func (r *harness) withToken() bursar.Currency {
	token := bursar.Currency{Code: "TOKEN", Chain: r.chain.Capabilities().ID, Contract: r.chain.Named("the contract"),
		Decimals: 6, Places: 2, Minimum: bursar.Units(1000)}
	var err error
	r.registry, err = bursar.NewRegistry([]bursar.Currency{r.currency, token})
	r.must(err)
	r.restart()
	return token
}
