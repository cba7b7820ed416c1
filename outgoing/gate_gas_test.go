package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// freeTokens makes the harness's chain pay out a token without a fee, and credit UTXOs without one.
func (r *harness) freeTokens() bursar.Currency {
	r.T.Helper()
	token := bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID, Contract: r.Chain.Named("the contract"),
		Decimals: 6, Places: 2, Minimum: bursar.Units(1000)}
	r.Currency.DepositFee, r.Currency.WithdrawalFee = bursar.Fee{}, bursar.Fee{Network: true}
	r.Reconfigure(token)
	return token
}

// covered fails if the chain holds less of the native asset than is owed.
func (r *harness) covered() {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		owed, err := tx.Custody().LiabilitySum(ctx, "COIN")
		if err != nil {
			return err
		}
		lines, err := r.Compare()
		if err == nil && lines[0].OnChain.Less(owed) {
			r.T.Fatalf("%s units are owed, the chain holds %s", owed, lines[0].OnChain)
		}
		return err
	})
}

func (r *harness) alarmed(kind string) bool {
	r.T.Helper()
	var open []store.Alarm
	r.View(func(tx *store.Tx) (err error) {
		open, err = tx.Alarms().OfKind(ctx, kind)
		return err
	})
	return len(open) > 0
}

// Network fees of a customer who deposits and withdraws tokens for free are paid by the operator and never by another
// customer: without operator funds the withdrawals wait and an alarm says so, with them they are paid, and at every
// moment the chain holds what is owed.
func TestGasIsNotPaidByCustomers(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000) // another customer's money, and all there is
		r.Chain.Mine(4)
		r.Step()
		swept, err := r.Withdraw(0, 100_000_000, r.Chain.Named("sweep my coins"))
		r.Must(err)
		r.Settle()
		to := r.WalletOf(1, token.Code).Address
		r.Chain.Pay(chain.Payment{Address: to, Contract: token.Contract, Amount: bursar.Units(20_000)})
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
			r.covered()
		}
		out, err := r.Withdrawals.Request(ctx,
			withdrawal.Request{Account: r.Accounts[1], Currency: token.Code, Amount: "0.02", Address: r.Chain.Named("out")})
		r.Must(err)
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
			r.covered()
		}
		if got := r.Chain.Balance(out.Address.Base, token.Contract); !got.IsZero() {
			t.Fatalf("%s was paid without operator funds for its network fee, want 0", got)
		}
		if got := r.Chain.Balance(swept.Address.Base, ""); got.IsZero() {
			t.Fatal("a payment in the native asset was held up, want not zero")
		}
		if !r.alarmed("gas_budget") {
			t.Fatal("no alarm says that operator funds are used up")
		}
		r.Pay(bursar.Address{Base: r.Hot.Base}, 500_000_000) // operator funds
		for range 30 {
			r.Chain.Mine(1)
			r.Step()
			r.covered()
		}
		if got := r.Chain.Balance(out.Address.Base, token.Contract); got != out.Amount {
			t.Fatalf("%s was paid once there is gas, want %s", got, out.Amount)
		}
		if r.alarmed("gas_budget") {
			t.Error("the alarm is still open")
		}
		r.Must(r.Reconcile())
	})
}

// If the configuration allows it, customers' funds pay for gas.
func TestGasFromCustomers(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.Sender.GasFromCustomers = true
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(4)
		r.Step()
		_, err := r.Withdraw(0, 100_000_000, r.Chain.Named("sweep my coins"))
		r.Must(err)
		r.Settle()
		r.Chain.Pay(chain.Payment{Address: r.WalletOf(1, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(20_000)})
		r.Chain.Mine(4)
		r.Step()
		out, err := r.Withdrawals.Request(ctx,
			withdrawal.Request{Account: r.Accounts[1], Currency: token.Code, Amount: "0.02", Address: r.Chain.Named("out")})
		r.Must(err)
		r.Settle()
		if got := r.Chain.Balance(out.Address.Base, token.Contract); got != out.Amount {
			t.Fatalf("%s was paid, want %s", got, out.Amount)
		}
	})
}

// The alarm about operator funds names amounts and what to do.
func TestTheGasAlarmSaysWhatToDo(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Pay(chain.Payment{Address: r.WalletOf(1, token.Code).Address, Contract: token.Contract,
			Amount: bursar.Units(20_000)})
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		_, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[1], Currency: token.Code, Amount: "0.02",
			Address: r.Chain.Named("out")})
		r.Must(err)
		r.Step()
		r.View(func(tx *store.Tx) error {
			open, err := tx.Alarms().OfKind(ctx, "gas_budget")
			if err == nil && (len(open) != 1 || !strings.Contains(open[0].Message, "COIN") ||
				!strings.Contains(open[0].Message, r.Hot.Base)) {
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
				r.Step()
				r.Pay(r.Wallet(0).Address, 1_000_000_000)
				r.Chain.Mine(4)
				r.Step()
				swept, err := r.Withdraw(0, 100_000_000, r.Chain.Named("sweep my coins"))
				r.Must(err)
				r.Settle()
				out := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("out")}, Contract: token.Contract,
					Amount: bursar.Units(10_000)}
				fee, err := r.Chain.Quote(ctx, out)
				r.Must(err)
				var own store.Own
				r.View(func(tx *store.Tx) (err error) {
					own, err = tx.OperatorFunds().Get(ctx, "COIN")
					return err
				})
				// Enough for one payment at the current fee.
				gas, err := bursar.Sum(own.Short.SubOrZero(own.Amount), fee, bursar.Units(100))
				r.Must(err)
				r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: gas})
				r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
					Amount: bursar.Units(50_000)})
				r.Chain.Pay(chain.Payment{Address: r.WalletOf(1, token.Code).Address, Contract: token.Contract,
					Amount: bursar.Units(20_000)})
				r.Trouble = true
				r.blocksWithoutSweeps(4)
				paid, err := r.Withdrawals.Request(ctx,
					withdrawal.Request{Account: r.Accounts[1], Currency: token.Code, Amount: "0.01", Address: out.Address.Base})
				r.Must(err)
				r.Check(r.Sender.Step(ctx, r.Lease))
				if got := r.Now(paid).Status; got != bursar.WithdrawalBroadcast {
					t.Fatalf("the payment of the token is %s, want %s", got, bursar.WithdrawalBroadcast)
				}
				r.Chain.SetRate(50)
				order := bursar.Withdrawal{}
				if behind {
					order = r.Order(100_000_000, r.Chain.Named("coin"))
				}
				r.blocksWithoutSweeps(20)
				if got := r.Chain.Balance(r.Chain.Named("coin"), ""); behind && got != order.Amount {
					t.Errorf("of the native asset %s was paid after %s", got, swept.Amount)
					r.LogOpen(5)
				}
				if got := r.Chain.Balance(out.Address.Base, token.Contract); !behind && !got.IsZero() {
					t.Errorf("%s of the token was paid beyond the operator funds, and nothing waits behind it", got)
				}
				if !r.alarmed("gas_budget") {
					t.Error("no alarm asks for gas")
				}
			})
		})
	}
}
