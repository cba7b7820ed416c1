package roster

import (
	"math/big"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Value is an amount in the reference currency, in millionths.
type Value = bursar.Amount

const valueDecimals = 6

func valueText(v Value) string { return v.Decimal(valueDecimals, 0) }

func parseValue(text string) (Value, error) { return bursar.ParseDecimal(text, valueDecimals) }

// worth returns what units of an asset are worth, rounded up; at most bursar.LargestAmount.
func (a Asset) worth(units bursar.Amount) Value {
	product := new(big.Int).Mul(units.Big(), a.Price.Big())
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.Decimals)), nil)
	product.Add(product, new(big.Int).Sub(scale, big.NewInt(1)))
	v, err := bursar.AmountFromBig(product.Quo(product, scale))
	if err != nil {
		return bursar.LargestAmount()
	}
	return v
}

// Hours are times of the week in UTC, such as "Mon-Fri 07-19": on these days, from the first hour until the second.
// Empty: always.
type Hours string

var days = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// bounds returns the first and last day and the hours from and until.
func (h Hours) bounds() (first, last, from, until int, valid bool) {
	text := string(h)
	if len(text) != len("Mon-Fri 07-19") || text[3] != '-' || text[7] != ' ' || text[10] != '-' {
		return 0, 0, 0, 0, false
	}
	first, last = index(days, text[:3]), index(days, text[4:7])
	hour := func(two string) int {
		if strings.Trim(two, "0123456789") != "" {
			return -1
		}
		return int(two[0]-'0')*10 + int(two[1]-'0')
	}
	from, until = hour(text[8:10]), hour(text[11:])
	return first, last, from, until, first >= 0 && last >= first && from >= 0 && from < until && until <= 24
}

func index(list []string, text string) int {
	for i, one := range list {
		if one == text {
			return i
		}
	}
	return -1
}

func (h Hours) valid() bool {
	_, _, _, _, valid := h.bounds()
	return valid
}

// Open reports whether a time is within the hours.
func (h Hours) Open(now time.Time) bool {
	if h == "" {
		return true
	}
	first, last, from, until, valid := h.bounds()
	now = now.UTC()
	day := (int(now.Weekday()) + 6) % 7 // Monday is 0
	return valid && first <= day && day <= last && from <= now.Hour() && now.Hour() < until
}

// within reports whether every time within h is within other.
func (h Hours) within(other Hours) bool {
	if other == "" || h == other {
		return true
	}
	if h == "" {
		return false
	}
	first, last, from, until, _ := h.bounds()
	otherFirst, otherLast, otherFrom, otherUntil, _ := other.bounds()
	return otherFirst <= first && last <= otherLast && otherFrom <= from && until <= otherUntil
}
