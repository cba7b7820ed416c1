package bursar

import (
	"math/big"
	"strings"
	"time"
)

// Unit is what a charge is priced in: a currency of the registry, or a fiat currency by its ISO 4217 code. USDT is not
// USD: only a named rate leads from one unit to another.
type Unit struct {
	Code     CurrencyCode
	Fiat     bool
	Decimals int // of the smallest unit in which values are counted
	Places   int // that an amount shows at least, and that a price in fiat has at most
}

// fiatDecimals is the scale of values in fiat: finer than any coin of money, so that what several payments lose by
// rounding down stays below anything that is shown.
const fiatDecimals = 8

// minorUnits lists the fiat currencies whose minor unit is not a hundredth (ISO 4217, list one).
var minorUnits = map[CurrencyCode]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
	"VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}

// UnitOf returns the unit of a currency of the registry.
func UnitOf(c Currency) Unit { return Unit{Code: c.Code, Decimals: c.Decimals, Places: c.Places} }

// FiatUnit returns the unit of a code of three capital letters, and whether it is one. It does not know which codes are
// in use: a fiat currency is usable once a rate is configured for it.
func FiatUnit(code CurrencyCode) (Unit, bool) {
	if len(code) != 3 || strings.Trim(string(code), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return Unit{}, false
	}
	places, listed := minorUnits[code]
	if !listed {
		places = 2
	}
	return Unit{Code: code, Fiat: true, Decimals: fiatDecimals, Places: places}, true
}

// Parse reads a price: a plain decimal with no more decimals than the unit shows.
func (u Unit) Parse(s string) (Amount, error) {
	a, err := ParseDecimal(s, min(u.Places, u.Decimals))
	if err != nil {
		return Amount{}, err
	}
	return AmountFromBig(new(big.Int).Mul(a.Big(), tenTo(u.Decimals-min(u.Places, u.Decimals))))
}

// Exact writes an amount with at least the decimals that the unit shows, and more where the value has more.
func (u Unit) Exact(a Amount) string { return a.Decimal(u.Decimals, u.Places) }

// Value returns what an amount of a currency is worth in a unit at a rate, which is the value of one whole unit of the
// currency: rounded down, so that nothing is counted that was not paid. ErrAmountOverflow is the only error.
func (r Rate) Value(a Amount, c Currency, u Unit) (Amount, error) {
	product := new(big.Int).Mul(a.Big(), r.value.Big()) // of 10^-(c.Decimals+r.decimals) of the unit
	return AmountFromBig(scaled(product, c.Decimals+r.decimals-u.Decimals))
}

// ValueUp is Value rounded up: what an amount may be worth at most.
func (r Rate) ValueUp(a Amount, c Currency, u Unit) (Amount, error) {
	value, err := r.Value(a, c, u)
	if rest := r.rest(a, c, u); err == nil && rest != nil && rest.Sign() > 0 {
		return value.Add(Units(1))
	}
	return value, err
}

// rest returns the share of the unit's smallest unit that Value rounds off, nil where that is nothing.
func (r Rate) rest(a Amount, c Currency, u Unit) *big.Rat {
	power := c.Decimals + r.decimals - u.Decimals
	if power <= 0 {
		return nil
	}
	product := new(big.Int).Mul(a.Big(), r.value.Big())
	return new(big.Rat).SetFrac(product.Rem(product, tenTo(power)), tenTo(power))
}

// Payable returns the smallest payable amount of a currency that is worth at least a value in a unit: rounded up to the
// currency's display precision, so that paying it exactly always suffices. The rate must be known.
func (r Rate) Payable(value Amount, u Unit, c Currency) (Amount, error) {
	steps, step, rest := r.steps(value, u, c)
	if rest {
		steps.Add(steps, big.NewInt(1))
	}
	return AmountFromBig(steps.Mul(steps, step))
}

// Affordable returns the largest payable amount of a currency that is worth at most a value in a unit. The rate must be
// known.
func (r Rate) Affordable(value Amount, u Unit, c Currency) (Amount, error) {
	steps, step, _ := r.steps(value, u, c)
	return AmountFromBig(steps.Mul(steps, step))
}

// steps returns how many whole payable steps of a currency a value is worth, the step, and whether there is a rest.
func (r Rate) steps(value Amount, u Unit, c Currency) (steps, step *big.Int, rest bool) {
	// The amount is value * 10^(c.Decimals + r.decimals - u.Decimals) / rate, rounded up.
	needed, divisor := value.Big(), r.value.Big()
	if shift := c.Decimals + r.decimals - u.Decimals; shift >= 0 {
		needed.Mul(needed, tenTo(shift))
	} else {
		divisor.Mul(divisor, tenTo(-shift))
	}
	step = tenTo(c.Decimals - min(c.Places, c.Decimals))
	divisor.Mul(divisor, step)
	steps, over := needed.QuoRem(needed, divisor, new(big.Int))
	return steps, step, over.Sign() > 0
}

// Cmp compares two known rates of the same currency and unit.
func (r Rate) Cmp(other Rate) int {
	left := new(big.Int).Mul(r.value.Big(), tenTo(max(0, other.decimals-r.decimals)))
	right := new(big.Int).Mul(other.value.Big(), tenTo(max(0, r.decimals-other.decimals)))
	return left.Cmp(right)
}

// Within reports whether a rate is below another one by at most a share of the other, in millionths. Both are known.
func (r Rate) Within(most uint32, other Rate) bool {
	if r.Cmp(other) >= 0 {
		return true
	}
	const whole = 1_000_000
	left := new(big.Int).Mul(r.value.Big(), tenTo(max(0, other.decimals-r.decimals)))
	right := new(big.Int).Mul(other.value.Big(), tenTo(max(0, r.decimals-other.decimals)))
	left.Mul(left, big.NewInt(whole))
	right.Mul(right, big.NewInt(whole-int64(min(most, whole))))
	return left.Cmp(right) >= 0
}

// scaled divides by ten to a power, rounded down; a power below zero multiplies.
func scaled(n *big.Int, power int) *big.Int {
	if power < 0 {
		return n.Mul(n, tenTo(-power))
	}
	return n.Quo(n, tenTo(power))
}

func tenTo(power int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil)
}

// PairRate is a rate that counts now: what a whole unit of a currency is worth in a fiat currency.
type PairRate struct {
	Currency CurrencyCode
	Unit     CurrencyCode
	Rate     Rate
	Source   string
	At       time.Time
}
