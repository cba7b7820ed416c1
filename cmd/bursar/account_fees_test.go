package main

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

// fees returns what an account pays of a currency, as the command prints it.
func (d *harness) fees(id bursar.ID, code bursar.CurrencyCode, args ...string) listedFees {
	d.Helper()
	for _, f := range parse[[]listedFees](d, append([]string{"account", "fees", id.String(), "--json"}, args...)...) {
		if f.Currency == code {
			return f
		}
	}
	d.Fatalf("%s is not listed", code)
	return listedFees{}
}

func TestFeesOfAnAccount(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "currencies: {USDT: {deposit_fee: 2%}}")
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	other := parse[createdAccount](d, "account", "create", "--name", "other", "--json").AccountID
	if f := d.fees(id, "USDT"); f.DepositFee != "2%" || f.WithdrawalFee != "0" || f.DepositFrom != "configuration" ||
		f.DepositSince != nil {
		t.Errorf("at first %+v, want %q and %q and %q and nil", f, "2%", "0", "configuration")
	}
	if f := d.fees(id, "BTC", "--withdrawal", "network + 1%"); f.WithdrawalFee != "network + 1%" ||
		f.WithdrawalFrom != "account" || f.DepositFrom != "configuration" {
		t.Errorf("for every currency %+v, want %q and %q and %q", f, "network + 1%", "account", "configuration")
	}
	if f := d.fees(id, "USDT", "--currency", "USDT", "--deposit", "0.5% + 0.10", "--withdrawal",
		"0"); f.DepositFee != "0.5% + 0.10" || f.DepositFrom != "account-currency" ||
		f.DepositSince == nil || f.WithdrawalFee != "0" || f.WithdrawalFrom != "account-currency" {
		t.Errorf("for USDT %+v", f)
	}
	if f := d.fees(id, "USDC-MATIC"); f.WithdrawalFee != "1%" || f.WithdrawalFrom != "account" {
		t.Errorf("of another token %+v, want %q and %q", f, "1%", "account")
	}
	if f := d.fees(other, "USDT"); f.DepositFee != "2%" || f.WithdrawalFrom != "configuration" {
		t.Errorf("another account pays %+v, want %q and %q", f, "2%", "configuration")
	}
	if f := d.fees(id, "USDT", "--currency", "USDT", "--clear"); f.DepositFee != "2%" || f.WithdrawalFee != "1%" ||
		f.WithdrawalFrom != "account" {
		t.Errorf("cleared %+v, want %q and %q and %q", f, "2%", "1%", "account")
	}
	if f := d.fees(id, "BTC", "--clear"); f.WithdrawalFee != "network" || f.WithdrawalFrom != "configuration" {
		t.Errorf("all cleared %+v, want %q and %q", f, "network", "configuration")
	}
	if table := d.ok("account", "fees", id.String(), "--currency",
		"BTC"); !strings.Contains(table,
		"BTC       0        configuration  network     configuration") || strings.Count(table, "\n") != 2 {
		t.Errorf("the table is\n%s", table)
	}
	for explanation, args := range map[string][]string{
		"--deposit: an amount needs --currency":               {"--deposit", "0.5% + 0.10"},
		"--deposit: a deposit has no network fee":             {"--deposit", "network"},
		`--withdrawal: "100%" is not a percentage below 100%`: {"--withdrawal", "100%"},
		"--withdrawal: the network fee of a token is paid in the chain's native asset by the operator": {"--withdrawal",
			"network",
			"--currency", "USDT"},
		`--deposit: "" is not a fee`: {"--deposit", ""},
		`--deposit: "0.0000001" has too many decimals; at most 6 are allowed`: {"--deposit", "0.0000001",
			"--currency", "USDT"},
		"this service has no currency \"DOGE\"":                                               {"--currency", "DOGE"},
		"--clear cannot be combined with --deposit and --withdrawal: run one after the other": {"--clear", "--deposit", "0"},
	} {
		d.fails(exitUsage, explanation, append([]string{"account", "fees", id.String()}, args...)...)
	}
	d.fails(exitFailed, "there is no account 0193a6a0-0000-7000-8000-000000000000", "account", "fees",
		"0193a6a0-0000-7000-8000-000000000000", "--deposit", "0")
}
