package outgoing_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// pricedTokens gives a harness a token whose withdrawals and deposits cost its customers a fee, and operator funds for
// network fees.
func (r *harness) pricedTokens() bursar.Currency {
	r.T.Helper()
	token := bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID, Contract: r.Chain.Named("the contract"),
		Decimals: 6, Places: 2,
		Minimum: bursar.Units(1000), WithdrawalFee: bursar.Fee{Fixed: bursar.Units(100_000)}}
	r.Reconfigure(token)
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	r.Pay(r.Wallet(0).Address, 900_000_000)
	r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(80_000_000)})
	r.Settle()
	return token
}

// setAside returns what the transactions in progress may cost the operator.
func (r *harness) setAside() (fees bursar.Amount) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		fees, err = tx.OperatorFunds().Fees(ctx, r.Chain.Capabilities().ID, bursar.ID{})
		return err
	})
	return fees
}

// fees returns the highest fees of the open transactions that are built, and their number.
func (r *harness) fees() (sum bursar.Amount, n int) {
	r.T.Helper()
	for _, p := range r.Open() {
		if len(p.Unsigned) == 0 {
			continue
		}
		var unsigned chain.UnsignedTx
		r.Must(json.Unmarshal(p.Unsigned, &unsigned))
		var err error
		sum, err = sum.Add(unsigned.Fee)
		r.Must(err)
		n++
	}
	return sum, n
}

// For a payment of the native asset only the part of the fee is set aside that its customers have not paid; for every
// other transaction the whole fee is, because a token's customer pays in the token.
func TestFeesThatCustomersPayAreNotSetAside(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		var paid bursar.Amount
		for range r.Chain.Capabilities().MaxPayments {
			var err error
			paid, err = paid.Add(r.Order(1_000_000, r.Chain.Named("outside")).Fee)
			r.Must(err)
		}
		r.Chain.SetRate(60) // more than when the withdrawals were requested
		r.Step()
		fees, n := r.fees()
		if got, want := r.setAside(), fees.SubOrZero(paid); n != 1 || paid.IsZero() || want.IsZero() || got != want {
			t.Errorf("%s are set aside, want %s", got, want)
		}
	})
	for name, order := range map[string]func(r *harness, token bursar.Currency){
		"a token": func(r *harness, token bursar.Currency) {
			_, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10",
				Address: r.Chain.Named("outside")})
			r.Must(err)
		},
		"a sweep": func(r *harness, _ bursar.Currency) {
			r.Pay(r.Wallet(0).Address, 500_000_000)
			r.Chain.Mine(3)
			r.Step()
		},
		"gas": func(r *harness, token bursar.Currency) {
			r.Chain.Pay(chain.Payment{Address: r.WalletOf(0, token.Code).Address, Contract: token.Contract,
				Amount: bursar.Units(80_000_000)})
			r.Chain.Mine(3)
			r.Step()
			r.Check(r.Sender.Step(ctx, r.Lease))
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				token := r.pricedTokens()
				order(r, token)
				r.Check(r.Sender.Step(ctx, r.Lease))
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
	r.T.Helper()
	var own store.Own
	r.View(func(tx *store.Tx) (err error) {
		own, err = tx.OperatorFunds().Get(ctx, "COIN")
		return err
	})
	gas, err := bursar.Sum(own.Short.SubOrZero(own.Amount), units)
	r.Must(err)
	r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: gas})
}

// withoutGas gives a customer a token balance that the hot wallet has as well, and sets the operator funds for gas.
func (r *harness) withoutGas(left uint64) bursar.Currency {
	r.T.Helper()
	token := r.freeTokens()
	r.Step()
	r.Pay(r.Wallet(0).Address, 1_000_000_000)
	r.Chain.Mine(4)
	r.Step()
	r.Settle() // swept, at the operator's cost
	r.left(bursar.Units(left))
	r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Contract: token.Contract,
		Amount: bursar.Units(50_000)})
	r.Chain.Pay(chain.Payment{Address: r.WalletOf(1, token.Code).Address, Contract: token.Contract,
		Amount: bursar.Units(20_000)})
	r.blocksWithoutSweeps(4)
	return token
}

func (r *harness) payout(token bursar.Currency, to string) bursar.Withdrawal {
	r.T.Helper()
	w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[1], Currency: token.Code, Amount: "0.01",
		Address: r.Chain.Named(to)})
	r.Must(err)
	return w
}

// Operator funds below the fee of a token payment hold it back before it is built, with or without payments of the
// native asset in progress, and the alarm stays open until the funds are enough. Another reason to wait raises no such
// alarm.
func TestTooLittleGasHoldsATokenBack(t *testing.T) {
	for name, left := range map[string]uint64{"nothing is left": 0, "a little is left": 5} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				token := r.withoutGas(left)
				r.Halt(byAnn(store.HaltCurrency(token.Code)))
				w := r.payout(token, "out")
				r.Trouble = true
				r.blocksWithoutSweeps(1)
				if r.alarmed("gas_budget") {
					t.Error("a halt asks for gas")
				}
				r.Resume(byAnn(store.HaltCurrency(token.Code)))
				node := &asked{Chain: r.Chain}
				r.Sender.Chain = node
				for i := range 3 {
					r.Order(1_000_000, r.Chain.Named("coin"))
					r.Check(r.Sender.Step(ctx, r.Lease))
					if now := r.spendNow(r.Now(w).OutgoingID); now.Status != bursar.OutgoingNew || !r.alarmed("gas_budget") {
						t.Errorf("with %d of the native asset in progress it is %s, alarmed %v",
							i+1, now.Status, r.alarmed("gas_budget"))
					}
				}
				if node.builds != 3 && left == 0 {
					t.Errorf("a node has built %d transactions, 3 of them of the native asset", node.builds)
				}
				r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(500_000_000)})
				r.blocksWithoutSweeps(6)
				if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || r.alarmed("gas_budget") {
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
				out := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("out")}, Contract: token.Contract,
					Amount: bursar.Units(10_000)}
				fee, err := r.Chain.Quote(ctx, out)
				r.Must(err)
				units, err := fee.Add(bursar.Units(100)) // for one payment at the current fee
				r.Must(err)
				r.withoutGas(bursartest.Fit(units))
				paid := r.payout(token, "out")
				r.Trouble = true
				r.Check(r.Sender.Step(ctx, r.Lease))
				r.Order(100_000_000, r.Chain.Named("coin"))
				r.Check(r.Sender.Step(ctx, r.Lease))
				if list := r.Open(); len(list) != 2 || list[0].Status != bursar.OutgoingSent ||
					list[1].Status != bursar.OutgoingSent || r.alarmed("gas_budget") {
					r.LogOpen(5)
					t.Fatal("not just two are sent")
				}
				if adopted {
					r.Forged = true
					request, err := outgoing.DecodeRequest(r.Open()[1])
					r.Must(err)
					request.Payments = nil
					text, err := json.Marshal(request)
					r.Must(err)
					intruder(t, r.DB)(`UPDATE outgoing_txs SET order_json = $1 WHERE id = $2`, string(text), request.ID)
				}
				r.Chain.SetRate(50)
				for n := 0; n < 8 && r.spendNow(r.Now(paid).OutgoingID).Versions == 1; n++ {
					r.blocksWithoutSweeps(1)
				}
				if now := r.spendNow(r.Now(paid).OutgoingID); now.Versions != 2 || !r.alarmed("gas_budget") {
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
		out := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("out")}, Contract: token.Contract,
			Amount: bursar.Units(10_000)}
		fee, err := r.Chain.Quote(ctx, out)
		r.Must(err)
		units, err := fee.Add(bursar.Units(100))
		r.Must(err)
		r.withoutGas(bursartest.Fit(units))
		r.Chain.SetFloor(1000)
		paid := r.payout(token, "out")
		r.Trouble = true
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.spendNow(r.Now(paid).OutgoingID); now.Status != bursar.OutgoingSigned || now.Versions != 1 {
			t.Fatalf("the outgoing transaction is %s in %d versions, want %s and 1",
				now.Status, now.Versions, bursar.OutgoingSigned)
		}
		r.Order(100_000_000, r.Chain.Named("coin"))
		for range 2 {
			r.Check(r.Sender.Step(ctx, r.Lease))
		}
		if now := r.spendNow(r.Now(paid).OutgoingID); now.Versions < 2 {
			t.Errorf("with one behind it, it has %d versions: %q, want at least 2", now.Versions, now.Error)
		}
	})
}

// If no native asset is configured, the operator funds of it are unknown, and tokens are paid.
func TestAChainWithoutANativeAssetPaysTokens(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.withoutGas(0)
		w := r.payout(token, "out")
		var err error
		r.Sender.Registry, err = bursar.NewRegistry([]bursar.Currency{token})
		r.Must(err)
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.Now(w); now.Status != bursar.WithdrawalBroadcast {
			t.Errorf("the withdrawal is %s: %s, want %v", now.Status, r.errors(), bursar.WithdrawalBroadcast)
		}
	})
}

// A token payment that is signed is sent, even if the operator funds are used up since.
func TestASignedPaymentNeedsNoFurtherGas(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.pricedTokens()
		w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[0], Currency: token.Code, Amount: "10",
			Address: r.Chain.Named("outside")})
		r.Must(err)
		r.withoutSigner(func() { r.Check(r.Sender.Step(ctx, r.Lease)) })
		r.Do(func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.NetworkFee("a test", 0, "COIN", bursar.Units(2_000_000_000), tx.Now()))
		})
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.Now(w); now.Status != bursar.WithdrawalBroadcast || r.alarmed("gas_budget") {
			t.Errorf("the withdrawal is %s: %q", now.Status, r.errors())
		}
	})
}
