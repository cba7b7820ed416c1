package main

import (
	"strings"
	"testing"
)

func TestLimitsAreSetAndListed(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "currencies: {BTC: {withdrawal_maximum: 5}}")
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	set := func(args ...string) []string { return append([]string{"limit", "set", "--reason", "a test"}, args...) }
	if got := parse[[]listedLimit](d, "limit", "list", "--json"); got == nil || len(got) != 0 {
		t.Errorf("at first %+v are listed, want none, and a list", got)
	}
	said := d.ok(set("--account", "shop", "--currency", "BTC", "--maximum", "2", "--approval", "0")...)
	if !strings.Contains(said, "maximum: was not set; is 2.00000000 BTC, of the account\n") ||
		!strings.Contains(said, "approval: was not set; is 0.00000000 BTC, of the account") {
		t.Errorf("setting two says %q, want both, before and after", said)
	}
	acts := parse[[]listedAct](d, "audit", "acts", "list", "--json")
	if a := acts[0]; a.Before != "maximum not set; approval not set" || a.After != "account "+id.String()+" BTC: maximum "+
		"2.00000000 BTC, of the account; approval 0.00000000 BTC, of the account" || a.Reason != "a test" {
		t.Errorf("the log of acts says %+v, want whose limits, before and after", a)
	}
	d.ok(set("--all", "--currency", "BTC", "--maximum", "1")...)
	got := parse[[]listedLimit](d, "limit", "list", "--json")
	if len(got) != 3 || got[0].Account != id.String() || got[0].Kind != "approval" || got[1].Amount != "2.00000000 BTC" ||
		got[2].Account != "" || got[2].Reason != "a test" || got[2].Actor == "" || got[2].Since.IsZero() {
		t.Errorf("listed are %+v, want the account's two and that of every account", got)
	}
	if table := d.ok("limit", "list"); !strings.Contains(table, "all ") || strings.Count(table, "\n") != 4 {
		t.Errorf("the table is\n%s, want three lines below its head", table)
	}
	if said := d.ok(set("--account", id.String(), "--currency", "BTC", "--maximum", "none")...); !strings.Contains(said,
		"maximum: was 1.00000000 BTC, of every account, below 2.00000000 BTC of the account; is 1.00000000 BTC, of every "+
			"account") {
		t.Errorf("ending one says %q, want that the other counts", said)
	}
	d.fails(exitFailed, "the limit is 1.00000000 BTC, of every account already", set("--all", "--currency", "BTC",
		"--approval", "3", "--maximum", "1")...)
	if got := parse[[]listedLimit](d, "limit", "list", "--json"); len(got) != 2 {
		t.Errorf("after a refusal of one of two %+v are listed, want neither changed", got)
	}
	d.fails(exitUsage, "name a limit: --maximum, --approval, --hourly", set("--all", "--currency", "BTC")...)
	d.fails(exitUsage, "missing flags", set("--currency", "BTC", "--maximum", "1")...)
	d.fails(exitUsage, "can't be used together", set("--all", "--account", "shop", "--currency", "BTC", "--maximum",
		"1")...)
	d.fails(exitUsage, `--maximum: "x" is no amount of BTC`, set("--all", "--currency", "BTC", "--maximum", "x")...)
	d.fails(exitUsage, "has no currency", set("--all", "--currency", "DOGE", "--maximum", "1")...)
	d.fails(exitFailed, "a limit of zero", set("--all", "--currency", "BTC", "--maximum", "0")...)
	d.fails(exitFailed, "a limit of zero", set("--all", "--currency", "BTC", "--weekly", "0")...)
	said = d.ok(set("--all", "--currency", "BTC", "--hourly", "1.5", "--daily", "3", "--weekly", "9")...)
	if !strings.Contains(said, "hourly: was not set; is 1.50000000 BTC, of every account\ndaily: was not set; is 3.0") {
		t.Errorf("setting limits of periods says %q, want each, before and after", said)
	}
	if got := parse[[]listedLimit](d, "limit", "list", "--json"); len(got) != 5 || got[2].Kind != "hourly" {
		t.Errorf("with those of periods %+v are listed, want five, hourly the third", got)
	}
	d.ok(set("--all", "--currency", "BTC", "--weekly", "none")...)
	d.fails(exitFailed, "already", set("--all", "--currency", "BTC", "--maximum", "1")...)
	d.fails(exitFailed, "there is no account 0193a6a0-0000-7000-8000-000000000000", set("--account",
		"0193a6a0-0000-7000-8000-000000000000", "--currency", "BTC", "--maximum", "1")...)
}
