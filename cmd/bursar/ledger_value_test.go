package main

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// valued gives an account a month with a deposit, a payment and a reversal, all with rates, and a deposit in February
// without one.
func (d *harness) valued() (account bursar.ID) {
	d.Helper()
	account = parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	day := func(n int) time.Time { return firstDay.AddDate(0, 0, n) }
	deposit := func(n byte, amount uint64) bursar.Deposit {
		return bursar.Deposit{ID: bursar.ID{n}, Purpose: bursar.ForAccount, AccountID: account, Currency: "BTC",
			Chain: "bitcoin", TxID: strings.Repeat(string('a'+n), 64), Address: bursar.Address{Base: "bc1qshop"},
			Amount: bursar.Units(amount), Fee: bursar.Units(amount / 100), Status: bursar.DepositPending}
	}
	first, second, third := deposit(1, 1e8), deposit(2, 3e7), deposit(3, 1e7)
	paid := bursar.Withdrawal{ID: bursar.ID{4}, AccountID: account, Currency: "BTC", Amount: bursar.Units(333_333),
		Fee: bursar.Units(1), Address: bursar.Address{Base: "bc1qpaid"}, Status: bursar.WithdrawalQueued,
		Reference: "rent <7>"}
	note := func(text string) {
		d.change(func(ctx context.Context, tx *store.Tx) error {
			rate, err := bursar.ParseRate(text)
			if err != nil {
				return err
			}
			rates := []bursar.PairRate{{Currency: "BTC", Unit: "EUR", Rate: rate, Source: "a feed", At: tx.Now()}}
			_, err = tx.EntryRates().Note(ctx, rates, 100*365*24*time.Hour)
			return err
		})
	}
	note("1") // begins
	d.change(func(ctx context.Context, tx *store.Tx) error {
		for _, one := range []bursar.Deposit{first, second, third} {
			if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: one}); err != nil {
				return err
			}
		}
		return tx.Withdrawals().Insert(ctx, "bitcoin", paid)
	})
	d.post(ledger.DepositCredited(first, day(-5)))
	note("50000.1")
	d.post(ledger.DepositCredited(second, day(1)), ledger.WithdrawalHeld(paid, day(2)))
	note("60000")
	d.post(ledger.WithdrawalSettled(paid, 0, day(3)), ledger.DepositReversed(second, day(4)))
	note("70000")
	d.post(ledger.DepositCredited(third, day(40)))
	d.change(func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.EntryRates().Note(ctx, nil, time.Hour)
		return err
	})
	return account
}

func TestAStatementWithValues(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	account := d.valued().String()
	rows := d.table("--account", account, "--value", "EUR", "--format", "csv")
	want := []string{
		"deposit amount 50000.1 50000.10 bc1qshop ", "deposit fee 50000.1 500.00 bc1qshop ",
		"deposit amount 60000 18000.00 bc1qshop ", "deposit fee 60000 180.00 bc1qshop ",
		"withdrawal_held amount   bc1qpaid rent <7>", "withdrawal_held fee   bc1qpaid rent <7>",
		"withdrawal_settled amount 70000 233.33 bc1qpaid rent <7>", "withdrawal_settled fee 70000 0.00 bc1qpaid rent <7>",
		"deposit_reversed amount 60000 18000.00 bc1qshop ", "deposit_reversed fee 60000 180.00 bc1qshop ",
		"deposit amount   bc1qshop ", "deposit fee   bc1qshop ",
	}
	if len(rows) != len(want)+1 {
		t.Fatalf("there are %d rows, want %d", len(rows), len(want)+1)
	}
	for i, w := range want {
		r := rows[i]
		if got := strings.Join([]string{r["kind"], r["part"], r["rate"], r["value"], r["address"], r["counterparty"]},
			" "); got != w {
			t.Errorf("row %d is %q, want %q", i, got, w)
		}
	}
	if hash := rows[0]["hashID"]; hash != strings.Repeat("b", 64) {
		t.Errorf("the hash is %q, want that of the deposit", hash)
	}
	journal := parse[[]journalRow](d, "ledger", "export", "--all", "--format", "json", "--value", "EUR")
	if j := journal[0]; j.Value != "50000.10" || j.ValueCurrency != "EUR" || j.Address != "bc1qshop" {
		t.Errorf("the journal begins with %+v, want 50000.10 EUR to bc1qshop", j)
	}
	d.fails(exitUsage, "is not a fiat currency", "ledger", "export", "--all", "--value", "euro")
	plain := d.ok("ledger", "export", "--all", "--value", "EUR", "--format", "ledger")
	if price := `@ 50000.1 "EUR"`; !strings.Contains(plain, price) {
		t.Errorf("the journal of ledger is\n%s\nwant a posting with %s", plain, price)
	}
}

// camtRead is what an accountant's program reads of a statement.
type camtRead struct {
	XMLName xml.Name
	Stmt    struct {
		Acct struct {
			ID  string `xml:"Id>Othr>Id"`
			Ccy string
		}
		Bal  []camtLine
		Ntry []camtLine
	} `xml:"BkToCstmrStmt>Stmt"`
}

type camtLine struct {
	Code string `xml:"Tp>CdOrPrtry>Cd"`
	Amt  struct {
		Ccy  string `xml:"Ccy,attr"`
		Text string `xml:",chardata"`
	}
	CdtDbtInd string
	RvslInd   bool
	Text      string `xml:"AddtlNtryInf"`
	End       string `xml:"NtryDtls>TxDtls>Refs>EndToEndId"`
}

// signed returns an amount with its sign.
func (l camtLine) signed(t *testing.T) *big.Rat {
	t.Helper()
	value, valid := new(big.Rat).SetString(l.Amt.Text)
	if !valid || l.Amt.Ccy != "EUR" || value.Sign() < 0 {
		t.Fatalf("%+v is no amount in EUR", l)
	}
	if l.CdtDbtInd == "DBIT" {
		value.Neg(value)
	}
	return value
}

// A statement by ISO 20022 adds up: the opening balance and all entries come to the closing balance, to the cent.
func TestAStatementInCamt(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	account := d.valued().String()
	period := []string{"ledger", "export", "--account", account, "--value", "EUR", "--format", "camt.053",
		"--since", "2026-01-01", "--until"}
	text := d.ok(append(period, "2026-02-01")...)
	var got camtRead
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.XMLName.Space != camtNamespace || got.Stmt.Acct.ID != strings.ReplaceAll(account, "-", "") ||
		got.Stmt.Acct.Ccy != "EUR" {
		t.Errorf("the statement is of %+v in %s, want that of the account in EUR", got.Stmt.Acct, got.XMLName.Space)
	}
	if len(got.Stmt.Bal) != 2 || len(got.Stmt.Ntry) != 6 {
		t.Fatalf("there are %d balances and %d entries, want 2 and 6", len(got.Stmt.Bal), len(got.Stmt.Ntry))
	}
	opening, closing := got.Stmt.Bal[0], got.Stmt.Bal[1]
	if opening.Code != "OPBD" || closing.Code != "CLBD" || opening.Amt.Text != "49500.10" ||
		closing.Amt.Text != "49266.77" {
		t.Errorf("the balances are %+v, want 49500.10 and 49266.77", got.Stmt.Bal)
	}
	sum := opening.signed(t)
	for _, e := range got.Stmt.Ntry {
		sum.Add(sum, e.signed(t))
	}
	if sum.Cmp(closing.signed(t)) != 0 {
		t.Errorf("the entries come to %s, want %s", sum.FloatString(2), closing.Amt.Text)
	}
	if e := got.Stmt.Ntry[2]; e.CdtDbtInd != "DBIT" || e.End != "rent <7>" || e.RvslInd ||
		!strings.HasPrefix(e.Text, "0.00333333 BTC at 70000 EUR, amount, to bc1qpaid") {
		t.Errorf("the payment is %+v, want a debit with its reference", e)
	}
	if e := got.Stmt.Ntry[4]; !e.RvslInd || e.CdtDbtInd != "DBIT" || e.Amt.Text != "18000.00" {
		t.Errorf("the reversal is %+v, want 18000.00 debited", e)
	}
	inOrder(t, text)
	d.fails(exitFailed, "2 movements of the period have no value in EUR", append(period, "2026-03-01")...)
	d.fails(exitUsage, "takes --account, --value, --since and --until", "ledger", "export", "--account", account,
		"--format", "camt.053")
	d.fails(exitUsage, "ended more than a minute ago", append(period, "2999-01-01")...)
}

// sequences are elements of camt.053.001.08 that stand in an order, as far as a statement has them.
var sequences = map[string][]string{
	"BkToCstmrStmt": {"GrpHdr", "Stmt"},
	"Stmt":          {"Id", "CreDtTm", "FrToDt", "Acct", "Bal", "Ntry", "AddtlStmtInf"},
	"Bal":           {"Tp", "Amt", "CdtDbtInd", "Dt"},
	"Ntry": {"NtryRef", "Amt", "CdtDbtInd", "RvslInd", "Sts", "BookgDt", "ValDt", "AcctSvcrRef", "BkTxCd", "NtryDtls",
		"AddtlNtryInf"},
	"TxDtls": {"Refs", "RmtInf"},
}

// inOrder checks the order of a statement's elements, and the length of its texts, by the standard's schema.
func inOrder(t *testing.T, text string) {
	t.Helper()
	most := map[string]int{"MsgId": 35, "Id": 35, "NtryRef": 35, "AcctSvcrRef": 35, "EndToEndId": 35, "Cd": 35,
		"Ustrd": 140, "AddtlNtryInf": 500, "AddtlStmtInf": 500}
	type place struct {
		name string
		at   int
	}
	var open []place
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if len(open) > 0 {
				parent := &open[len(open)-1]
				if of := sequences[parent.name]; of != nil {
					at := slices.Index(of, name)
					if at < parent.at {
						t.Errorf("%s stands at %d in %s, want %v", name, at, parent.name, of)
					}
					parent.at = at
				}
			}
			open = append(open, place{name, 0})
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 0 {
				continue
			}
			if name := open[len(open)-1].name; most[name] > 0 && len([]rune(string(token))) > most[name] {
				t.Errorf("%s is %q, want at most %d characters", name, token, most[name])
			}
		}
	}
}

func TestTheFilesOfAMonth(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	account := d.valued().String()
	d.ok("ledger", "month", "2026-01", "--into", filepath.Join(d.dir, "january"), "--value", "EUR")
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(d.dir, "january", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := d.ok("ledger", "export", "--account", account, "--since", "2026-01-01", "--until", "2026-02-01", "--value",
		"EUR")
	if got := read(account + ".csv"); got != want {
		t.Errorf("the file is\n%s\nwant what the export writes\n%s", got, want)
	}
	if got := read(account + ".camt.053.xml"); !strings.Contains(got, `<Amt Ccy="EUR">49266.77</Amt>`) {
		t.Errorf("the file is\n%s\nwant the closing balance of 49266.77", got)
	}
	d.fails(exitFailed, "have no value in EUR", "ledger", "month", "2026-02", "--into",
		filepath.Join(d.dir, "february"), "--value", "EUR")
	left, err := os.ReadDir(filepath.Join(d.dir, "february"))
	if err != nil || len(left) != 0 {
		t.Errorf("a month that failed leaves %v, %v, want nothing", left, err)
	}
	d.fails(exitUsage, "is not a month", "ledger", "month", "January", "--into", d.dir)
	d.fails(exitUsage, "has not ended", "ledger", "month", "2999-01", "--into", d.dir)
}

// What a client chose, such as the metadata of a wallet, is no formula in the accountant's spreadsheet; as JSON it is
// what it was.
func TestNoCounterpartyIsAFormula(t *testing.T) {
	t.Parallel()
	const formula = `=HYPERLINK("https://evil.example/","Total")`
	d := detail{Counterparty: formula}
	for name, cells := range map[string][]string{
		"statement": statementRow{detail: d, Available: "-1"}.cells(),
		"journal":   journalRow{detail: d}.cells(),
	} {
		if slices.Contains(cells, formula) || !slices.Contains(cells, "'"+formula) {
			t.Errorf("%s: the cells are %q, want %q", name, cells, "'"+formula)
		}
	}
	if cells := (statementRow{Available: "-1"}).cells(); !slices.Contains(cells, "-1") {
		t.Errorf("the cells are %q, want the amount as a number", cells)
	}
}
