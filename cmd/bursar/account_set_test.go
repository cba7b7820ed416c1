package main

import (
	"strings"
	"testing"
)

func TestAccountSet(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--notify-pending", "--webhook",
		"https://shop.example/a", "--json").AccountID
	listed := func() listedAccount { return parse[[]listedAccount](d, "account", "list", "--json")[0] }
	if a := listed(); !a.NotifyPending || a.NotifyWithdrawals || a.Webhook == nil ||
		*a.Webhook != "https://shop.example/a" {
		t.Errorf("created %+v", a)
	}
	if a := parse[listedAccount](d, "account", "set", id.String(), "--notify-withdrawals", "--json"); !a.NotifyPending ||
		!a.NotifyWithdrawals || *a.Webhook != "https://shop.example/a" {
		t.Errorf("set %+v", a)
	}
	d.fails(exitFailed, "the webhook URL is refused", "account", "set", id.String(), "--no-notify-pending", "--webhook",
		"http://10.0.0.1/")
	if a := listed(); !a.NotifyPending || *a.Webhook != "https://shop.example/a" {
		t.Errorf("a refused change left %+v", a)
	}
	if got := d.ok("account", "set", id.String(), "--no-notify-pending", "--no-notify-withdrawals", "--webhook",
		""); !strings.Contains(got, "webhook            -") {
		t.Errorf("set to nothing:\n%s", got)
	}
	if a := listed(); a.NotifyPending || a.NotifyWithdrawals || a.Webhook != nil {
		t.Errorf("set to nothing: %+v", a)
	}
	nobody := "0193a6a0-0000-7000-8000-000000000000"
	d.fails(exitFailed, "there is no account "+nobody, "account", "set", nobody, "--notify-pending")
	d.fails(exitFailed, "the webhook URL is refused", "account", "create", "--name", "x", "--webhook",
		"gopher://shop.example/")
	if all := parse[[]listedAccount](d, "account", "list", "--json"); len(all) != 1 {
		t.Errorf("a refused account was made: %+v, want 1 of them", all)
	}
}
