package client

import (
	"context"
	"net/http"
	"time"
)

// StatementOf says which statement to get: a month, or the period between two times.
type StatementOf struct {
	Month    string    // such as 2026-01, in UTC; empty: From and To
	From     time.Time // entries of this time or later; zero: the beginning of the current month
	To       time.Time // and earlier than this; zero: now, or the end of the current month without From
	Currency string    // empty: all
}

// Statement is a page of a statement. For each currency Opening, Archived and all entries together are Closing,
// exactly. Entries are listed oldest first.
type Statement struct {
	From           time.Time           `json:"from"`
	To             time.Time           `json:"to"`
	Final          bool                `json:"final"`      // no entry of the period can appear any more
	Currencies     []StatementCurrency `json:"currencies"` // on the first page only
	Entries        []LedgerLine        `json:"entries"`
	ArchivedBefore *time.Time          `json:"archivedBefore"` // some entries before this time are archived; nil: none
	NextCursor     string              `json:"nextCursor"`     // empty on the last page
}

// StatementCurrency is what a currency began and ended with.
type StatementCurrency struct {
	Currency string            `json:"currency"`
	Opening  StatementAmounts  `json:"opening"`
	Closing  StatementAmounts  `json:"closing"`
	Archived *StatementAmounts `json:"archived"` // what the entries come to that are not listed; nil: there are none
}

// StatementAmounts are exact, and below zero as those of lines may be.
type StatementAmounts struct {
	Available string `json:"available"`
	Held      string `json:"held"`
}

// Statement gets a page of a statement.
func (c *Client) Statement(ctx context.Context, of StatementOf, p Page) (Statement, error) {
	return call[Statement](ctx, c, request{
		method: http.MethodGet,
		path:   "account/statement",
		values: p.values(of.values()),
	})
}

// StatementCSV gets a page of a statement as CSV. The pages behind each other are one file; nextCursor is empty on the
// last one.
func (c *Client) StatementCSV(ctx context.Context, of StatementOf, p Page) (text, nextCursor string, err error) {
	values := of.values()
	values["format"] = "csv"
	page, err := call[plainPage](ctx, c, request{method: http.MethodGet, path: "account/statement",
		values: p.values(values)})
	return page.Text, page.NextCursor, err
}

func (of StatementOf) values() map[string]any {
	return filled(map[string]string{"month": of.Month, "from": moment(of.From), "to": moment(of.To),
		"currency": of.Currency})
}
