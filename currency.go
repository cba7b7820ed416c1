package bursar

import (
	"fmt"
	"slices"
)

// CurrencyCode names a currency of the interface, such as "USDT-MATIC".
type CurrencyCode string

// ChainID names a chain of the configuration, such as "polygon".
type ChainID string

// Family names the chains that share keys and addresses: a deposit address made for one is payable on all of them.
type Family string

// Currency is one line of the registry: what a code means on its chain and what the operator asks for it.
type Currency struct {
	Code     CurrencyCode
	Chain    ChainID
	Contract string // canonical token contract; empty for the native asset
	Decimals int    // of the smallest unit
	Places   int    // decimals in balances and withdrawal amounts
	Memo     string // what the address's memo is called, empty without one

	Minimum           Amount // smallest deposit that is credited
	WithdrawalMinimum Amount
	WithdrawalMaximum Amount // zero: none
	ApprovalAbove     Amount // larger withdrawals wait for an operator; zero: none do
	HourlyLimit       Amount // the most that the signer lets leave for customers within an hour; zero: no limit
	DepositFee        Fee
	WithdrawalFee     Fee
	SweepFrom         Amount // of a token, from what amount an address is swept while no rate tells what that is worth; zero: 20 times Minimum

	Confirmations Confirmations // that a deposit needs beyond the chain's own finality
	CreditQuorum  CreditQuorum  // when a second endpoint is asked before a deposit is credited
}

// Fee is what the operator takes: a fixed amount, a share of the amount in millionths, and, where Network is set, the
// chain's fee as estimated when the order was taken.
type Fee struct {
	Network    bool
	Fixed      Amount
	Millionths uint32
}

// Of returns the operator's fee on an amount, the network's part left out. It may exceed the amount.
func (f Fee) Of(amount Amount) (Amount, error) {
	share, err := amount.PPM(f.Millionths)
	if err != nil {
		return Amount{}, err
	}
	return share.Add(f.Fixed)
}

// IsToken reports whether the currency lives in a contract rather than being the native asset.
func (c Currency) IsToken() bool { return c.Contract != "" }

// Parse reads a request's decimal amount, which may have no more decimals than the currency's places.
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

// Exact writes an amount with at least the currency's places and as many more as the value has.
func (c Currency) Exact(a Amount) string { return a.Decimal(c.Decimals, c.Places) }

// Balance writes an amount with exactly the currency's places, rounded down.
func (c Currency) Balance(a Amount) string { return a.Rounded(c.Decimals, c.Places) }

// Registry is the set of currencies a service knows, in the order they are listed. It is not changed after it is made.
type Registry struct {
	list   []Currency
	byCode map[CurrencyCode]int
}

// NewRegistry checks the currencies and returns their registry. Codes must be unique, and so must a chain's contracts.
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
			return nil, fmt.Errorf("currency %s: places must lie between 0 and decimals, decimals between 0 and %d", c.Code,
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

// All returns every currency in its order. The slice must not be changed.
func (r *Registry) All() []Currency { return r.list }

// Served returns the codes of a chain's currencies in their order, without those for which suspended, which may be nil,
// gives a reason.
func (r *Registry) Served(chain ChainID, suspended func(CurrencyCode) string) (codes []CurrencyCode) {
	for _, c := range r.On(chain) {
		if suspended == nil || suspended(c.Code) == "" {
			codes = append(codes, c.Code)
		}
	}
	return codes
}

// On returns the currencies of one chain in their order.
func (r *Registry) On(chain ChainID) []Currency {
	return slices.DeleteFunc(slices.Clone(r.list), func(c Currency) bool { return c.Chain != chain })
}
