package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// notations are texts that some parser takes for a number. literal marks those that are JSON numbers: as such they
// reach the parameter's own check, and everything else is not JSON at all.
var notations = map[string]struct{ literal bool }{
	"1e3": {true}, "1E3": {true}, "1e+3": {true}, "1e-1": {true}, "1.0e1": {true}, "1e400": {true}, "1e999999999": {true},
	"-1": {true}, "-0": {true}, "-0.0": {true}, "0": {true}, "0.0": {true}, "0e0": {true},
	"+1": {}, "01": {}, "00": {}, "007.5": {}, "0x10": {}, "0b1": {}, "0o7": {}, ".5": {}, "1.": {}, ".": {}, "1..5": {},
	"1.5.5": {},
	"NaN":   {}, "nan": {}, "Infinity": {}, "-Infinity": {}, "inf": {}, "1_000": {}, "1,5": {}, "1,000.5": {}, "1 000": {},
	"1'000": {},
	" 1":    {}, "1 ": {}, "\t1": {}, "1\n": {}, "1\x00": {}, "\ufeff1": {}, "1\u200b": {}, "\u00a01": {}, "1f": {},
	"1d": {}, "1L": {}, "1n": {}, "$1": {}, "1 USDT": {},
	"\uff11": {}, "\uff11\uff0e\uff15": {}, "\u0661": {}, "\u0967": {}, "\u00b2": {}, "\u2460": {}, "\u2155": {},
	"1\u066b5": {}, "\u22121": {},
	"one": {}, "": {}, "1/2": {}, "50%": {}, "1;2": {}, "{}": {}, "[1]": {}, "null": {}, "true": {},
	"1" + strings.Repeat("0", 38):                              {true}, // one digit more than 128 bits hold
	"340282366920938463463374607431768211456":                  {true}, // 2^128
	strings.Repeat("9", 5000):                                  {true},
	"0." + strings.Repeat("0", 5000) + "1":                     {true},
	"1." + strings.Repeat("0", 3):                              {true}, // one place more than the currency has
	"99999999999999999999999999999999999999.9":                 {true},
	"1" + strings.Repeat("0", 18) + ".00000000000000000000001": {true},
}

// number is a parameter that is a number.
type number struct {
	method, path, name string
	code               string // of the refusal
	others             map[string]any
}

// TestInvalidNumbersAreRefusedInEveryEncoding sends every such text in every encoding of a parameter. Each is refused
// by name, and nothing is written.
func TestInvalidNumbersAreRefusedInEveryEncoding(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		c, right := furnished(t, url)
		before := c.written()
		for _, n := range []number{
			{http.MethodPost, "/api/v1/account/withdraw", "amount", "invalid_amount",
				map[string]any{"currency": "USDT", "address": right["address"]}},
			{http.MethodPost, "/api/v1/charge", "minimum", "invalid_amount",
				map[string]any{"currency": "USDT", "webhook": "https://shop.example"}},
			{http.MethodPost, "/api/v1/charge", "expires", "invalid_request",
				map[string]any{"currency": "USDT", "webhook": "https://shop.example"}},
			{http.MethodGet, "/api/v1/account/wallets", "limit", "invalid_request", map[string]any{}},
		} {
			for _, text := range slices.Sorted(maps.Keys(notations)) {
				c.notation(n, text, notations[text].literal)
			}
		}
		if after := c.written(); after != before {
			t.Errorf("the database has changed:\n%s", difference(before, after))
		}
	})
}

func (c *script) notation(n number, text string, literal bool) {
	c.Helper()
	values := maps.Clone(n.others)
	values[n.name] = text
	for _, encoding := range encodings {
		if encoding == "query" && len(text) > 4000 {
			continue // the bound on headers comes first
		}
		c.refused(c.encoded(n.method, n.path, encoding, values), n, encoding, text, n.code, n.name)
	}
	values[n.name] = json.RawMessage(`"here"`)
	object, err := json.Marshal(values)
	if err != nil {
		c.Fatal(err)
	}
	body := strings.Replace(string(object), `"here"`, text, 1)
	r, err := http.NewRequestWithContext(c.Context(), n.method, c.base+n.path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	switch strings.Trim(text, " \t\n") {
	case "1", "": // JSON has space around numbers; and nothing is no JSON
		if text != "" {
			return
		}
	case "{}", "[1]", "null", "true":
		c.refused(r, n, "a JSON value", text, "invalid_request", n.name)
		return
	}
	if literal {
		c.refused(r, n, "a JSON number", text, n.code, n.name)
		return
	}
	c.refused(r, n, "a JSON number", text, "invalid_request", "")
}

func (c *script) refused(r *http.Request, n number, encoding, text, code, field string) {
	c.Helper()
	r.Header.Set("X-API-KEY", c.names["mine.key"])
	r.Header.Set("X-API-SECRET", c.names["mine.secret"])
	response, body := c.send(r)
	var got struct{ Error struct{ Code, Field string } }
	if err := json.Unmarshal(body, &got); err != nil {
		c.Fatalf("%s: %v", body, err)
	}
	if response.StatusCode != http.StatusBadRequest || got.Error.Code != code || got.Error.Field != field {
		c.Errorf("%s %.40q by %s: %d %s, want %s of %q", n.name, text, encoding, response.StatusCode, body, code, field)
	}
}
