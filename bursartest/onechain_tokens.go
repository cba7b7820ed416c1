package bursartest

import (
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// WithToken adds a token to the harness's chain.
func (r *OneChain) WithToken() bursar.Currency {
	token := bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID, Contract: r.Chain.Named("the contract"),
		Decimals: 6, Places: 2, Minimum: bursar.Units(1000)}
	r.Reconfigure(token)
	return token
}

// WithTokens gives a harness two tokens, TOKEN and OTHER, with few decimals.
func (r *OneChain) WithTokens() *OneChain {
	var list []bursar.Currency
	for _, code := range []bursar.CurrencyCode{"TOKEN", "OTHER"} {
		list = append(list, bursar.Currency{Code: code, Chain: r.Chain.Capabilities().ID,
			Contract: r.Chain.Named(strings.ToLower(string(code))), Decimals: 2, Places: 2,
			Minimum: bursar.Units(10), WithdrawalMinimum: bursar.Units(10)})
	}
	r.Reconfigure(list...)
	return r
}

// Give pays units of a token from outside.
func (r *OneChain) Give(code bursar.CurrencyCode, to bursar.Address, units uint64) {
	r.T.Helper()
	currency, err := r.Registry.Get(code)
	r.Must(err)
	r.Chain.Pay(chain.Payment{Address: to, Contract: currency.Contract, Amount: bursar.Units(units)})
}

// OrderOf requests a withdrawal of a currency that must be accepted.
func (r *OneChain) OrderOf(account int, code bursar.CurrencyCode, units uint64, to string) bursar.Withdrawal {
	r.T.Helper()
	currency, err := r.Registry.Get(code)
	r.Must(err)
	w, err := r.Withdrawals.Request(ctx, withdrawal.Request{Account: r.Accounts[account], Currency: code,
		Amount: currency.Exact(bursar.Units(units)), Address: to})
	r.Must(err)
	return w
}

// SweepToken has a deposit of 80 of a token swept, with a token that behaves in the given manners, until that is final.
func (r *OneChain) SweepToken(token bursar.Currency, manners sim.Manners) bursar.Wallet {
	r.T.Helper()
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	w := r.WalletOf(0, token.Code)
	r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
	r.Chain.Mine(1)
	r.Chain.SetManners(token.Contract, manners)
	r.SettleAll()
	return w
}

// SweepOf returns the newest settled sweep of an address.
func (r *OneChain) SweepOf(base string) (found bursar.OutgoingTx) {
	r.T.Helper()
	_, latest := r.Chain.Heights()
	r.View(func(tx *store.Tx) error {
		for height := range latest + 1 {
			settled, err := tx.Outgoing().SettledAt(ctx, r.Chain.Capabilities().ID, height)
			if err != nil {
				return err
			}
			for _, p := range settled {
				if p.Kind == string(chain.KindSweep) && p.Base == base {
					found = p
				}
			}
		}
		return nil
	})
	return found
}

// Swept counts all sweeps ever requested, by currency.
func (r *OneChain) Swept() map[bursar.CurrencyCode]int {
	r.T.Helper()
	counts := map[bursar.CurrencyCode]int{}
	r.View(func(tx *store.Tx) error {
		for _, code := range []bursar.CurrencyCode{"COIN", "TOKEN", "OTHER"} {
			open, err := tx.Outgoing().OpenSweeps(ctx, r.Chain.Capabilities().ID, code, 1000)
			if err != nil {
				return err
			}
			counts[code] = len(open)
		}
		return nil
	})
	return counts
}
