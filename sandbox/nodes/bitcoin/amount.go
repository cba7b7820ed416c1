package bitcoin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// coinUnit is the number of satoshi in one bitcoin.
const coinUnit = 100_000_000

// maxMoney is the largest amount bitcoind takes as a parameter, in satoshi.
const maxMoney = 21_000_000 * coinUnit

// satoshi is an amount that JSON shows as bitcoind does: a decimal number with eight places, never through a float.
type satoshi int64

// MarshalJSON writes ValueFromAmount of Bitcoin Core.
func (s satoshi) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

func (s satoshi) String() string {
	sign, v := "", int64(s)
	if v < 0 {
		sign, v = "-", -v
	}
	return fmt.Sprintf("%s%d.%08d", sign, v/coinUnit, v%coinUnit)
}

var errAmount = errors.New("Invalid amount") //nolint:staticcheck // bitcoind's text

// parseAmount reads a decimal with at most eight places, such as "0.1".
func parseAmount(text string) (satoshi, error) {
	whole, frac, _ := strings.Cut(text, ".")
	negative := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	if whole == "" || len(whole) > 10 || len(frac) > 8 || (strings.Contains(text, ".") && frac == "") {
		return 0, errAmount
	}
	digits := whole + frac + strings.Repeat("0", 8-len(frac))
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, errAmount
		}
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, errAmount
	}
	if negative {
		v = -v
	}
	return satoshi(v), nil
}

// money is FormatMoney of Bitcoin Core, which refusals use: at least two places and no zeros after them.
func money(v int64) string {
	s := satoshi(v).String()
	for strings.HasSuffix(s, "0") && len(s)-strings.IndexByte(s, '.') > 3 {
		s = s[:len(s)-1]
	}
	return s
}

// feeRate is CFeeRate::ToString of Bitcoin Core.
func feeRate(satPerKvB int64) string { return satoshi(satPerKvB).String() + " BTC/kvB" }
