package config_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	if got := parse(t, "").Prices; len(got.Feeds) != 0 {
		t.Errorf("without any there are %+v", got)
	}
	got := parse(t, `
prices:
  max_age: 5m
  max_spread: "2.5"
  feeds:
    market: {url: "https://rates.example/?key=hunter2", refresh: 30s, pointers: {EUR: {BTC: /btc/eur}}}
    desk: {file: prices.json, pointers: {EUR: {BTC: /btc}}}
    own: {rates: {EUR: {BTC: "60000"}}}
`, "BURSAR_PRICES_MAX_AGE=4m", "BURSAR_PRICES_FEEDS_MARKET_REFRESH=45s").Prices
	pair := config.PricePair{Currency: "BTC", Fiat: "EUR"}
	if got.MaxAge != 4*time.Minute || got.MaxSpread != 25_000 || len(got.Feeds) != 3 ||
		strings.Contains(fmt.Sprintf("%+v", got), "hunter2") {
		t.Fatalf("got %+v, want three feeds with 4m and 2.5 per cent", got)
	}
	market, written, own := got.Feeds[0], got.Feeds[1], got.Feeds[2]
	if market.Name != "market" || market.URL.Reveal() != "https://rates.example/?key=hunter2" ||
		market.Refresh != 45*time.Second || market.Pointers[pair] != "/btc/eur" {
		t.Errorf("got %+v, want the market's", market)
	}
	if filepath.Base(written.File) != "prices.json" ||
		!filepath.IsAbs(written.File) && !strings.Contains(written.File, "/") &&
			written.File != "prices.json" || written.Refresh != time.Minute || written.Fixed != nil {
		t.Errorf("got %+v, want that of the file", written)
	}
	if own.Fixed[pair].String() != "60000" || own.Pointers != nil {
		t.Errorf("got %+v, want the fixed ones", own)
	}
	defaults := parse(t, `prices: {feeds: {a: {rates: {EUR: {BTC: 1}}}, b: {rates: {EUR: {BTC: 1}}}}}`).Prices
	if defaults.MaxAge != 10*time.Minute || defaults.MaxSpread != 10_000 {
		t.Errorf("got %+v, want 10m and one per cent", defaults)
	}
}

func TestMistakesInPrices(t *testing.T) {
	t.Parallel()
	two := `feeds: {a: {rates: {EUR: {BTC: 1}}}, b: {rates: {EUR: {BTC: 1}}}}`
	for text, want := range map[string]string{
		`prices: {max_age: 1m}`:                          "feeds is required",
		`prices: {max_spread: "21", ` + two + `}`:        "from 0 to 20",
		`prices: {max_age: 0s, ` + two + `}`:             "between 5s and 24h",
		`prices: {max_agee: 1m, ` + two + `}`:            "did you mean max_age",
		`prices: {feeds: {a: {rates: {EUR: {BTC: 1}}}}}`: "BTC in EUR has one feed only",
		`prices: {feeds: {a: {}}}`:                       "exactly one of url, file and rates",
		`prices: {feeds: {a: {url: "http://127.0.0.1:1", file: x, pointers: {EUR: {BTC: /a}}}}}`: "exactly one of",
		`prices: {feeds: {a: {url: "http://127.0.0.1:1"}}}`:                                      "pointers is required",
		`prices: {feeds: {a: {file: x, pointers: {EUR: {BTC: btc}}}}}`:                           "not a JSON pointer",
		`prices: {feeds: {a: {rates: {EUR: {BTC: -1}}}}}`:                                        "is not a rate",
		`prices: {feeds: {a: {rates: {EURO: {BTC: 1}}}}}`:                                        "not a fiat currency",
		`prices: {feeds: {a: {rates: {BTC: {BTC: 1}}}}}`:                                         "not a fiat currency",
		`prices: {feeds: {a: {rates: {EUR: {DOGE: 1}}}}}`:                                        "unknown currency",
		`prices: {feeds: {a: {rates: {EUR: {BTC: 1}}, pointers: {EUR: {BTC: /a}}}}}`:             "not used with rates",
		`prices: {feeds: {a: {url: "https://r.example/1", pointers: {EUR: {BTC: /a}}}, b: {url: "http://R.example.:81/2", pointers: {EUR: {BTC: /b}}}}}`: "one host or file",
		`prices: {feeds: {a: {file: x, pointers: {EUR: {BTC: /a}}}, b: {file: ./x, pointers: {EUR: {BTC: /b}}}}}`:                                        "one host or file",
		`prices: {max_age: 30s, feeds: {a: {file: x, pointers: {EUR: {BTC: /a}}}, b: {rates: {EUR: {BTC: 1}}}}}`:                                         "max_age is below",
	} {
		if _, err := config.Parse("bursar.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
