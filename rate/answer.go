package rate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
)

// parse reads one JSON document; numbers keep the text in which they are written.
func parse(body []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, errors.New("the response is not JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the response has data after its JSON document")
	}
	return document, nil
}

// rateAt reads the rate at a JSON pointer, which may be a number or a string.
func rateAt(document any, pointer string) (bursar.Rate, bool) {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch inner := document.(type) {
		case map[string]any:
			document = inner[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(inner) || strconv.Itoa(i) != name {
				return bursar.Rate{}, false
			}
			document = inner[i]
		default:
			return bursar.Rate{}, false
		}
	}
	switch value := document.(type) {
	case json.Number:
		return rateOf(value.String())
	case string:
		return rateOf(value)
	}
	return bursar.Rate{}, false
}

// maxExponent is the largest exponent that a number may have.
const maxExponent = 40

// rateOf reads a decimal, also one with an exponent, as JSON often has for small rates. Digits after the 18th decimal
// are cut off.
func rateOf(text string) (bursar.Rate, bool) {
	mantissa, exponent, moved := strings.Cut(strings.ToLower(text), "e")
	move := 0
	if moved {
		var err error
		if move, err = strconv.Atoi(exponent); err != nil || move < -maxExponent || move > maxExponent {
			return bursar.Rate{}, false
		}
	}
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	if len(text) > 2*maxExponent || pointed && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return bursar.Rate{}, false
	}
	whole, fraction = shift(whole, fraction, move)
	const decimals = 18
	r, err := bursar.ParseRate(strings.TrimSuffix(whole+"."+fraction[:min(len(fraction), decimals)], "."))
	return r, err == nil
}

// shift moves the decimal point between two strings of digits to the right, or to the left where by is below zero.
func shift(whole, fraction string, by int) (string, string) {
	if by > 0 {
		fraction += strings.Repeat("0", max(0, by-len(fraction)))
		whole, fraction = whole+fraction[:by], fraction[by:]
	}
	if by < 0 {
		whole = strings.Repeat("0", max(0, -by-len(whole)+1)) + whole
		whole, fraction = whole[:len(whole)+by], whole[len(whole)+by:]+fraction
	}
	if by != 0 {
		whole = cmp.Or(strings.TrimLeft(whole, "0"), "0")
	}
	return whole, fraction
}
