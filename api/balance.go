package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// amounts are decimal texts by currency.
type amounts map[bursar.CurrencyCode]string

type accountView struct {
	AccountID bursar.ID `json:"accountID"`
	Balance   amounts   `json:"balance"`
	Pending   amounts   `json:"pending"` // in deposits that are not credited yet
	Held      amounts   `json:"held"`    // for withdrawals under way
}

// getBalance is GET account: the balance in every currency whose chain is configured and in every other that the
// account has used.
func (a *api) getBalance(ctx context.Context, c *call) (any, error) {
	id := c.identity.Account
	sums, err := a.sums(ctx, c)
	if err != nil {
		return nil, err
	}
	view := accountView{AccountID: id, Balance: amounts{}, Pending: amounts{}, Held: amounts{}}
	for _, currency := range a.Registry.All() {
		_, configured := a.Chains[currency.Chain]
		_, posted := sums.Available[currency.Code]
		if !configured && !posted && sums.Pending[currency.Code].IsZero() {
			continue
		}
		view.Pending[currency.Code] = currency.Balance(sums.Pending[currency.Code])
		if view.Balance[currency.Code], err = balanceText(currency, sums.Available[currency.Code]); err != nil {
			return nil, err
		}
		if view.Held[currency.Code], err = balanceText(currency, sums.Held[currency.Code]); err != nil {
			return nil, err
		}
	}
	return struct {
		Account accountView `json:"account"`
	}{view}, nil
}

// balancesAhead says that GET account reads the balances.
func balancesAhead(*http.Request) account.Ahead { return account.Ahead{Balances: true} }

// sums returns the balances that were read together with the key, or reads them.
func (a *api) sums(ctx context.Context, c *call) (store.AccountBalances, error) {
	if read := c.identity.Read.Balances; read != nil {
		return *read, nil
	}
	return a.balances.Find(ctx, c.identity.Account)
}

// balanceText writes a customer's balance with the currency's display precision, rounded down so that it never shows
// more than there is: a balance below zero, which only a reversal causes, is rounded away from zero.
func balanceText(c bursar.Currency, b ledger.Balance) (string, error) {
	amount, negative := b.Net(ledger.Liability)
	if !negative {
		return c.Balance(amount), nil
	}
	place, err := bursar.ParseDecimal("1", c.Decimals-c.Places) // units of the last decimal shown
	if err != nil {
		return "", fmt.Errorf("round a balance of %s: %w", c.Code, err)
	}
	up, err := amount.Add(place.SubOrZero(bursar.Units(1)))
	if err != nil {
		return "", fmt.Errorf("round a balance of %s: %w", c.Code, err)
	}
	return "-" + c.Balance(up), nil
}
