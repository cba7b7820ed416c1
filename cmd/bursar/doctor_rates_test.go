package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Rates are checked if they are configured; unavailable rates are a warning, because they stop nothing.
func TestDoctorChecksTheRates(t *testing.T) {
	t.Parallel()
	answers := map[string]string{"/both": `{"BTC":"65000.5","ether":3000}`, "/one": `{"BTC":"65000.5"}`, "/none": `<html>`}
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(answers[r.URL.Path]))
	}))
	t.Cleanup(source.Close)
	const chains = "chains: {bitcoin: {rpc: 'http://127.0.0.1:1'}, ethereum: {rpc: 'http://127.0.0.1:1', chain_id: 7}}"
	for rates, want := range map[string]finding{
		"": {},
		"rates: {source: static, static: {BTC: 1, ETH: 2}}": {Check: "rates",
			Result: resultOK, Detail: "fixed for 2 currencies"},
		"rates: {source: http, url: '" + source.URL +
			"/both', pointers: {ETH: /ether}}": {Check: "rates", Result: resultOK,
			Detail: "the source answers with all of them"},
		"rates: {source: http, url: '" + source.URL +
			"/one?key=hunter2'}": {Check: "rates", Result: resultWarning, Detail: "the source answers without [ETH]"},
		"rates: {source: http, url: '" + source.URL +
			"/none?key=hunter2'}": {Check: "rates", Result: resultWarning,
			Detail: "the response is not JSON: figures in USDT are left out until rates are available"},
		"rates: {source: http, url: 'http://127.0.0.1:1/?key=hunter2', pointers: {ETH: /eth}}": {Check: "rates",
			Result: resultWarning, Detail: "connection refused: figures in USDT are left out until rates are available"},
	} {
		d := newSeededHarness(t, chains, rates)
		o := d.run("", "doctor", "--json")
		var all []finding
		if err := json.Unmarshal([]byte(o.out), &all); err != nil {
			t.Fatalf("%v: %s %s", err, o.out, o.err)
		}
		var found finding
		for _, f := range all {
			if f.Check == "rates" {
				found = f
			}
		}
		if found.Check != want.Check || found.Result != want.Result || !strings.HasSuffix(found.Detail, want.Detail) ||
			strings.Contains(o.out+o.err, "hunter2") {
			t.Errorf("%s: %+v, want %v and %v and %v last and no %q", rates, found, want.Check, want.Result, want.Detail,
				"hunter2")
		}
	}
}
