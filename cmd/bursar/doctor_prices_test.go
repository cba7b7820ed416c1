package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Rates in fiat are checked if they are configured: each feed, and whether two of them agree.
func TestDoctorChecksThePrices(t *testing.T) {
	t.Parallel()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/rates" {
			w.Write([]byte(`{"BTC":"60000"}`))
		}
	}))
	t.Cleanup(source.Close)
	feeds := func(path, fixed string) string {
		return "prices: {feeds: {a: {url: '" + source.URL + path + "?key=hunter2', pointers: {EUR: {BTC: /BTC}}}, " +
			"b: {rates: {EUR: {BTC: " + fixed + "}}}}}"
	}
	for prices, want := range map[string][]string{
		"":                        nil,
		feeds("/rates", "60001"):  {"2 feeds agree on all rates"},
		feeds("/rates", "70000"):  {"no rate counts for BTC in EUR"},
		feeds("/nobody", "60000"): {"feed a: fetch rates: the response is not JSON", "no rate counts for BTC in EUR"},
	} {
		d := newSeededHarness(t, "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}}", prices)
		o := d.run("", "doctor", "--json")
		var all []finding
		if err := json.Unmarshal([]byte(o.out), &all); err != nil {
			t.Fatalf("%v: %s %s", err, o.out, o.err)
		}
		var got []string
		for _, f := range all {
			if f.Check == "prices" {
				got = append(got, f.Detail)
			}
		}
		if !slices.Equal(got, want) || strings.Contains(o.out+o.err, "hunter2") {
			t.Errorf("%s: got %q, want %q", prices, got, want)
		}
	}
}
