package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// referees are the programs that read each format, in their strictest mode.
var referees = map[string][]string{
	formatBeancount: {"bean-check"},
	formatHledger:   {"hledger", "check", "--strict", "-f"},
	formatLedger:    {"ledger", "--strict", "--pedantic", "balance", "-f"},
}

// months books a history in two months with every sign, a code with a hyphen, eighteen decimals and a transfer.
func (d *harness) months() {
	a := parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	b := parse[createdAccount](d, "account", "create", "--name", "B", "--json").AccountID
	dep := bursar.Deposit{ID: bursar.ID{1}, AccountID: a, Currency: "BTC", Amount: bursar.Units(1e8),
		Fee: bursar.Units(1e6)}
	wei := bursar.Deposit{ID: bursar.ID{4}, AccountID: a, Currency: "ETH", Amount: bursar.Units(1_000_000_000_000_000_001)}
	token := bursar.Deposit{ID: bursar.ID{5}, AccountID: a, Currency: "USDT-MATIC", Amount: bursar.Units(7)}
	out := bursar.Withdrawal{ID: bursar.ID{2}, AccountID: a, Currency: "BTC", Amount: bursar.Units(5e7),
		Fee: bursar.Units(20_000)}
	in := bursar.Withdrawal{ID: bursar.ID{3}, AccountID: a, Currency: "BTC", Amount: bursar.Units(3e7),
		Fee: bursar.Units(10_000)}
	day := func(n int) time.Time { return firstDay.Add(time.Duration(n)*24*time.Hour + time.Hour) }
	d.post(ledger.DepositCredited(dep, day(1)), ledger.DepositCredited(wei, day(1)), ledger.DepositCredited(token, day(2)),
		ledger.WithdrawalHeld(out, day(35)), ledger.WithdrawalSettled(out, 0, day(36)),
		ledger.NetworkFee("bitcoin:x", 0, "BTC", bursar.Units(15_000), day(36)),
		ledger.DirectTransfer(in, b, bursar.Units(300_000), day(37)))
}

// TestTheJournalIsReadByProgramsOfAccounting has beancount, hledger and ledger read a whole history, and one month of
// it with the balances before.
func TestTheJournalIsReadByProgramsOfAccounting(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it needs programs of accounting")
	}
	d := newSeededHarness(t)
	d.months()
	page, err := os.ReadFile("../../docs/accounting.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```\n(2026-.*?)```").FindSubmatch(page)
	text := d.ok("ledger", "export", "--all", "--format", formatHledger, "--until", "2026-03-01")
	if shown == nil || !strings.Contains(text, string(shown[1])) {
		t.Errorf("docs/accounting.md shows %s, want a part of\n%s", shown, text)
	}
	for format, referee := range referees {
		if _, err := exec.LookPath(referee[0]); err != nil {
			t.Fatalf("%v; `go run ./test -install all` installs it", err)
		}
		for _, since := range []string{"2026-01-01", "2026-02-01"} {
			text := d.ok("ledger", "export", "--all", "--format", format, "--since", since, "--until", "2026-03-01")
			file := filepath.Join(t.TempDir(), "journal."+format)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			said, err := exec.CommandContext(t.Context(), referee[0], append(referee[1:], file)...).CombinedOutput()
			if err != nil {
				t.Errorf("%s since %s: %v: %s, want success for\n%s", referee[0], since, err, said, text)
			}
			wrong := strings.Replace(text, "1.000000000000000001", "1.000000000000000002", 1)
			if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
				t.Fatal(err)
			}
			if exec.CommandContext(t.Context(), referee[0], append(referee[1:], file)...).Run() == nil {
				t.Errorf("%s takes a journal that is off by one wei, want an error", referee[0])
			}
		}
	}
}

func TestTheJournalOfAMonthBeginsWithItsBalances(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.months()
	got := d.ok("ledger", "export", "--all", "--format", formatLedger, "--since", "2026-02-01", "--until", "2026-03-01")
	for _, want := range []string{
		"2026-02-01 * opening balances before the period\n", "  Assets:Custody  1.00000000 \"BTC\"\n",
		"  Income:Fees:Deposit  -0.01000000 \"BTC\"\n", "commodity \"USDT-MATIC\"\n",
		"2026-03-01 * closing balances after the period\n", "  Assets:Custody  0.00000000 \"BTC\" = 0.49985000 \"BTC\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("February is\n%s\nwant %q in it", got, want)
		}
	}
	d.fails(exitUsage, "use --all", "ledger", "export", "--format", formatLedger, "--account",
		"0193a6a0-0000-7000-8000-000000000000")
	d.fails(exitUsage, "none of beancount", "ledger", "export", "--all", "--format", "quicken")
}

// TestTheJournalHasTheValuesOfItsTime has the programs read a journal with prices, balance it in the fiat currency too,
// and say what the fees were worth when they were earned.
func TestTheJournalHasTheValuesOfItsTime(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.valued()
	for format, want := range map[string][]string{
		formatBeancount: {"option \"operating_currency\" \"EUR\"\n", "  Income:Fees:Deposit  -0.01000000 BTC @ 50000.1 EUR\n",
			"2025-12-27 price BTC  50000.1 EUR\n", "2026-01-04 price BTC  70000 EUR\n"},
		formatHledger: {"commodity 1.00 \"EUR\"\n", "  Income:Fees:Deposit  -0.01000000 \"BTC\" @ 50000.1 \"EUR\"\n",
			"P 2026-01-02 \"BTC\" 60000 \"EUR\"\n"},
		formatLedger: {"commodity \"EUR\"\n  format 1000.00 \"EUR\"\n", "P 2026-01-02 \"BTC\" 60000 \"EUR\"\n"},
	} {
		text := d.ok("ledger", "export", "--all", "--format", format, "--value", "EUR", "--until", "2026-02-01")
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("as %s the journal is\n%s\nwant %q in it", format, text, line)
			}
		}
		if strings.Contains(text, "2026-01-05 price") || strings.Contains(text, "P 2026-01-05") {
			t.Errorf("as %s the journal is\n%s\nwant no price of the day on which a deposit was reversed", format, text)
		}
		d.worthOfFees(format, text)
	}
	late := d.ok("ledger", "export", "--all", "--format", formatLedger, "--value", "EUR", "--since", "2026-02-01",
		"--until", "2026-03-01")
	if strings.Contains(late, " @ ") || !strings.Contains(late, "Income:Fees:Deposit  -0.00100000 \"BTC\"\n") {
		t.Errorf("February is\n%s\nwant its entry, which has no rate, without a price", late)
	}
}

// worthOfFees has the program of a format check a journal, and say what the deposit fees of valued were worth: 0.01 BTC
// at 50000.1, and what was reversed at the price at which it had come.
func (d *harness) worthOfFees(format, text string) {
	d.Helper()
	if testing.Short() {
		return
	}
	file := filepath.Join(d.TempDir(), "journal."+format)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		d.Fatal(err)
	}
	questions := [][]string{append(referees[format], file)}
	switch format {
	case formatHledger:
		questions = append(questions, []string{"hledger", "-f", file, "balance", "--cost", "Income:Fees:Deposit"})
	case formatLedger:
		questions = append(questions, []string{"ledger", "-f", file, "balance", "--basis", "Income:Fees:Deposit"})
	}
	for i, q := range questions {
		said, err := exec.CommandContext(d.Context(), q[0], q[1:]...).CombinedOutput()
		if err != nil || i > 0 && !strings.Contains(string(said), "-500.00") {
			d.Errorf("%s says %s, %v, want fees of -500.00 EUR of\n%s", q, said, err, text)
		}
	}
}
