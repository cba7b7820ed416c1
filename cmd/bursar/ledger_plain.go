package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// The formats of plain-text accounting, and how each was verified: beancount 2.3.5, hledger 1.25, ledger 3.3.0.
const (
	formatBeancount = "beancount"
	formatHledger   = "hledger"
	formatLedger    = "ledger"
)

// plainWriter writes a journal for a program of plain-text accounting. Accounts and currencies are declared before
// their first use, as the strict modes of these programs demand, and each has its balance asserted at the end.
type plainWriter struct {
	out      *bufio.Writer
	format   string
	registry func(bursar.CurrencyCode) (bursar.Currency, error)
	known    map[string]bool // what is declared
	sums     map[ledger.Key]ledger.Balance
	postings []store.Line // of the entry that is being read
	last     time.Time    // of the latest entry
	prices   plainPrices
	err      error
}

func newPlainWriter(to io.Writer, format string, x *export) *plainWriter {
	return &plainWriter{
		out:      bufio.NewWriter(to),
		format:   format,
		registry: x.currency,
		known:    map[string]bool{},
		sums:     map[ledger.Key]ledger.Balance{},
		prices:   plainPrices{unit: x.value, last: map[bursar.CurrencyCode]bursar.Rate{}},
	}
}

// plain writes the journal of a period: the balances before it, every entry, and the balances after it. Where values
// are asked for, each posting has the price of its amount in the entry, and each day the last price of a currency.
func (x *export) plain(ctx context.Context, w *plainWriter) error {
	w.declareFiat()
	if !x.since.IsZero() {
		err := x.each(ctx, store.LineQuery{Until: x.since}, func(_ context.Context, lines []store.Line) error {
			return w.sum(lines)
		})
		if err != nil {
			return err
		}
		w.opening(x.since)
	}
	period := store.LineQuery{Since: x.since, Until: x.until}
	err := x.each(ctx, period, func(ctx context.Context, lines []store.Line) error {
		err := x.db.View(ctx, func(tx *store.Tx) error {
			rates, err := x.rates(ctx, tx, lines)
			w.prices.learn(rates)
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range lines {
			w.put(l)
		}
		return cmp.Or(w.err, w.sum(lines))
	})
	if err != nil {
		return err
	}
	w.entry()
	w.daysPrices()
	w.closing(x.until)
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.err
}

// sum adds lines to the balances.
func (w *plainWriter) sum(lines []store.Line) error {
	for _, l := range lines {
		if err := count(w.sums, []store.Line{l}, []ledger.Account{l.Debit, l.Credit}); err != nil {
			return err
		}
	}
	return nil
}

// put takes one line. Those of an entry follow each other.
func (w *plainWriter) put(l store.Line) {
	if len(w.postings) > 0 && w.postings[0].Entry != l.Entry {
		w.entry()
	}
	w.postings = append(w.postings, l)
}

// entry writes the entry whose lines were taken.
func (w *plainWriter) entry() {
	if len(w.postings) == 0 {
		return
	}
	first := w.postings[0]
	w.dayOf(first.At)
	for _, l := range w.postings {
		w.declare(l.Debit, l.Asset)
		w.declare(l.Credit, l.Asset)
	}
	w.head(first.At, fmt.Sprint(first.Entry), string(first.Kind), string(first.Ref))
	for _, l := range w.postings {
		amount := w.amount(l.Asset, l.Amount, false) + w.price(l)
		w.line("  %s  %s", plainAccount(l.Debit), amount)
		w.line("  %s  -%s", plainAccount(l.Credit), amount)
	}
	w.line("")
	if first.At.After(w.last) {
		w.last = first.At
	}
	w.postings = w.postings[:0]
}

// head writes the first line of a transaction.
func (w *plainWriter) head(at time.Time, number, what, ref string) {
	date := at.UTC().Format(time.DateOnly)
	if w.format == formatBeancount {
		w.line("%s * %q %q", date, what, ref)
		if number != "" {
			w.line("  entry: %s", number)
		}
		w.line("  time: %q", instant(at))
		return
	}
	if number != "" {
		number = "(" + number + ") "
	}
	w.line("%s * %s%s %s", date, number, what, ref)
	w.line("  ; at %s", instant(at))
}

// opening writes the balances before the period as a transaction: in each currency they come to zero.
func (w *plainWriter) opening(at time.Time) {
	keys := w.balances()
	if len(keys) == 0 {
		return
	}
	for _, k := range keys {
		w.declare(k.Account, k.Asset)
	}
	w.head(at, "", "opening", "balances before the period")
	for _, k := range keys {
		w.line("  %s  %s", plainAccount(k.Account), w.balance(k))
	}
	w.line("")
	w.last = at
}

// closing asserts every balance: at the beginning of the day after the last entry, or in ledger's and hledger's form
// by postings of nothing on its day.
func (w *plainWriter) closing(until time.Time) {
	keys := w.balances()
	if len(keys) == 0 {
		return
	}
	if w.format == formatBeancount {
		day := until.UTC()
		if day.Truncate(24*time.Hour) != day || !day.After(w.last) {
			day = day.Truncate(24*time.Hour).AddDate(0, 0, 1)
		}
		for _, k := range keys {
			w.line("%s balance %s  %s", day.Format(time.DateOnly), plainAccount(k.Account), w.balance(k))
		}
		return
	}
	w.head(until, "", "closing", "balances after the period")
	for _, k := range keys {
		w.line("  %s  %s = %s", plainAccount(k.Account), w.amount(k.Asset, bursar.Amount{}, false), w.balance(k))
	}
}

// balances returns what has a balance other than zero, in a fixed order.
func (w *plainWriter) balances() []ledger.Key {
	var keys []ledger.Key
	for k, b := range w.sums {
		if net, _ := b.Net(ledger.Asset); !net.IsZero() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b ledger.Key) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Asset, b.Asset))
	})
	return keys
}

// balance is what an account holds, debits being positive, as these programs have it.
func (w *plainWriter) balance(k ledger.Key) string {
	amount, negative := w.sums[k].Net(ledger.Asset)
	return w.amount(k.Asset, amount, negative)
}

func (w *plainWriter) amount(code bursar.CurrencyCode, amount bursar.Amount, negative bool) string {
	currency, err := w.registry(code)
	if err != nil && w.err == nil {
		w.err = err
	}
	text := currency.Exact(amount) + " " + w.commodity(code)
	if negative {
		return "-" + text
	}
	return text
}

// commodity is a currency's name. Only beancount takes a hyphen without quotes.
func (w *plainWriter) commodity(code bursar.CurrencyCode) string {
	if w.format == formatBeancount {
		return string(code)
	}
	return `"` + string(code) + `"`
}

// declare declares an account and a currency where they are new.
func (w *plainWriter) declare(a ledger.Account, code bursar.CurrencyCode) {
	name := plainAccount(a)
	if !w.known[name] {
		w.known[name] = true
		if w.format == formatBeancount {
			w.line("1970-01-01 open %s", name)
		} else {
			w.line("account %s", name)
		}
	}
	if w.known[string(code)] {
		return
	}
	w.known[string(code)] = true
	switch w.format {
	case formatBeancount:
		w.line("1970-01-01 commodity %s", code)
	case formatHledger: // it balances by the decimal places that it is shown here
		currency, err := w.registry(code)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.line("commodity 1.%s %s", strings.Repeat("0", max(currency.Decimals, 1)), w.commodity(code))
	default:
		w.line("commodity %s", w.commodity(code))
	}
}

func (w *plainWriter) line(format string, args ...any) {
	if _, err := fmt.Fprintf(w.out, format+"\n", args...); err != nil && w.err == nil {
		w.err = fmt.Errorf("write: %w", err)
	}
}

// roots are the accounts at the top, by type.
var roots = map[ledger.Type]string{
	ledger.Asset:     "Assets",
	ledger.Liability: "Liabilities",
	ledger.Equity:    "Equity",
	ledger.Income:    "Income",
	ledger.Expense:   "Expenses",
}

// plainAccount is an account's name in the form that all of the programs take: beancount's, whose parts begin with a
// capital or a digit. A customer's ID is in capitals.
func plainAccount(a ledger.Account) string {
	parts := []string{roots[a.Type()]}
	for _, p := range strings.Split(string(a), ":") {
		if strings.Count(p, "-") == 4 { // an ID
			p = strings.ToUpper(p)
		}
		parts = append(parts, strings.ToUpper(p[:1])+strings.ReplaceAll(p[1:], "_", "-"))
	}
	return strings.Join(parts, ":")
}
