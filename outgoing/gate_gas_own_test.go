package outgoing_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// pricedTokens gives a harness a token whose withdrawals and deposits cost its customers a fee, and operator funds for
// network fees.
func (r *harness) pricedTokens() bursar.Currency {
	r.t.Helper()
	token := bursar.Currency{Code: "TOKEN", Chain: r.chain.Capabilities().ID, Contract: r.chain.Named("the contract"),
		Decimals: 6, Places: 2,
		Minimum: bursar.Units(1000), WithdrawalFee: bursar.Fee{Fixed: bursar.Units(100_000)}}
	var err error
	r.registry, err = bursar.NewRegistry([]bursar.Currency{r.currency, token})
	r.must(err)
	r.restart()
	r.step()
	r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
	r.pay(r.wallet(0).Address, 900_000_000)
	r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.settle()
	return token
}

// setAside returns what the transactions in progress may cost the operator.
func (r *harness) setAside() (fees bursar.Amount) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		fees, err = tx.OperatorFunds().Fees(ctx, r.chain.Capabilities().ID, bursar.ID{})
		return err
	})
	return fees
}

// fees returns the highest fees of the open transactions that are built, and their number.
func (r *harness) fees() (sum bursar.Amount, n int) {
	r.t.Helper()
	for _, p := range r.open() {
		if len(p.Unsigned) == 0 {
			continue
		}
		var unsigned chain.UnsignedTx
		r.must(json.Unmarshal(p.Unsigned, &unsigned))
		var err error
		sum, err = sum.Add(unsigned.Fee)
		r.must(err)
		n++
	}
	return sum, n
}

// For a payment of the native asset only the part of the fee is set aside that its customers have not paid; for every
// other transaction the whole fee is, because a token's customer pays in the token.
func TestFeesThatCustomersPayAreNotSetAside(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		var paid bursar.Amount
		for range r.chain.Capabilities().MaxPayments {
			var err error
			paid, err = paid.Add(r.order(1_000_000, r.chain.Named("outside")).Fee)
			r.must(err)
		}
		r.chain.SetRate(60) // more than when the withdrawals were requested
		r.step()
		fees, n := r.fees()
		if got, want := r.setAside(), fees.SubOrZero(paid); n != 1 || paid.IsZero() || want.IsZero() || got != want {
			t.Errorf("%s are set aside, want %s", got, want)
		}
	})
	for name, order := range map[string]func(r *harness, token bursar.Currency){
		"a token": func(r *harness, token bursar.Currency) {
			_, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10",
				Address: r.chain.Named("outside")})
			r.must(err)
		},
		"a sweep": func(r *harness, _ bursar.Currency) {
			r.pay(r.wallet(0).Address, 500_000_000)
			r.chain.Mine(3)
			r.step()
		},
		"gas": func(r *harness, token bursar.Currency) {
			r.chain.Pay(chain.Payment{Address: r.walletOf(0, token.Code).Address, Contract: token.Contract,
				Amount: bursar.Units(80_000_000)})
			r.chain.Mine(3)
			r.step()
			r.check(r.sender.Step(ctx, r.lease))
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, numbered, func(t *testing.T, r *harness) {
				token := r.pricedTokens()
				order(r, token)
				r.check(r.sender.Step(ctx, r.lease))
				want, n := r.fees()
				if got := r.setAside(); n != 1 || want.IsZero() || got != want {
					t.Errorf("%s are set aside, want %s of %d", got, want, n)
				}
			})
		})
	}
}

// left sets the operator funds of the native asset to an amount.
func (r *harness) left(units bursar.Amount) {
	r.t.Helper()
	var own store.Own
	r.view(func(tx *store.Tx) (err error) {
		own, err = tx.OperatorFunds().Get(ctx, "COIN")
		return err
	})
	gas, err := bursar.Sum(own.Short.SubOrZero(own.Amount), units)
	r.must(err)
	r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Amount: gas})
}

// withoutGas gives a customer a token balance that the hot wallet has as well, and sets the operator funds for gas.
func (r *harness) withoutGas(left uint64) bursar.Currency {
	r.t.Helper()
	token := r.freeTokens()
	r.step()
	r.pay(r.wallet(0).Address, 1_000_000_000)
	r.chain.Mine(4)
	r.step()
	r.settle() // swept, at the operator's cost
	r.left(bursar.Units(left))
	r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(50_000)})
	r.chain.Pay(chain.Payment{Address: r.walletOf(1, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(20_000)})
	r.blocksWithoutSweeps(4)
	return token
}

func (r *harness) payout(token bursar.Currency, to string) bursar.Withdrawal {
	r.t.Helper()
	w, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[1], Currency: token.Code, Amount: "0.01",
		Address: r.chain.Named(to)})
	r.must(err)
	return w
}

// Operator funds below the fee of a token payment hold it back before it is built, with or without payments of the
// native asset in progress, and the alarm stays open until the funds are enough. Another reason to wait raises no such
// alarm.
func TestTooLittleGasHoldsATokenBack(t *testing.T) {
	for name, left := range map[string]uint64{"nothing is left": 0, "a little is left": 5} {
		t.Run(name, func(t *testing.T) {
			each(t, numbered, func(t *testing.T, r *harness) {
				token := r.withoutGas(left)
				r.halt(byAnn(store.HaltCurrency(token.Code)))
				w := r.payout(token, "out")
				r.trouble = true
				r.blocksWithoutSweeps(1)
				if r.alarmed("gas_budget") {
					t.Error("a halt asks for gas")
				}
				r.resume(byAnn(store.HaltCurrency(token.Code)))
				node := &asked{Chain: r.chain}
				r.sender.Chain = node
				for i := range 3 {
					r.order(1_000_000, r.chain.Named("coin"))
					r.check(r.sender.Step(ctx, r.lease))
					if now := r.spendNow(r.now(w).OutgoingID); now.Status != bursar.OutgoingNew || !r.alarmed("gas_budget") {
						t.Errorf("with %d of the native asset in progress it is %s, alarmed %v", i+1, now.Status, r.alarmed("gas_budget"))
					}
				}
				if node.builds != 3 && left == 0 {
					t.Errorf("a node has built %d transactions, 3 of them of the native asset", node.builds)
				}
				r.chain.Pay(chain.Payment{Address: bursar.Address{Base: r.hot.Base}, Amount: bursar.Units(500_000_000)})
				r.blocksWithoutSweeps(6)
				if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || r.alarmed("gas_budget") {
					t.Errorf("with enough it is %s, alarmed %v", now.Status, r.alarmed("gas_budget"))
				}
			})
		})
	}
}

// A fee bump beyond the operator funds, made because a payment of the native asset waits behind it, raises the alarm
// itself. A transaction that was adopted from a block and pays nobody counts as such a payment.
func TestABumpBeyondTheGasIsAlarmed(t *testing.T) {
	for name, adopted := range map[string]bool{"ordered": false, "adopted": true} {
		t.Run(name, func(t *testing.T) {
			each(t, bumping(), func(t *testing.T, r *harness) {
				token := r.freeTokens()
				out := chain.Payment{Address: bursar.Address{Base: r.chain.Named("out")}, Contract: token.Contract,
					Amount: bursar.Units(10_000)}
				fee, err := r.chain.Quote(ctx, out)
				r.must(err)
				units, err := fee.Add(bursar.Units(100)) // for one payment at the current fee
				r.must(err)
				r.withoutGas(mustFit(units))
				paid := r.payout(token, "out")
				r.trouble = true
				r.check(r.sender.Step(ctx, r.lease))
				r.order(100_000_000, r.chain.Named("coin"))
				r.check(r.sender.Step(ctx, r.lease))
				if list := r.open(); len(list) != 2 || list[0].Status != bursar.OutgoingSent ||
					list[1].Status != bursar.OutgoingSent || r.alarmed("gas_budget") {
					r.logOpen(5)
					t.Fatal("not just two are sent")
				}
				if adopted {
					r.forged = true
					request, err := outgoing.DecodeRequest(r.open()[1])
					r.must(err)
					request.Payments = nil
					text, err := json.Marshal(request)
					r.must(err)
					intruder(t, r.db)(`UPDATE outgoing_txs SET order_json = $1 WHERE id = $2`, string(text), request.ID)
				}
				r.chain.SetRate(50)
				for n := 0; n < 8 && r.spendNow(r.now(paid).OutgoingID).Versions == 1; n++ {
					r.blocksWithoutSweeps(1)
				}
				if now := r.spendNow(r.now(paid).OutgoingID); now.Versions != 2 || !r.alarmed("gas_budget") {
					t.Errorf("it has %d versions, alarmed %v: %q", now.Versions, r.alarmed("gas_budget"), now.Error)
				}
			})
		})
	}
}

// The same holds for a transaction that no node accepts at its fee and that was never sent.
func TestABumpOfAnUnsentTransactionMayExceedTheGas(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		token := r.freeTokens()
		out := chain.Payment{Address: bursar.Address{Base: r.chain.Named("out")}, Contract: token.Contract,
			Amount: bursar.Units(10_000)}
		fee, err := r.chain.Quote(ctx, out)
		r.must(err)
		units, err := fee.Add(bursar.Units(100))
		r.must(err)
		r.withoutGas(mustFit(units))
		r.chain.SetFloor(1000)
		paid := r.payout(token, "out")
		r.trouble = true
		r.check(r.sender.Step(ctx, r.lease))
		if now := r.spendNow(r.now(paid).OutgoingID); now.Status != bursar.OutgoingSigned || now.Versions != 1 {
			t.Fatalf("it is %s in %d versions", now.Status, now.Versions)
		}
		r.order(100_000_000, r.chain.Named("coin"))
		for range 2 {
			r.check(r.sender.Step(ctx, r.lease))
		}
		if now := r.spendNow(r.now(paid).OutgoingID); now.Versions < 2 {
			t.Errorf("with one behind it, it has %d versions: %q", now.Versions, now.Error)
		}
	})
}

// If no native asset is configured, the operator funds of it are unknown, and tokens are paid.
func TestAChainWithoutANativeAssetPaysTokens(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.withoutGas(0)
		w := r.payout(token, "out")
		var err error
		r.sender.Registry, err = bursar.NewRegistry([]bursar.Currency{token})
		r.must(err)
		r.check(r.sender.Step(ctx, r.lease))
		if now := r.now(w); now.Status != bursar.WithdrawalBroadcast {
			t.Errorf("it is %s: %s", now.Status, r.errors())
		}
	})
}

// A token payment that is signed is sent, even if the operator funds are used up since.
func TestASignedPaymentNeedsNoFurtherGas(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.pricedTokens()
		w, err := r.withdrawals.Request(ctx, withdrawal.Request{Account: r.accounts[0], Currency: token.Code, Amount: "10",
			Address: r.chain.Named("outside")})
		r.must(err)
		r.withoutSigner(func() { r.check(r.sender.Step(ctx, r.lease)) })
		r.do(func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.NetworkFee("a test", 0, "COIN", bursar.Units(2_000_000_000), tx.Now()))
		})
		r.check(r.sender.Step(ctx, r.lease))
		if now := r.now(w); now.Status != bursar.WithdrawalBroadcast || r.alarmed("gas_budget") {
			t.Errorf("it is %s: %q", now.Status, r.errors())
		}
	})
}
