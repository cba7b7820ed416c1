package bursar

import (
	"errors"
	"math/big"
	"strings"
)

// USDT is the currency that figures are told in, and the unit of every Rate.
const USDT CurrencyCode = "USDT"

const (
	figureDecimals  = 6 // of a figure in USDT, as the token has on the chain it is named after
	figurePlaces    = 2 // that a figure shows in any case
	maxRateDecimals = 18
)

// Rate is what one whole unit of a currency is worth in USDT: an exact decimal above zero. The zero Rate is unknown.
type Rate struct {
	value    Amount
	decimals int
}

// ErrBadRate is returned for a text that is no rate.
var ErrBadRate = errors.New("not a rate: a plain decimal number above zero with at most 18 decimals")

// ParseRate reads a plain decimal such as "65000.5", never through a float. Zeros at its end mean nothing.
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

// IsKnown reports whether there is a rate.
func (r Rate) IsKnown() bool { return !r.value.IsZero() }

// String returns the exact decimal, "" for an unknown rate.
func (r Rate) String() string {
	if !r.IsKnown() {
		return ""
	}
	return r.value.Decimal(r.decimals, 0)
}

// Worth returns what an amount of the rate's currency is worth in USDT: the exact product, cut off after the millionth,
// with two decimals at least. It is "" for an unknown rate and for a figure that exceeds 128 bits.
func (r Rate) Worth(a Amount, c Currency) string {
	if !r.IsKnown() {
		return ""
	}
	product := new(big.Int).Mul(a.Big(), r.value.Big()) // of 10^-(c.Decimals+r.decimals) USDT
	shift := c.Decimals + r.decimals - figureDecimals
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
	return figure.Decimal(figureDecimals, figurePlaces)
}

// Covers reports whether an amount of one currency is worth at least an amount of another, and false in known where one
// of the rates is not known.
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
