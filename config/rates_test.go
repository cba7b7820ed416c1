package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

func TestRates(t *testing.T) {
	t.Parallel()
	if got := parse(t, "").Rates; got.Source != "" || got.Static != nil {
		t.Errorf("without any there are %+v", got)
	}
	fixed := parse(t, "rates: {source: static, static: {BTC: \"65000.5\", USDT-MATIC: 1}}").Rates
	if fixed.Source != config.RatesStatic || len(fixed.Static) != 2 || fixed.Static["BTC"].String() != "65000.5" ||
		fixed.Static["USDT-MATIC"] != bursar.Par() {
		t.Errorf("fixed are %+v", fixed)
	}
	asked := parse(t, `
rates:
  source: http
  url: https://rates.example/?key=hunter2
  pointers: {BTC: /bitcoin/usdt, ABC: /data/0/price}
currencies:
  ABC: {chain: bsc, contract: "0x01", decimals: 18, minimum: 1}
`).Rates
	if asked.URL.Reveal() != "https://rates.example/?key=hunter2" || asked.Refresh != time.Minute ||
		asked.MaxAge != 10*time.Minute || strings.Contains(fmt.Sprintf("%+v", asked), "hunter2") {
		t.Errorf("asked are %+v, want %q and %v and %v and no %q", asked, "https://rates.example/?key=hunter2", time.Minute,
			10*time.Minute, "hunter2")
	}
	if p := asked.Pointers; p["BTC"] != "/bitcoin/usdt" || p["ABC"] != "/data/0/price" ||
		p["USDT-MATIC"] != "/USDT-MATIC" || p["USDT"] != "" || len(p) != len(bursar.Standard()) {
		t.Errorf("pointers are %v", p)
	}
	often := parse(t, "rates: {source: http, url: 'http://127.0.0.1:1', refresh: 5s, max_age: 24h}").Rates
	if often.Refresh != 5*time.Second || often.MaxAge != 24*time.Hour {
		t.Errorf("often are %+v, want %v and %v", often, 5*time.Second, 24*time.Hour)
	}
}

func TestRatesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	got := parse(t,
		"rates: {source: static, static: {BTC: 1}}\ncurrencies: {USDC-BSC: {chain: bsc, contract: '0x1', decimals: 18, "+
			"minimum: 1}}",
		"BURSAR_RATES_STATIC_BTC=2", "BURSAR_RATES_STATIC_USDT_MATIC=3.5", "BURSAR_RATES_STATIC_USDC_BSC=4").Rates
	if got.Static["BTC"].String() != "2" || got.Static["USDT-MATIC"].String() != "3.5" ||
		got.Static["USDC-BSC"].String() != "4" {
		t.Errorf("fixed are %v, want %q and %q and %q", got.Static, "2", "3.5", "4")
	}
	got = parse(t, "", "BURSAR_RATES_SOURCE=http", "BURSAR_RATES_URL=https://a", "BURSAR_RATES_REFRESH=30s",
		"BURSAR_RATES_MAX_AGE=1h", "BURSAR_RATES_POINTERS_ETH=/e").Rates
	if got.URL.Reveal() != "https://a" || got.Refresh != 30*time.Second || got.MaxAge != time.Hour ||
		got.Pointers["ETH"] != "/e" {
		t.Errorf("asked are %+v, want %q and %v and %v and %q", got, "https://a", 30*time.Second, time.Hour, "/e")
	}
}

func TestMistakesOfRates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, variable, want string }{
		{"rates:\n  sourc: http", "", `bursar.yaml:2: rates: unknown key "sourc" (did you mean source?)`},
		{"rates: {source: magic}", "", `bursar.yaml:1: rates.source: "magic" is unknown; allowed are static, http`},
		{"rates: {static: {BTC: 1}}", "", `bursar.yaml:1: rates: source is required: static or http`},
		{"rates: {source: static}", "",
			`bursar.yaml:1: rates: static is required: a rate for each currency, such as {BTC: "65000.5"}`},
		{"rates:\n  source: http", "", `bursar.yaml:1: rates: url is required: the address of a source of rates in JSON`},
		{"rates:\n  source: static\n  static:\n    BTC: 6.5e4", "",
			`bursar.yaml:4: rates.static.BTC: "6.5e4" is not a rate; allowed are plain decimal numbers above zero with at most 18 decimals, such as 65000.5`},
		{"rates: {source: static, static: {BTC: 0}}", "",
			`bursar.yaml:1: rates.static.BTC: "0" is not a rate; allowed are plain decimal numbers above zero with at most 18 decimals, such as 65000.5`},
		{"rates: {source: static, static: {USDT: 1}}", "",
			`bursar.yaml:1: rates.static.USDT: USDT is the unit of rates: its rate is 1`},
		{"rates: {source: static, static: {BCT: 1}}", "",
			`bursar.yaml:1: rates.static: unknown currency "BCT" (did you mean BTC?)`},
		{"rates: {source: static, static: 5}", "",
			`bursar.yaml:1: rates.static: this is a single value; a section with keys below it is expected`},
		{"rates:\n  source: static\n  static: {BTC: 1}\n  url: https://me:hunter2@h", "",
			`bursar.yaml:4: rates.url: the setting is not used with source: static`},
		{"rates: {source: http, url: https://a, static: {BTC: 1}}", "",
			`bursar.yaml:1: rates.static: the setting is not used with source: http`},
		{"rates: {source: http, url: 'ftp://me:hunter2@h'}", "",
			`bursar.yaml:1: rates.url: a URL is not of the form http://user:password@host:port (or https)`},
		{"rates: {source: http, url: https://a, refresh: 1s}", "",
			`bursar.yaml:1: rates.refresh: "1s" is not a duration that is allowed: 0s, or 5s to 1h0m0s, such as 200ms`},
		{"rates: {source: http, url: https://a, refresh: 0s}", "",
			`bursar.yaml:1: rates.refresh: the value must be between 5s and 1h0m0s`},
		{"rates: {source: http, url: https://a, refresh: 2m, max_age: 1m}", "",
			`bursar.yaml:1: rates: max_age is below refresh: no rate would stay valid until the next`},
		{"rates: {source: http, url: https://a, pointers: {BTC: bitcoin}}", "",
			`bursar.yaml:1: rates.pointers.BTC: "bitcoin" is not a JSON pointer, such as /bitcoin/usdt or /data/0/price`},
		{"rates: {source: http, url: https://a, pointers: {BTC: /a~2}}", "",
			`bursar.yaml:1: rates.pointers.BTC: "/a~2" is not a JSON pointer, such as /bitcoin/usdt or /data/0/price`},
		{"", "BURSAR_RATES_STATIC_BTC=x", `BURSAR_RATES_STATIC_BTC: rates: source is required: static or http`},
		{"", "BURSAR_RATES_SORCE=http", `BURSAR_RATES_SORCE: unknown setting (did you mean BURSAR_RATES_SOURCE?)`},
		{"", "BURSAR_RATES_STATIC_=1", `BURSAR_RATES_STATIC_: unknown setting`},
	} {
		_, err := config.Parse("bursar.yaml", []byte(test.text), []string{test.variable})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s %s\ngot  %v\nwant %s", test.text, test.variable, err, test.want)
		}
	}
}
