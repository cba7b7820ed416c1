package api

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// ledgerLine is what one entry of the books did to an account in one currency. Amounts are exact, and signed: they are
// changes.
type ledgerLine struct {
	Kind      ledger.Kind `json:"kind"`
	Ref       ledger.Ref  `json:"ref"` // begins with the ID of the deposit or withdrawal
	Currency  bursar.Code `json:"currency"`
	Available string      `json:"available"`
	Held      string      `json:"held"`
	CreatedAt time.Time   `json:"createdAt"`
}

type ledgerAnswer struct {
	Ledger     []ledgerLine `json:"ledger"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

// listLedger is GET account/ledger. A page counts entries; one entry is almost always one line.
func (a *api) listLedger(ctx context.Context, c *call) (any, error) {
	page := c.in.page(ledgerList)
	if c.in.err != nil {
		return nil, c.in.err
	}
	own := owned{ledger.Available(c.identity.Account), ledger.Held(c.identity.Account)}
	var postings []store.Line
	err := a.DB.View(ctx, func(tx *store.Tx) (err error) {
		postings, err = tx.Lines(ctx, []ledger.Account{own.available, own.held}, page)
		return err
	})
	if err != nil {
		return nil, err
	}
	var answer ledgerAnswer
	changes, err := own.changes(postings)
	if err != nil {
		return nil, err
	}
	entries, next := cut(changes, page, ledgerList, func(e []change) int64 { return e[0].number })
	answer.NextCursor, answer.Ledger = next, []ledgerLine{}
	for _, entry := range entries {
		lines, err := each(entry, a.viewChange)
		if err != nil {
			return nil, err
		}
		answer.Ledger = append(answer.Ledger, lines...)
	}
	return answer, nil
}

// owned are a customer's accounts in the books.
type owned struct{ available, held ledger.Account }

// change is what one entry did in one currency.
type change struct {
	number          int64 // of the entry
	kind            ledger.Kind
	ref             ledger.Ref
	at              time.Time
	asset           bursar.Code
	available, held ledger.Balance
}

// changes adds postings up by entry and currency, in their order.
func (o owned) changes(postings []store.Line) ([][]change, error) {
	var entries [][]change
	for _, p := range postings {
		if n := len(entries); n == 0 || entries[n-1][0].number != p.Number {
			entries = append(entries, nil)
		}
		entry := &entries[len(entries)-1]
		var err error
		if *entry, err = o.add(*entry, p); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (o owned) add(entry []change, p store.Line) ([]change, error) {
	at := -1
	for i := range entry {
		if entry[i].asset == p.Asset {
			at = i
		}
	}
	if at < 0 {
		entry, at = append(entry, change{number: p.Number, kind: p.Kind, ref: p.Ref, at: p.At, asset: p.Asset}), len(entry)
	}
	var err error
	if entry[at].available, err = entry[at].available.Apply(o.available, p.Posting); err != nil {
		return nil, err
	}
	entry[at].held, err = entry[at].held.Apply(o.held, p.Posting)
	return entry, err
}

func (a *api) viewChange(c change) (ledgerLine, error) {
	currency, err := a.currency(c.asset)
	return ledgerLine{Kind: c.kind, Ref: c.ref, Currency: c.asset, Available: signed(currency, c.available), Held: signed(currency, c.held), CreatedAt: c.at}, err
}

func signed(c bursar.Currency, b ledger.Balance) string {
	amount, negative := b.Net(ledger.Liability)
	if negative {
		return "-" + c.Exact(amount)
	}
	return c.Exact(amount)
}
