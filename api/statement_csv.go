package api

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// document is a response that is not JSON.
type document struct {
	contentType string
	next        string // the cursor of the next page; empty: none
	body        []byte
}

// nextCursorHeader has the cursor of the next page where the response is not JSON.
const nextCursorHeader = "Bursar-Next-Cursor"

func (d document) answer(header http.Header) store.Answer {
	header.Set("Content-Type", d.contentType)
	if d.next != "" {
		header.Set(nextCursorHeader, d.next)
	}
	return store.Answer{Status: http.StatusOK, Body: d.body}
}

// csv writes a page of a statement. All pages behind each other are the whole statement: the first one begins with the
// names of the columns and the opening balances, the last one ends with the closing ones.
func (s statementAnswer) csv(p period) document {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := func(cells ...string) { _ = w.Write(cells) } // a buffer takes all
	if p.first() {
		row("time", "kind", "part", "currency", "amount", "available", "held", "depositID", "withdrawalID", "ref")
		for _, c := range s.Currencies {
			row(instantCell(s.From), "opening", "", string(c.Currency), "", c.Opening.Available, c.Opening.Held, "", "", "")
			if c.Archived != nil {
				row(instantCell(*s.ArchivedBefore), "archived", "", string(c.Currency), "", c.Archived.Available,
					c.Archived.Held, "", "", "")
			}
		}
	}
	for _, l := range s.Entries {
		row(instantCell(l.CreatedAt), string(l.Kind), string(l.Part), string(l.Currency), l.Amount, l.Available, l.Held,
			idCell(l.DepositID), idCell(l.WithdrawalID), string(l.Ref))
	}
	if p.last {
		for _, c := range s.Currencies {
			row(instantCell(s.To), "closing", "", string(c.Currency), "", c.Closing.Available, c.Closing.Held, "", "", "")
		}
	}
	w.Flush()
	return document{contentType: "text/csv; charset=utf-8", next: s.NextCursor, body: b.Bytes()}
}

// instantCell writes a time to the microsecond that the books keep.
func instantCell(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func idCell(id *bursar.ID) string {
	if id == nil {
		return ""
	}
	return id.String()
}
