package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Rows of a statement besides the kinds of entries: the balances before and after its period.
const (
	kindOpening ledger.Kind = "opening"
	kindClosing ledger.Kind = "closing"
)

// statementRow is a line of an account's statement. Amounts are exact decimals; opening and closing rows have balances
// only.
type statementRow struct {
	At             time.Time           `json:"time"`
	Kind           ledger.Kind         `json:"kind"`
	Part           ledger.Part         `json:"part"`
	Currency       bursar.CurrencyCode `json:"currency"`
	Amount         string              `json:"amount"`
	Available      string              `json:"available"`
	Held           string              `json:"held"`
	AvailableAfter string              `json:"availableAfter"`
	HeldAfter      string              `json:"heldAfter"`
	Deposit        *bursar.ID          `json:"depositID"`
	Withdrawal     *bursar.ID          `json:"withdrawalID"`
	Ref            ledger.Ref          `json:"ref"`
	detail
}

func (statementRow) head() []string {
	return append([]string{"time", "kind", "part", "currency", "amount", "available", "held", "availableAfter",
		"heldAfter", "depositID", "withdrawalID", "ref"}, detail{}.head()...)
}

func (r statementRow) cells() []string {
	return append([]string{instant(r.At), string(r.Kind), string(r.Part), string(r.Currency), r.Amount, r.Available,
		r.Held, r.AvailableAfter, r.HeldAfter,
		idCell(r.Deposit), idCell(r.Withdrawal), string(r.Ref)}, r.detail.cells()...)
}

// journalRow is a posting.
type journalRow struct {
	At       time.Time           `json:"time"`
	Entry    int64               `json:"entry"`
	Line     int64               `json:"line"`
	Kind     ledger.Kind         `json:"kind"`
	Ref      ledger.Ref          `json:"ref"`
	Debit    ledger.Account      `json:"debit"`
	Credit   ledger.Account      `json:"credit"`
	Currency bursar.CurrencyCode `json:"currency"`
	Amount   string              `json:"amount"`
	detail
}

func (journalRow) head() []string {
	return append([]string{"time", "entry", "line", "kind", "ref", "debit", "credit", "currency", "amount"},
		detail{}.head()...)
}

func (r journalRow) cells() []string {
	return append([]string{instant(r.At), strconv.FormatInt(r.Entry, 10), strconv.FormatInt(r.Line, 10), string(r.Kind),
		string(r.Ref), string(r.Debit), string(r.Credit),
		string(r.Currency), r.Amount}, r.detail.cells()...)
}

// instant writes a time to the microsecond that the books keep.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func idCell(id *bursar.ID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// row is a line of either export.
type row interface {
	head() []string
	cells() []string
}

// rowWriter writes rows one by one, as CSV or as the items of a JSON array. It keeps its first error.
type rowWriter struct {
	out    *bufio.Writer
	csv    *csv.Writer // nil: JSON
	count  int
	failed error
}

func newRowWriter(to io.Writer, asJSON bool) *rowWriter {
	w := &rowWriter{out: bufio.NewWriter(to)}
	if !asJSON {
		w.csv = csv.NewWriter(w.out)
	}
	return w
}

// head begins the output.
func (w *rowWriter) head(of row) {
	if w.csv != nil {
		w.failed = errors.Join(w.failed, w.csv.Write(of.head()))
		return
	}
	_, err := w.out.WriteString("[")
	w.failed = errors.Join(w.failed, err)
}

func (w *rowWriter) put(r row) {
	if w.failed != nil {
		return
	}
	if w.csv != nil {
		w.failed = w.csv.Write(r.cells())
		return
	}
	text, err := json.Marshal(r)
	if w.count++; err == nil && w.count > 1 {
		err = w.out.WriteByte(',')
	}
	if err == nil {
		_, err = w.out.Write(text)
	}
	w.failed = err
}

// err returns the first error so far.
func (w *rowWriter) err() error {
	if w.csv != nil && w.failed == nil {
		w.failed = w.csv.Error()
	}
	if w.failed != nil {
		return fmt.Errorf("write: %w", w.failed)
	}
	return nil
}

// end writes the rest. An output without this end is incomplete.
func (w *rowWriter) end() error {
	if w.csv != nil {
		w.csv.Flush()
	} else {
		_, err := w.out.WriteString("]\n")
		w.failed = errors.Join(w.failed, err)
	}
	w.failed = errors.Join(w.failed, w.out.Flush())
	return w.err()
}
