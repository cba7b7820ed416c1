package bursar

import (
	"fmt"
	"slices"
)

// CurrencyCode names a currency in the API, such as "USDT-MATIC".
type CurrencyCode string

// ChainID names a chain in the configuration, such as "polygon".
type ChainID string

// Family names the chains that share keys and addresses: a deposit address made for one is payable on all of them.
type Family string

// Currency is one entry of the registry: an asset of a chain, and the operator's limits and fees for it.
type Currency struct {
	Code     CurrencyCode
	Chain    ChainID
	Contract string     // canonical token contract; empty for the native asset
	Decimals int        // of the smallest unit
	Places   int        // display precision: decimals in balances and withdrawal amounts
	Memo     string     // name of the address's memo; empty: the chain uses none
	Link     WalletLink // the form of URIs that say to a wallet what to pay

	Minimum           Amount // smallest deposit that is credited
	WithdrawalMinimum Amount
	WithdrawalMaximum Amount // zero: no maximum
	ApprovalAbove     Amount // larger withdrawals wait for an operator; zero: none do
	HourlyLimit       Amount // the most that the signer signs for customers within an hour; zero: no limit
	DailyLimit        Amount // the same within a day
	WeeklyLimit       Amount // the same within a week
	HotCeiling        Amount // what the hot wallet holds beyond it goes to a cold wallet; zero: nothing does
	HotTarget         Amount // what the hot wallet holds afterwards, beside what is about to be paid
	DepositFee        Fee
	WithdrawalFee     Fee
	SweepFrom         Amount // of a token: amount from which it is swept while no rate is known; zero: 20 times Minimum

	Confirmations Confirmations // what a deposit needs beyond the chain's own finality
	CreditQuorum  CreditQuorum  // when a second endpoint is asked before a deposit is credited
}

// Fee is the operator's fee: a fixed amount, a share of the amount in millionths (ppm), and, where Network is set, the
// chain's fee as estimated when the withdrawal was requested.
type Fee struct {
	Network    bool
	Fixed      Amount
	Millionths uint32
}

// Of returns the operator's fee on an amount without the network's part. It may exceed the amount.
func (f Fee) Of(amount Amount) (Amount, error) {
	share, err := amount.PPM(f.Millionths)
	if err != nil {
		return Amount{}, err
	}
	return share.Add(f.Fixed)
}

// IsToken reports whether the currency is a token of a contract and not the native asset.
func (c Currency) IsToken() bool { return c.Contract != "" }

// Parse reads a request's decimal amount, which may have no more decimals than the currency's display precision.
func (c Currency) Parse(s string) (Amount, error) {
	a, err := ParseDecimal(s, min(c.Places, c.Decimals))
	if err != nil {
		return Amount{}, err
	}
	for range c.Decimals - min(c.Places, c.Decimals) {
		if a, err = a.Mul(10); err != nil {
			return Amount{}, err
		}
	}
	return a, nil
}

// Exact writes an amount with at least the decimals of the display precision, and more where the value has more.
func (c Currency) Exact(a Amount) string { return a.Decimal(c.Decimals, c.Places) }

// Balance writes an amount with exactly the decimals of the display precision, rounded down.
func (c Currency) Balance(a Amount) string { return a.Rounded(c.Decimals, c.Places) }

// Text writes an amount in whole units with the currency's code, for logs, alarms and errors: "0.60000000 BTC".
func (c Currency) Text(a Amount) string { return c.Exact(a) + " " + string(c.Code) }

// Registry is the set of currencies that a service knows, in the order of the configuration. It never changes.
type Registry struct {
	list   []Currency
	byCode map[CurrencyCode]int
}

// NewRegistry checks the currencies and returns their registry. Codes must be unique, and so must the contracts of a
// chain.
func NewRegistry(currencies []Currency) (*Registry, error) {
	r := &Registry{list: slices.Clone(currencies), byCode: map[CurrencyCode]int{}}
	type asset struct {
		chain    ChainID
		contract string
	}
	assets := map[asset]CurrencyCode{}
	for i, c := range r.list {
		if c.Code == "" || c.Chain == "" {
			return nil, fmt.Errorf("currency %d: code and chain are required", i)
		}
		if c.Decimals < 0 || c.Decimals > maxDecimals || c.Places < 0 || c.Places > c.Decimals {
			return nil, fmt.Errorf("currency %s: places must be between 0 and decimals, decimals between 0 and %d", c.Code,
				maxDecimals)
		}
		if _, double := r.byCode[c.Code]; double {
			return nil, fmt.Errorf("currency %s is defined twice", c.Code)
		}
		if other, double := assets[asset{c.Chain, c.Contract}]; double {
			return nil, fmt.Errorf("currencies %s and %s are the same asset of %s", other, c.Code, c.Chain)
		}
		r.byCode[c.Code], assets[asset{c.Chain, c.Contract}] = i, c.Code
	}
	return r, nil
}

// Get returns the currency with the code, or an unsupported_currency Error.
func (r *Registry) Get(code CurrencyCode) (Currency, error) {
	i, ok := r.byCode[code]
	if !ok {
		return Currency{}, RefuseField(CodeUnsupportedCurrency, "currency", "this service has no currency %.20q",
			string(code))
	}
	return r.list[i], nil
}

// Asset returns the currency of a chain's contract ("" for the native asset) and whether there is one.
func (r *Registry) Asset(chain ChainID, contract string) (Currency, bool) {
	for _, c := range r.list {
		if c.Chain == chain && c.Contract == contract {
			return c, true
		}
	}
	return Currency{}, false
}

// Native returns the currency of a chain's native asset, or an error if none is configured.
func (r *Registry) Native(chain ChainID) (Currency, error) {
	native, configured := r.Asset(chain, "")
	if !configured {
		return native, fmt.Errorf("no currency is configured for the native asset of chain %s", chain)
	}
	return native, nil
}

// Text writes an amount of a currency in whole units with its code. It never fails: for a currency that is no longer
// configured it counts smallest units, "60000000 units of BTC".
func (r *Registry) Text(code CurrencyCode, a Amount) string {
	if c, err := r.Get(code); err == nil {
		return c.Text(a)
	}
	return a.String() + " units of " + string(code)
}

// AssetText writes an amount of a chain's contract ("" for the native asset) as Text does.
func (r *Registry) AssetText(chain ChainID, contract string, a Amount) string {
	c, ok := r.Asset(chain, contract)
	switch {
	case ok:
		return c.Text(a)
	case contract == "":
		return a.String() + " units of the native asset of " + string(chain)
	}
	return a.String() + " units of the contract " + contract
}

// All returns every currency in the registry's order. The slice must not be changed.
func (r *Registry) All() []Currency { return r.list }

// Served returns the codes of a chain's currencies in the registry's order, without those that are suspended. suspended
// returns the reason for a suspended currency and may be nil.
func (r *Registry) Served(chain ChainID, suspended func(CurrencyCode) string) (codes []CurrencyCode) {
	for _, c := range r.On(chain) {
		if suspended == nil || suspended(c.Code) == "" {
			codes = append(codes, c.Code)
		}
	}
	return codes
}

// On returns the currencies of one chain in the registry's order.
func (r *Registry) On(chain ChainID) (list []Currency) {
	for i := range r.list {
		if r.list[i].Chain == chain {
			list = append(list, r.list[i])
		}
	}
	return list
}
