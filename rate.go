package bursar

import (
	"errors"
	"math/big"
	"strings"
)

// USDT is the currency in which values are shown, and the unit of every Rate.
const USDT CurrencyCode = "USDT"

const (
	valueDecimals   = 6 // of a value in USDT, as many as the token has on Tron
	valuePlaces     = 2 // that a value shows at least
	maxRateDecimals = 18
)

// Rate is the value of one whole unit of a currency in USDT: an exact decimal above zero. The zero Rate is unknown.
type Rate struct {
	value    Amount
	decimals int
}

// ErrBadRate is returned for a text that is not a rate.
var ErrBadRate = errors.New("not a rate: a plain decimal number above zero with at most 18 decimals")

// ParseRate reads a plain decimal such as "65000.5", never through a float. Trailing zeros mean nothing.
func ParseRate(s string) (Rate, error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if pointed && fraction == "" || !digits(fraction) {
		return Rate{}, ErrBadRate
	}
	text := whole
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		text += "." + fraction
	}
	if len(fraction) > maxRateDecimals {
		return Rate{}, ErrBadRate
	}
	value, err := ParseDecimal(text, len(fraction))
	if err != nil || value.IsZero() {
		return Rate{}, ErrBadRate
	}
	return Rate{value: value, decimals: len(fraction)}, nil
}

// Par returns the rate of USDT itself: 1.
func Par() Rate { return Rate{value: Units(1)} }

// IsKnown reports whether the rate is known.
func (r Rate) IsKnown() bool { return !r.value.IsZero() }

// String returns the exact decimal, "" for an unknown rate.
func (r Rate) String() string {
	if !r.IsKnown() {
		return ""
	}
	return r.value.Decimal(r.decimals, 0)
}

// Worth returns the value of an amount of the rate's currency in USDT: the exact product, rounded down to six decimals,
// written with at least two. It is "" for an unknown rate and for a value that exceeds 128 bits.
func (r Rate) Worth(a Amount, c Currency) string {
	if !r.IsKnown() {
		return ""
	}
	product := new(big.Int).Mul(a.Big(), r.value.Big()) // of 10^-(c.Decimals+r.decimals) USDT
	shift := c.Decimals + r.decimals - valueDecimals
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift < 0 {
		product.Mul(product, power)
	} else {
		product.Quo(product, power)
	}
	figure, err := AmountFromBig(product)
	if err != nil {
		return ""
	}
	return figure.Decimal(valueDecimals, valuePlaces)
}

// Covers reports whether an amount of one currency is worth at least an amount of another. known is false where one of
// the rates is not known.
func (r Rate) Covers(a Amount, c Currency, other Rate, b Amount, d Currency) (covers, known bool) {
	if !r.IsKnown() || !other.IsKnown() {
		return false, false
	}
	left := new(big.Int).Mul(a.Big(), r.value.Big())      // of 10^-(c.Decimals+r.decimals) USDT
	right := new(big.Int).Mul(b.Big(), other.value.Big()) // of 10^-(d.Decimals+other.decimals) USDT
	shift := d.Decimals + other.decimals - c.Decimals - r.decimals
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift > 0 {
		left.Mul(left, power)
	} else {
		right.Mul(right, power)
	}
	return left.Cmp(right) >= 0, true
}
