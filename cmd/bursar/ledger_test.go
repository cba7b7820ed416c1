package main

import (
	"context"
	"encoding/csv"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

var firstDay = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// post books an entry.
func (d *harness) post(entries ...ledger.Entry) {
	d.Helper()
	d.change(func(ctx context.Context, tx *store.Tx) error { return tx.Ledger().Post(ctx, entries...) })
}

// table runs an export and returns its rows by the names of their columns.
func (d *harness) table(args ...string) []map[string]string {
	d.Helper()
	records, err := csv.NewReader(strings.NewReader(d.ok(append([]string{"ledger", "export"}, args...)...))).ReadAll()
	if err != nil || len(records) == 0 {
		d.Fatalf("no table: %v", err)
	}
	rows := make([]map[string]string, len(records)-1)
	for i, record := range records[1:] {
		rows[i] = map[string]string{}
		for n, name := range records[0] {
			rows[i][name] = record[n]
		}
	}
	return rows
}

// A worked month: the example of docs/accounting.md.
func TestLedgerExport(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	a := parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	b := parse[createdAccount](d, "account", "create", "--name", "B", "--json").AccountID
	dep := bursar.Deposit{ID: bursar.ID{1}, AccountID: a, Currency: "BTC", Amount: bursar.Units(1e8),
		Fee: bursar.Units(1e6)}
	out := bursar.Withdrawal{ID: bursar.ID{2}, AccountID: a, Currency: "BTC", Amount: bursar.Units(5e7),
		Fee: bursar.Units(20_000)}
	in := bursar.Withdrawal{ID: bursar.ID{3}, AccountID: a, Currency: "BTC", Amount: bursar.Units(3e7),
		Fee: bursar.Units(10_000)}
	day := func(n int) time.Time { return firstDay.Add(time.Duration(n) * 24 * time.Hour) }
	d.post(ledger.DepositCredited(dep, day(1)), ledger.WithdrawalHeld(out, day(2)),
		ledger.WithdrawalSettled(out, 0, day(3)), ledger.NetworkFee("bitcoin:x", 0, "BTC", bursar.Units(15_000), day(3)),
		ledger.DirectTransfer(in, b, bursar.Units(300_000), day(40)))
	got := d.ok("ledger", "export", "--account", a.String(), "--until", "2026-02-01")
	want := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(`time,kind,part,currency,amount,available,held,availableAfter,heldAfter,depositID,withdrawalID,ref
2026-01-02T00:00:00Z,deposit,amount,BTC,1.00000000,1.00000000,0.00000000,1.00000000,0.00000000,DEP,,DEP/0
2026-01-02T00:00:00Z,deposit,fee,BTC,0.01000000,-0.01000000,0.00000000,0.99000000,0.00000000,DEP,,DEP/0
2026-01-03T00:00:00Z,withdrawal_held,amount,BTC,0.50000000,-0.50000000,0.50000000,0.49000000,0.50000000,,OUT,OUT
2026-01-03T00:00:00Z,withdrawal_held,fee,BTC,0.00020000,-0.00020000,0.00020000,0.48980000,0.50020000,,OUT,OUT
2026-01-04T00:00:00Z,withdrawal_settled,amount,BTC,0.50000000,0.00000000,-0.50000000,0.48980000,0.00020000,,OUT,OUT
2026-01-04T00:00:00Z,withdrawal_settled,fee,BTC,0.00020000,0.00000000,-0.00020000,0.48980000,0.00000000,,OUT,OUT
2026-02-01T00:00:00Z,closing,,BTC,,,,0.48980000,0.00000000,,,
`, "DEP", dep.ID.String()), "OUT", out.ID.String()), "IN", in.ID.String())
	head, rows, _ := strings.Cut(want, "\n") // the chain's details are behind, and these entries have none
	want = head + ",hashID,address,counterparty,rate,value,valueCurrency\n" + strings.ReplaceAll(rows, "\n", ",,,,,,\n")
	if got != want {
		t.Errorf("January is\n%s\nwant\n%s", got, want)
	}
	february := d.table("--account", a.String(), "--since", "2026-02-01T01:00:00+01:00", "--csv")
	if first, last := february[0], february[len(february)-1]; len(february) != 4 || first["kind"] != "opening" ||
		first["availableAfter"] != "0.48980000" || first["time"] != "2026-02-01T00:00:00Z" ||
		last["kind"] != "closing" || last["availableAfter"] != "0.18970000" || last["heldAfter"] != "0.00000000" {
		t.Errorf("February is %v", february)
	}
	theirs := parse[[]statementRow](d, "ledger", "export", "--account", b.String(), "--json")
	if len(theirs) != 3 || theirs[0].Available != "0.30000000" || theirs[0].Withdrawal != nil ||
		theirs[1].Part != ledger.PartFee || theirs[1].AvailableAfter != "0.29700000" || theirs[2].Kind != kindClosing {
		t.Errorf("B's statement is %+v", theirs)
	}
	journal := parse[[]journalRow](d, "ledger", "export", "--all", "--json")
	if len(journal) != 10 || journal[6].Kind != ledger.KindNetworkFee || journal[6].Debit != ledger.NetworkFees ||
		journal[6].Credit != ledger.Custody || journal[6].Amount != "0.00015000" || journal[0].Entry != 1 {
		t.Errorf("the journal is %+v", journal)
	}
	if rows := d.table("--all", "--since", "2026-01-04", "--until", "2026-01-05"); len(rows) != 3 ||
		rows[0]["credit"] != "custody" || rows[1]["credit"] != "fees:withdrawal" {
		t.Errorf("a day is %v, want 3 of them and %q and %q", rows, "custody", "fees:withdrawal")
	}
	if empty := d.ok("ledger", "export", "--all", "--json", "--until", "2025-01-01"); empty != "[]\n" {
		t.Errorf("nothing is %q, want %q", empty, "[]\n")
	}
	if o := d.run("", "ledger", "export", "--all"); !strings.Contains(o.err,
		"entries that are being booked now may be missing") {
		t.Errorf("it does not say that the period ends now: %s", o.err)
	}
	d.fails(exitFailed, "there is no account 0193a6a0-0000-7000-8000-000000000000", "ledger", "export", "--until",
		"2026-01-01", "--account", "0193a6a0-0000-7000-8000-000000000000")
}

// Over any history each line's balances are those before it plus its change, the closing balances of one period are the
// opening balances of the next, and the last closing is the balance in the books. The history is longer than what is
// held in memory at once.
func TestAClosingBalanceIsTheNextOpeningBalance(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "A", "--json").AccountID
	random := rand.New(rand.NewPCG(1, 2))
	var entries []ledger.Entry
	for n := range 1200 {
		at := firstDay.Add(time.Duration(n) * time.Hour)
		code := []bursar.CurrencyCode{"BTC", "USDT"}[random.IntN(2)]
		w := bursar.Withdrawal{ID: bursar.ID{2, byte(n >> 8), byte(n)}, AccountID: id, Currency: code,
			Amount: bursar.Units(1 + random.Uint64N(1<<20)), Fee: bursar.Units(random.Uint64N(9))}
		switch {
		case n < 50 || random.IntN(2) == 0:
			dep := bursar.Deposit{ID: bursar.ID{1, byte(n >> 8), byte(n)}, AccountID: id, Currency: code,
				Amount: bursar.Units(1 + random.Uint64N(1<<30)), Fee: bursar.Units(1)}
			entries = append(entries, ledger.DepositCredited(dep, at))
		default:
			entries = append(entries, ledger.WithdrawalHeld(w, at), ledger.WithdrawalSettled(w, 0, at.Add(time.Minute)))
		}
	}
	d.post(entries...)
	closing := map[string]string{}
	lines := 0
	for from := firstDay; from.Before(firstDay.Add(1200 * time.Hour)); from = from.Add(500 * time.Hour) {
		rows := d.table("--account", id.String(), "--since", from.Format(time.RFC3339), "--until",
			from.Add(500*time.Hour).Format(time.RFC3339))
		running := map[string]*big.Rat{}
		for _, row := range rows {
			lines += d.follows(row, running, closing)
		}
	}
	postings := 0
	for _, e := range entries {
		postings += len(e.Postings)
	}
	if lines != postings || postings <= 2*linesAtOnce {
		t.Errorf("%d postings are exported as %d lines", postings, lines)
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		for _, code := range []bursar.CurrencyCode{"BTC", "USDT"} {
			balance, err := tx.Ledger().Balance(ctx, ledger.Available(id), code)
			if err != nil {
				return err
			}
			amount, _ := balance.Net(ledger.Liability)
			if want := amount.Decimal(map[bursar.CurrencyCode]int{"BTC": 8, "USDT": 6}[code],
				2); strings.TrimRight(closing[string(code)], "0") != strings.TrimRight(want, "0") {
				t.Errorf("the last closing of %s is %s, the balance %s", code, closing[string(code)], want)
			}
		}
		return nil
	})
}

// follows compares one row with those before it, and returns 1 if it is a line.
func (d *harness) follows(row map[string]string, running map[string]*big.Rat, closing map[string]string) int {
	d.Helper()
	code := row["currency"]
	switch row["kind"] {
	case "opening":
		if row["availableAfter"] != closing[code] {
			d.Fatalf("%s opens with %s and closed with %s", code, row["availableAfter"], closing[code])
		}
		running[code] = decimal(d, row["availableAfter"])
		return 0
	case "closing":
		if running[code].Cmp(decimal(d, row["availableAfter"])) != 0 {
			d.Fatalf("%s closes with %s", code, row["availableAfter"])
		}
		closing[code] = row["availableAfter"]
		return 0
	}
	if running[code] == nil {
		running[code] = new(big.Rat)
	}
	running[code].Add(running[code], decimal(d, row["available"]))
	if running[code].Cmp(decimal(d, row["availableAfter"])) != 0 {
		d.Fatalf("after %v there are %s", row, running[code])
	}
	return 1
}

func decimal(d *harness, text string) *big.Rat {
	d.Helper()
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		d.Fatalf("%q is no decimal", text)
	}
	return value
}
