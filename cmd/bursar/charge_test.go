package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// read reads a part of the JSON that a command printed.
func read[T any](d *harness, args ...string) (value T) {
	d.Helper()
	if err := json.Unmarshal([]byte(d.ok(args...)), &value); err != nil {
		d.Fatal(err)
	}
	return value
}

// A charge is made, shown as a code, named by its reference and cancelled, at a real service.
func TestAChargeByCommand(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	base := d.serving()
	d.env = append(d.env, "BURSAR_API_KEY="+shop.APIKey)
	at := func(args ...string) []string { return append(args, "--api", base) }
	type made struct {
		ChargeID string
		Charge   struct{ Address, Reference string }
	}
	one := read[made](d, at("charge", "create", "BTC", "--amount", "0.01", "--webhook", "https://shop.example/hook",
		"--reference", "order 7", "--json")...)
	if one.Charge.Address == "" || one.Charge.Reference != "order 7" {
		t.Fatalf("made is %+v, want a charge with an address and the reference", one)
	}
	again := read[made](d, at("charge", "create", "BTC", "--amount", "0.01", "--webhook", "https://shop.example/hook",
		"--reference", "order 7", "--json")...)
	if again.ChargeID != one.ChargeID {
		t.Errorf("the same reference makes %s, want %s", again.ChargeID, one.ChargeID)
	}
	if out := d.ok(at("status")...); !strings.Contains(out, "is ready and answers account "+shop.AccountID.String()) {
		t.Errorf("status prints %q, want that the service is ready and the account", out)
	}
	if out := d.ok("audit", "tail", "--once", "--limit", "1"); strings.Count(out, "\n") != 1 {
		t.Errorf("audit tail prints %q, want one act", out)
	}
	code := d.ok(at("charge", "qr", "order 7")...)
	link := "bitcoin:" + one.Charge.Address + "?amount=0.01"
	if !strings.Contains(code, "█") || !strings.Contains(code, link) || strings.Contains(code, "\x1b") {
		t.Errorf("the code is\n%s\nwant blocks without colours and %q", code, link)
	}
	plain := read[struct{ Text, Due string }](d, at("charge", "qr", one.ChargeID, "--address", "--json")...)
	if plain.Text != one.Charge.Address || plain.Due != "0.01000000" {
		t.Errorf("the text is %+v, want the address and what is due", plain)
	}
	d.fails(exitFailed, `no charge with the reference "order 8"`, at("charge", "qr", "order 8")...)
	shownByKey(d, base, one.ChargeID, one.Charge.Address)
	d.fails(exitFailed, "this charge has no page", at("charge", "open", "order 7")...)
	d.fails(exitFailed, "has no payments", at("charge", "resolve", "order 7", "accept")...)
	d.fails(exitUsage, "nothing is asked for", at("charge", "create", "BTC", "--webhook", "https://shop.example/hook")...)
	if o := d.at("no\n", at("charge", "cancel", "order 7")...); o.code != exitFailed ||
		!strings.Contains(o.err, "cannot be undone") {
		t.Errorf("cancel exits with %d: %s, want 1 after no", o.code, o.err)
	}
	if out := d.ok(at("charge", "cancel", "order 7")...); !strings.Contains(out, "is cancelled") {
		t.Errorf("cancel prints %q, want that it is cancelled", out)
	}
}

// shownByKey looks at an open charge with the reference "order 7" as somebody who has a key and no configuration.
func shownByKey(d *harness, base, id, address string) {
	d.Helper()
	for _, which := range []string{id, "order 7"} {
		out := d.ok("charge", "show", which, "--api", base)
		for _, want := range []string{id, "open", "0.01000000 BTC", address, "order 7"} {
			if !strings.Contains(out, want) {
				d.Errorf("charge show %q prints\n%s\nwant %q in it", which, out, want)
			}
		}
	}
	got := read[struct{ ChargeID, Status string }](d, "charge", "show", "order 7", "--api", base, "--json")
	if got.ChargeID != id || got.Status != "open" {
		d.Errorf("charge show --json prints %+v, want %s, which is open", got, id)
	}
	for _, test := range []struct {
		args []string
		want int
	}{
		{nil, 1},
		{[]string{"--status", "open", "--reference", "order 7", "--currency", "BTC", "--from", "2026-01-01"}, 1},
		{[]string{"--status", "paid"}, 0},
		{[]string{"--attention"}, 0},
		{[]string{"--to", "2026-01-01"}, 0},
	} {
		args := append([]string{"charge", "list", "--api", base}, test.args...)
		listed := read[[]struct{ ChargeID string }](d, append(args, "--json")...)
		if len(listed) != test.want || test.want == 1 && listed[0].ChargeID != id {
			d.Errorf("%s lists %+v, want %d charges", args, listed, test.want)
		}
		if out := d.ok(args...); strings.Contains(out, id) != (test.want == 1) {
			d.Errorf("%s prints\n%s\nwant %d charges", args, out, test.want)
		}
	}
	d.fails(exitUsage, "leave out --account", "charge", "list", "--api", base, "--account", id)
	d.fails(exitUsage, "neither a day", "charge", "list", "--api", base, "--from", "yesterday")
	d.fails(exitUsage, "--limit must be", "charge", "list", "--api", base, "--limit", "0")
	d.fails(exitUsage, "is not the ID of a charge", "charge", "show", "order 7")
	for _, args := range [][]string{{"charge", "list"}, {"charge", "show", id}} {
		d.fails(exitUsage, "name the service of BURSAR_API_KEY with --api", append(args, "--config", "none.yaml")...)
	}
}

// paidTwice is a charge with two payments, one of which waits.
const paidTwice = `{"chargeID":"01999999-0000-7000-8000-000000000001","rule":"sum","status":"paid","payments":[
	{"depositID":"d1","currency":"BTC","amount":"0.01","refundable":"0.01000000"},
	{"depositID":"d2","currency":"BTC","amount":"0.02","refundable":"0.02000000","attention":true}]}`

// A refund names the payment that waits, says what it would pay before it does, and asks at a terminal.
func TestARefundByCommand(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := map[string]any{}
		if r.Method == http.MethodGet {
			asked = append(asked, r.URL.Path+"?"+r.URL.RawQuery)
		} else {
			if err := json.NewDecoder(r.Body).Decode(&values); err != nil {
				t.Error(err)
			}
			text, _ := json.Marshal(values) // a map of texts always encodes
			asked = append(asked, r.URL.Path+" "+string(text))
		}
		answer := `{"charge":` + paidTwice + `,"withdrawal":{"withdrawalID":"w1","amount":"0.02","currency":"BTC",
			"address":"bc1qpayer","status":"queued","fee":"0.0001"},"quote":{"fee":"0.0001"}}`
		_, _ = w.Write([]byte(`{"success":true,"response":` + answer + `}`)) // a client that is gone fails its own test
	}))
	t.Cleanup(service.Close)
	d.env = append(d.env, "BURSAR_API_KEY=bk_x", "BURSAR_API_SECRET=bs_x")
	const id = "01999999-0000-7000-8000-000000000001"
	refund := []string{"charge", "refund", id, "bc1qpayer", "--part", "over", "--rate", "then", "--idempotency-key", "k",
		"--api", service.URL}
	says := read[struct {
		DryRun         bool
		Fee, DepositID string
		Message        string
	}](d, append(refund, "--dry-run", "--json")...)
	if !says.DryRun || says.Fee != "0.0001" || says.DepositID != "d2" ||
		!strings.Contains(says.Message, "at most 0.02000000") {
		t.Errorf("--dry-run says %+v, want the payment that waits, at most 0.02, and its fee", says)
	}
	if o := d.at("", refund...); o.code != exitFailed || !strings.Contains(o.err, "nothing was changed") {
		t.Errorf("without an answer it exits with %d: %s, want 1", o.code, o.err)
	}
	if slices.ContainsFunc(asked, func(line string) bool { return strings.HasPrefix(line, "/api/v1/charge/refund") }) {
		t.Fatalf("asked was %q, want no refund yet", asked)
	}
	out := d.ok(refund...)
	want := `/api/v1/charge/refund {"address":"bc1qpayer","chargeID":"` + id + `","depositID":"d2","fee":"merchant",` +
		`"part":"over","rate":"then"}`
	if got := asked[len(asked)-1]; got != want ||
		!strings.Contains(out, "withdrawal w1 of 0.02 BTC to bc1qpayer is queued") {
		t.Errorf("asked was %s, and printed %q; want %s and the withdrawal", got, out, want)
	}
	d.ok("charge", "resolve", id, "credit", "--deposit", "d1", "--api", service.URL)
	if got := asked[len(asked)-1]; !strings.Contains(got, `"depositID":"d1","resolution":"credit"`) {
		t.Errorf("asked was %s, want d1 to be kept", got)
	}
	d.fails(exitFailed, "it has d1, d2", "charge", "resolve", id, "accept", "--deposit", "d3", "--api", service.URL)
	d.fails(exitUsage, "how much is refunded", "charge", "refund", id, "bc1qpayer", "--api", service.URL)
}
