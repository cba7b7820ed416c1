package api

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// currencyView is what a client needs to know to use a currency.
type currencyView struct {
	Chain             bursar.ChainID `json:"chain"`
	Contract          *string        `json:"contract"` // null for the native asset
	Decimals          int            `json:"decimals"`
	Places            int            `json:"places"`
	Minimum           string         `json:"minimum"`
	WithdrawalMinimum string         `json:"withdrawalMinimum"`
	WithdrawalMaximum string         `json:"withdrawalMaximum,omitempty"`
	WithdrawalFee     string         `json:"withdrawalFee"`                // "network", or the fixed amount
	WithdrawalFixed   string         `json:"withdrawalFeeFixed,omitempty"` // in addition to "network"
	WithdrawalPercent string         `json:"withdrawalFeePercent,omitempty"`
	DepositFee        string         `json:"depositFee,omitempty"`
	DepositPercent    string         `json:"depositFeePercent,omitempty"`
	Confirmations     int            `json:"confirmations"`
	Memo              *string        `json:"memo"` // name of the part of an address after the colon; null: none
}

type currenciesAnswer struct {
	Currencies []bursar.CurrencyCode                `json:"currencies"`
	Details    map[bursar.CurrencyCode]currencyView `json:"details"`
}

// listCurrencies is GET wallet/currencies: the currencies whose chain is configured, in the registry's order, with the
// fees that the account pays and the largest withdrawal that it may request.
func (a *api) listCurrencies(ctx context.Context, call *call) (any, error) {
	answer := currenciesAnswer{Currencies: []bursar.CurrencyCode{}, Details: map[bursar.CurrencyCode]currencyView{}}
	account := call.identity.Account
	var rules bursar.FeeRules
	var limits bursar.LimitRules
	err := a.DB.View(ctx, func(tx *store.Tx) (err error) {
		if limits, err = tx.LimitRules().Of(ctx, account); err != nil {
			return err
		}
		rules, err = tx.FeeRules().Of(ctx, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range a.Registry.All() {
		if capabilities, configured := a.Chains[c.Chain]; configured {
			answer.Currencies = append(answer.Currencies, c.Code)
			answer.Details[c.Code] = viewCurrency(limits.For(account, rules.For(account, c)),
				max(capabilities.Confirmations, c.Confirmations.Default))
		}
	}
	return answer, nil
}

func viewCurrency(c bursar.Currency, confirmations int) currencyView {
	view := currencyView{
		Chain:             c.Chain,
		Contract:          orNull(c.Contract),
		Decimals:          c.Decimals,
		Places:            c.Places,
		Minimum:           c.Exact(c.Minimum),
		WithdrawalMinimum: c.Exact(c.WithdrawalMinimum),
		WithdrawalFee:     c.Exact(c.WithdrawalFee.Fixed),
		WithdrawalPercent: percent(c.WithdrawalFee.Millionths),
		DepositPercent:    percent(c.DepositFee.Millionths),
		Confirmations:     confirmations,
		Memo:              orNull(c.Memo),
	}
	if !c.WithdrawalMaximum.IsZero() {
		view.WithdrawalMaximum = c.Exact(c.WithdrawalMaximum)
	}
	if c.WithdrawalFee.Network {
		view.WithdrawalFee = "network"
		if !c.WithdrawalFee.Fixed.IsZero() {
			view.WithdrawalFixed = c.Exact(c.WithdrawalFee.Fixed)
		}
	}
	if !c.DepositFee.Fixed.IsZero() {
		view.DepositFee = c.Exact(c.DepositFee.Fixed)
	}
	return view
}

// percent writes millionths (ppm) as a percentage: 5000 is "0.5", 0 is "".
func percent(millionths uint32) string {
	if millionths == 0 {
		return ""
	}
	return bursar.Units(uint64(millionths)).Decimal(4, 0)
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
