package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// freeTokens makes the harness's chain pay out a token without a fee, and credit UTXOs without one.
func (r *harness) freeTokens() bursar.Currency {
	r.t.Helper()
	token := bursar.Currency{Code: "TOKEN", Chain: r.chain.Capabilities().ID, Contract: r.chain.Named("the contract"),
		Decimals: 6, Places: 2, Minimum: bursar.Units(1000)}
	native := r.currency
	native.DepositFee, native.WithdrawalFee = bursar.Fee{}, bursar.Fee{Network: true}
	r.currency = native
	var err error
	r.registry, err = bursar.NewRegistry([]bursar.Currency{native, token})
	r.must(err)
	r.restart()
	return token
}

// covered fails if the chain holds less of the native asset than is owed.
func (r *harness) covered() {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		owed, err := tx.Custody().LiabilitySum(ctx, "COIN")
		if err != nil {
			return err
		}
		lines, err := r.compare()
		if err == nil && lines[0].OnChain.Less(owed) {
			r.t.Fatalf("%s units are owed, the chain holds %s", owed, lines[0].OnChain)
		}
		return err
	})
}

func (r *harness) alarmed(kind string) bool {
	r.t.Helper()
	var open []store.Alarm
	r.view(func(tx *store.Tx) (err error) {
		open, err = tx.Alarms().OfKind(ctx, kind)
		return err
	})
	return len(open) > 0
}

// Network fees of a customer who deposits and withdraws tokens for free are paid by the operator and never by another
// customer: without operator funds the withdrawals wait and an alarm says so, with them they are paid, and at every
// moment the chain holds what is owed.
func TestGasIsNotPaidByCustomers(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000) // another customer's money, and all there is
		r.chain.Mine(4)
		r.step()
		swept, err := r.withdraw(0, 100_000_000, r.chain.Named("sweep my coins"))
		r.must(err)
		r.settle()
		to := r.walletOf(1, token.Code).Address
		r.chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(20_000)})
		for range 12 {
			r.chain.Mine(1)
			r.step()
			r.covered()
		}
		out, err := r.withdrawals.Request(ctx,
			withdrawal.Request{Account: r.accounts[1], Currency: token.Code, Amount: "0.02", Address: r.chain.Named("out")})
		r.must(err)
		for range 12 {
			r.chain.Mine(1)
			r.step()
			r.covered()
		}
		if got := r.chain.Balance(out.Address.Base, token.Contract); !got.IsZero() {
			t.Fatalf("%s was paid without operator funds for its network fee", got)
		}
		if got := r.chain.Balance(swept.Address.Base, ""); got.IsZero() {
			t.Fatal("a payment in the native asset was held up")
		}
		if !r.alarmed("gas_budget") {
			t.Fatal("no alarm says that operator funds are used up")
		}
		r.pay(bursar.Address{Base: r.hot.Base}, 500_000_000) // operator funds
		for range 30 {
			r.chain.Mine(1)
			r.step()
			r.covered()
		}
		if got := r.chain.Balance(out.Address.Base, token.Contract); got != out.Amount {
			t.Fatalf("%s was paid once there is gas", got)
		}
		if r.alarmed("gas_budget") {
			t.Error("the alarm is still open")
		}
		r.must(r.reconcile())
	})
}

// If the configuration allows it, customers' funds pay for gas.
func TestGasFromCustomers(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.sender.GasFromCustomers = true
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(4)
		r.step()
		_, err := r.withdraw(0, 100_000_000, r.chain.Named("sweep my coins"))
		r.must(err)
		r.settle()
		r.chain.Pay(chain.Payment{Address: r.walletOf(1, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(20_000)})
		r.chain.Mine(4)
		r.step()
		out, err := r.withdrawals.Request(ctx,
			withdrawal.Request{Account: r.accounts[1], Currency: token.Code, Amount: "0.02", Address: r.chain.Named("out")})
		r.must(err)
		r.settle()
		if got := r.chain.Balance(out.Address.Base, token.Contract); got != out.Amount {
			t.Fatalf("%s was paid", got)
		}
	})
}

// The alarm about operator funds names amounts and what to do.
func TestTheGasAlarmSaysWhatToDo(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Pay(chain.Payment{Address: r.walletOf(1, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(20_000)})
		for range 8 {
			r.chain.Mine(1)
			r.step()
		}
		_, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[1], Currency: token.Code, Amount: "0.02",
			Address: r.chain.Named("out")})
		r.must(err)
		r.step()
		r.view(func(tx *store.Tx) error {
			open, err := tx.Alarms().OfKind(ctx, "gas_budget")
			if err == nil && (len(open) != 1 || !strings.Contains(open[0].Message, "COIN") ||
				!strings.Contains(open[0].Message, r.hot.Base)) {
				t.Errorf("the alarms are %+v", open)
			}
			return err
		})
	})
}

// A token payment that needs a higher fee than the operator funds cover does not hold up payments of the native asset
// behind its nonce: it is bumped, and an alarm asks for gas.
func TestATokenPaymentThatLacksGasHoldsUpNoNativeOne(t *testing.T) {
	for name, behind := range map[string]bool{"with one behind": true, "with none": false} {
		t.Run(name, func(t *testing.T) {
			each(t, bumping(), func(t *testing.T, r *harness) {
				token := r.freeTokens()
				r.step()
				r.pay(r.wallet(0).Address, 1_000_000_000)
				r.chain.Mine(4)
				r.step()
				swept, err := r.withdraw(0, 100_000_000, r.chain.Named("sweep my coins"))
				r.must(err)
				r.settle()
				out := chain.Payment{Address: bursar.Address{Base: r.chain.Named("out")}, Contract: token.Contract,
					Amount: bursar.Units(10_000)}
				fee, err := r.chain.Quote(ctx, out)
				r.must(err)
				var own store.Own
				r.view(func(tx *store.Tx) (err error) {
					own, err = tx.OperatorFunds().Get(ctx, "COIN")
					return err
				})
				// Enough for one payment at the current fee.
				gas, err := bursar.Sum(own.Short.SubOrZero(own.Amount), fee, bursar.Units(100))
				r.must(err)
				r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Amount: gas})
				r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
					Amount: bursar.Units(50_000)})
				r.chain.Pay(chain.Payment{Address: r.walletOf(1, token.Code).Address, Contract: token.Contract,
					Amount: bursar.Units(20_000)})
				r.trouble = true
				r.blocksWithoutSweeps(4)
				paid, err := r.withdrawals.Request(ctx,
					withdrawal.Request{Account: r.accounts[1], Currency: token.Code, Amount: "0.01", Address: out.Address.Base})
				r.must(err)
				r.check(r.sender.Step(ctx, r.lease))
				if got := r.now(paid).Status; got != bursar.WithdrawalBroadcast {
					t.Fatalf("the payment of the token is %s", got)
				}
				r.chain.SetRate(50)
				order := bursar.Withdrawal{}
				if behind {
					order = r.order(100_000_000, r.chain.Named("coin"))
				}
				r.blocksWithoutSweeps(20)
				if got := r.chain.Balance(r.chain.Named("coin"), ""); behind && got != order.Amount {
					t.Errorf("of the native asset %s was paid after %s", got, swept.Amount)
					r.logOpen(5)
				}
				if got := r.chain.Balance(out.Address.Base, token.Contract); !behind && !got.IsZero() {
					t.Errorf("%s of the token was paid beyond the operator funds, and nothing waits behind it", got)
				}
				if !r.alarmed("gas_budget") {
					t.Error("no alarm asks for gas")
				}
			})
		})
	}
}
