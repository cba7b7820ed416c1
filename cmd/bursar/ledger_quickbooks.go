package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/bursar/bursar/store"
)

// formatQuickBooks is the CSV of three columns that QuickBooks Online takes as the transactions of a bank account, by
// Intuit's "Prepare your CSV file for bank upload to QuickBooks" of November 2026: Date, Description and Amount in this
// order, money out below zero, no cell of zero, no numbers in descriptions, and one form of dates. That form is
// yyyy-mm-dd here, the only one that nobody can take for another day.
const formatQuickBooks = "qbo-csv"

// What QuickBooks takes in one upload.
const (
	quickBooksRows  = 1000
	quickBooksBytes = 350_000
)

// quickBooks writes the movements of a period in one fiat currency. Every one of them must have a value, or the balance
// in QuickBooks would not be that of the books.
func (x *export) quickBooks(ctx context.Context, c *call) error {
	if err := x.ownsAll(ctx); err != nil {
		return err
	}
	if _, _, err := x.worthOfPeriod(ctx); err != nil {
		return err
	}
	written := &counter{to: c.Stdout}
	buffered := bufio.NewWriter(written)
	out := csv.NewWriter(buffered)
	rows, worthless := 0, 0
	err := out.Write([]string{"Date", "Description", "Amount"})
	q := store.LineQuery{Accounts: x.sides(), Since: x.since, Until: x.until}
	err = errors.Join(err, x.movements(ctx, q, func(m camtMovement) error {
		if m.value.Sign() == 0 {
			worthless++
			return nil
		}
		amount, err := x.fiat(m.value)
		if err != nil {
			return err
		}
		if m.value.Sign() < 0 {
			amount = "-" + amount
		}
		rows++
		return out.Write([]string{m.At.UTC().Format(time.DateOnly), quickBooksText(m), amount})
	}))
	out.Flush()
	if err := errors.Join(err, out.Error(), buffered.Flush()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if worthless > 0 {
		c.Note("Left out: %d movements that are worth less than half of the smallest coin.", worthless)
	}
	if rows > quickBooksRows || written.bytes > quickBooksBytes {
		c.Note("QuickBooks takes %d rows and 350 KB in one file, and this one has %d and %d KB: export shorter periods.",
			quickBooksRows, rows, written.bytes/1000)
	}
	return nil
}

// quickBooksText describes a movement in words. What a client called the other side stands there if it has no digit.
func quickBooksText(m camtMovement) string {
	text := fmt.Sprintf("%s, %s of %s", strings.ReplaceAll(string(m.Kind), "_", " "), m.Part, m.Asset)
	if m.Counterparty != "" && strings.IndexFunc(m.Counterparty, unicode.IsNumber) < 0 {
		text += ", " + strings.Join(strings.Fields(m.Counterparty), " ")
	}
	return text
}

// counter counts what passes through it.
type counter struct {
	to    io.Writer
	bytes int
}

// Write implements io.Writer.
func (w *counter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.bytes += n
	return n, err
}
