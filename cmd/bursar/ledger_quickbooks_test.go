package main

import (
	"encoding/csv"
	"math/big"
	"strings"
	"testing"
	"unicode"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// What QuickBooks is given has its three columns alone, and comes to what the statement for banks comes to.
func TestTheTransactionsForQuickBooks(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	account := d.valued().String()
	period := []string{"ledger", "export", "--account", account, "--value", "EUR", "--format", "qbo-csv", "--since",
		"2026-01-01", "--until"}
	o := d.run("", append(period, "2026-02-01")...)
	rows, err := csv.NewReader(strings.NewReader(o.out)).ReadAll()
	if err != nil || o.code != 0 {
		t.Fatalf("the export is %v and exits with %d: %s, want CSV", err, o.code, o.err)
	}
	want := [][]string{
		{"Date", "Description", "Amount"},
		{"2026-01-02", "deposit, amount of BTC", "18000.00"},
		{"2026-01-02", "deposit, fee of BTC", "-180.00"},
		{"2026-01-04", "withdrawal settled, amount of BTC", "-233.33"},
		{"2026-01-05", "deposit reversed, amount of BTC", "-18000.00"},
		{"2026-01-05", "deposit reversed, fee of BTC", "180.00"},
	}
	if len(rows) != len(want) {
		t.Fatalf("there are the rows %q, want %q", rows, want)
	}
	sum := new(big.Rat)
	for i, row := range rows {
		if strings.Join(row, ";") != strings.Join(want[i], ";") {
			t.Errorf("row %d is %q, want %q", i, row, want[i])
		}
		if i == 0 {
			continue
		}
		amount, _ := new(big.Rat).SetString(row[2])
		sum.Add(sum, amount)
	}
	if got := sum.FloatString(2); got != "-233.33" { // 49266.77 - 49500.10, as TestAStatementInCamt has it
		t.Errorf("the rows come to %s, want the -233.33 of the statement by ISO 20022", got)
	}
	if !strings.Contains(o.err, "Left out: 1 movements") {
		t.Errorf("it says %q, want that the fee of nothing is left out", o.err)
	}
	d.fails(exitFailed, "2 movements of the period have no value in EUR", append(period, "2026-03-01")...)
	d.fails(exitUsage, "--format qbo-csv takes --account, --value, --since and --until", "ledger", "export", "--all",
		"--format", "qbo-csv")
	d.fails(exitUsage, "ended more than a minute ago", append(period, "2999-01-01")...)
}

// A description has no number, as Intuit asks, whatever a client wrote.
func TestADescriptionForQuickBooksHasNoNumber(t *testing.T) {
	t.Parallel()
	m := camtMovement{Line: store.Line{Kind: "withdrawal_settled", Posting: ledger.Posting{Asset: "BTC"}}}
	m.Part = "amount"
	for counterparty, want := range map[string]string{
		"":                  "withdrawal settled, amount of BTC",
		"rent":              "withdrawal settled, amount of BTC, rent",
		"two\nlines":        "withdrawal settled, amount of BTC, two lines",
		"order 1001":        "withdrawal settled, amount of BTC",
		"\u0664\u0665 shop": "withdrawal settled, amount of BTC",
	} {
		m.Counterparty = counterparty
		got := quickBooksText(m)
		if got != want || strings.IndexFunc(got, unicode.IsNumber) >= 0 {
			t.Errorf("%q is described as %q, want %q", counterparty, got, want)
		}
	}
}
