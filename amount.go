package bursar

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Amount is an unsigned 128-bit count of an asset's smallest units (satoshi, wei, drops). It is comparable with ==,
// has no aliasing, and every operation that could leave the range reports it.
type Amount struct{ hi, lo uint64 }

// Errors of amount arithmetic and parsing.
var (
	ErrAmountOverflow  = errors.New("amount exceeds 128 bits")
	ErrAmountUnderflow = errors.New("amount would be below zero")
	ErrAmountSyntax    = errors.New("amount is not a plain decimal number")
	ErrAmountPlaces    = errors.New("amount has too many decimal places")
)

// maxDecimals bounds a currency's scale: 10^38 is the largest power of ten that fits 128 bits.
const maxDecimals = 38

// AmountOf reads an amount of 16 bytes, most significant first.
func AmountOf(raw [16]byte) Amount {
	return Amount{hi: binary.BigEndian.Uint64(raw[:8]), lo: binary.BigEndian.Uint64(raw[8:])}
}

// Units returns an amount of n smallest units.
func Units(n uint64) Amount { return Amount{lo: n} }

// LargestAmount returns the highest amount, 2^128 - 1.
func LargestAmount() Amount { return Amount{math.MaxUint64, math.MaxUint64} }

// IsZero reports whether the amount is nothing.
func (a Amount) IsZero() bool { return a == Amount{} }

// Cmp returns -1, 0 or +1 as a is less than, equal to or more than b.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a == b:
		return 0
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	}
	return 1
}

// Less reports whether a is less than b.
func (a Amount) Less(b Amount) bool { return a.Cmp(b) < 0 }

// Min returns the smaller of a and b.
func (a Amount) Min(b Amount) Amount {
	if b.Less(a) {
		return b
	}
	return a
}

// Max returns the larger of a and b.
func (a Amount) Max(b Amount) Amount {
	if a.Less(b) {
		return b
	}
	return a
}

// Add returns a+b, or ErrAmountOverflow.
func (a Amount) Add(b Amount) (Amount, error) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, over := bits.Add64(a.hi, b.hi, carry)
	if over != 0 {
		return Amount{}, ErrAmountOverflow
	}
	return Amount{hi, lo}, nil
}

// AddCapped returns a+b, or LargestAmount where that exceeds 128 bits. Use it for what is compared or shown, where too
// much must not become an error; what is booked or paid is added by Add.
func (a Amount) AddCapped(b Amount) Amount {
	sum, err := a.Add(b)
	if err != nil {
		return LargestAmount()
	}
	return sum
}

// Sub returns a-b, or ErrAmountUnderflow when b is more than a.
func (a Amount) Sub(b Amount) (Amount, error) {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, under := bits.Sub64(a.hi, b.hi, borrow)
	if under != 0 {
		return Amount{}, ErrAmountUnderflow
	}
	return Amount{hi, lo}, nil
}

// SubOrZero returns a-b, or zero when b is more than a.
func (a Amount) SubOrZero(b Amount) Amount {
	d, err := a.Sub(b)
	if err != nil {
		return Amount{}
	}
	return d
}

// Mul returns a*n, or ErrAmountOverflow.
func (a Amount) Mul(n uint64) (Amount, error) {
	over, hi := bits.Mul64(a.hi, n)
	carry, lo := bits.Mul64(a.lo, n)
	hi, c := bits.Add64(hi, carry, 0)
	if over != 0 || c != 0 {
		return Amount{}, ErrAmountOverflow
	}
	return Amount{hi, lo}, nil
}

// Div returns a/n rounded down and the rest. It panics when n is zero, as integer division does.
func (a Amount) Div(n uint64) (Amount, uint64) {
	hi, rest := a.hi/n, a.hi%n
	lo, rest := bits.Div64(rest, a.lo, n)
	return Amount{hi, lo}, rest
}

// PPM returns ppm/1,000,000 of the amount, rounded up so that a percentage fee never favours the payer by a unit. It is
// exact for every amount; ErrAmountOverflow is possible only where ppm exceeds 1,000,000.
func (a Amount) PPM(ppm uint32) (Amount, error) {
	const whole = 1_000_000
	quotient, rest := a.Div(whole) // divided first: the product of a large amount would not fit
	share, err := quotient.Mul(uint64(ppm))
	if err != nil {
		return Amount{}, err
	}
	return share.Add(Units((rest*uint64(ppm) + whole - 1) / whole))
}

// Sum returns the total of the amounts, or ErrAmountOverflow.
func Sum(amounts ...Amount) (Amount, error) {
	var total Amount
	for _, a := range amounts {
		var err error
		if total, err = total.Add(a); err != nil {
			return Amount{}, err
		}
	}
	return total, nil
}

// Uint64 returns the amount when it fits 64 bits.
func (a Amount) Uint64() (uint64, bool) { return a.lo, a.hi == 0 }

// Big returns the amount as a new big integer.
func (a Amount) Big() *big.Int {
	n := new(big.Int).SetUint64(a.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.lo))
}

// AmountFromBig converts a big integer; a negative one is ErrAmountUnderflow, one beyond 128 bits ErrAmountOverflow.
func AmountFromBig(n *big.Int) (Amount, error) {
	if n.Sign() < 0 {
		return Amount{}, ErrAmountUnderflow
	}
	if n.BitLen() > 128 {
		return Amount{}, ErrAmountOverflow
	}
	lo := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0)))
	return Amount{new(big.Int).Rsh(n, 64).Uint64(), lo.Uint64()}, nil
}

// String returns the count of smallest units in base ten.
func (a Amount) String() string {
	if a.hi == 0 {
		return fmt.Sprint(a.lo)
	}
	const chunk = 1e19 // the largest power of ten in 64 bits
	rest, low := a.Div(chunk)
	return fmt.Sprintf("%s%019d", rest, low)
}

// ParseUnits reads a count of smallest units in base ten, as String writes it.
func ParseUnits(s string) (Amount, error) {
	if s == "" || len(s) > 1 && s[0] == '0' {
		return Amount{}, fmt.Errorf("%w: %.40q", ErrAmountSyntax, s)
	}
	var a Amount
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return Amount{}, fmt.Errorf("%w: %.40q", ErrAmountSyntax, s)
		}
		var err error
		if a, err = a.appendDigit(s[i]); err != nil {
			return Amount{}, err
		}
	}
	return a, nil
}

func (a Amount) appendDigit(digit byte) (Amount, error) {
	shifted, err := a.Mul(10)
	if err != nil {
		return Amount{}, err
	}
	return shifted.Add(Units(uint64(digit - '0')))
}

// ParseDecimal reads a plain decimal ("0.015") of an asset with the given number of decimals. Signs, exponents, leading
// zeros, a bare point and more decimals than the asset carries are errors.
func ParseDecimal(s string, decimals int) (Amount, error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if pointed && fraction == "" || !digits(fraction) || whole == "" {
		return Amount{}, fmt.Errorf("%w: %.40q", ErrAmountSyntax, s)
	}
	if len(fraction) > decimals {
		return Amount{}, fmt.Errorf("%w: %.40q has %d, at most %d are allowed", ErrAmountPlaces, s, len(fraction), decimals)
	}
	a, err := ParseUnits(whole)
	if err != nil {
		return Amount{}, err
	}
	for _, c := range []byte(fraction + strings.Repeat("0", decimals-len(fraction))) {
		if a, err = a.appendDigit(c); err != nil {
			return Amount{}, err
		}
	}
	return a, nil
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Decimal writes the exact amount with at least so many decimals as places says, and more where the value has more.
func (a Amount) Decimal(decimals, places int) string {
	whole, fraction := a.split(decimals)
	for len(fraction) > places && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	return join(whole, fraction, places)
}

// Rounded writes the amount with exactly so many decimals as places says, rounded down.
func (a Amount) Rounded(decimals, places int) string {
	whole, fraction := a.split(decimals)
	return join(whole, fraction[:min(len(fraction), places)], places)
}

func (a Amount) split(decimals int) (whole, fraction string) {
	s := a.String()
	if len(s) <= decimals {
		s = strings.Repeat("0", decimals-len(s)+1) + s
	}
	return s[:len(s)-decimals], s[len(s)-decimals:]
}

func join(whole, fraction string, places int) string {
	fraction += strings.Repeat("0", max(0, places-len(fraction)))
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// Value stores the amount as base-ten text, the only form that both databases keep exactly.
func (a Amount) Value() (driver.Value, error) { return a.String(), nil }

// Scan reads what Value stored.
func (a *Amount) Scan(src any) (err error) {
	switch v := src.(type) {
	case string:
		*a, err = ParseUnits(v)
	case []byte:
		*a, err = ParseUnits(string(v))
	default:
		err = fmt.Errorf("scan amount: unexpected %T", src)
	}
	return err
}

// MarshalText writes the count of smallest units; an Amount in JSON is a string, never a number.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Amount) UnmarshalText(text []byte) (err error) {
	*a, err = ParseUnits(string(text))
	return err
}
