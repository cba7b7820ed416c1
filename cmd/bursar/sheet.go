package main

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/service"
)

// sheets are what a command shows of the database, as the console does.
type sheets struct{ *oversight.Reader }

// sheets opens the database to look at it, which needs neither the seed nor the service. The caller closes its DB.
func (c *call) sheets(ctx context.Context) (sheets, error) {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return sheets{}, err
	}
	return sheets{service.SheetsOf(ctx, cfg, db)}, nil
}

// read returns the sheet of a page of the console.
func (s sheets) read(ctx context.Context, path string, values url.Values) (oversight.Sheet, error) {
	pages := oversight.Pages()
	at := slices.IndexFunc(pages, func(p oversight.Page) bool { return p.Path == path })
	return s.Read(ctx, pages[at], oversight.Query{Values: values})
}

// one shows the sheet of one object.
func (c *call) one(ctx context.Context, path, what string, id bursar.ID, asJSON bool) error {
	s, err := c.sheets(ctx)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	sheet, err := s.read(ctx, path, url.Values{"id": {id.String()}})
	if err != nil {
		return named(err, "there is no %s %s: `bursar find` looks for everything that has this ID", what, id)
	}
	return c.showSheet(sheet, asJSON)
}

// many shows the first table of a list.
func (c *call) many(ctx context.Context, path string, values url.Values, asJSON bool) error {
	s, err := c.sheets(ctx)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	sheet, err := s.read(ctx, path, values)
	if err != nil {
		return err
	}
	if asJSON {
		return c.PrintJSON(sheet.Tables[0].Objects())
	}
	if err := c.table(sheet.Tables[0]); err != nil {
		return err
	}
	if next := sheet.Tables[0].Next; next != "" {
		c.Note("There are more: add --before %s.", next)
	}
	return nil
}

// showSheet prints a sheet: what needs a person, what it is, where it is on its way, and its lists.
func (c *call) showSheet(s oversight.Sheet, asJSON bool) error {
	if asJSON {
		return c.PrintJSON(s)
	}
	if err := c.Say("%s", cell(s.Title)); err != nil {
		return err
	}
	for _, a := range s.Alerts {
		if err := c.Say("! %s", cell(a.Text)); err != nil {
			return err
		}
	}
	var facts []string
	for _, f := range s.Facts {
		facts = append(facts, f.Label, cell(f.Text))
	}
	if err := c.pairs(facts...); err != nil {
		return err
	}
	if err := c.steps(s.Steps); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if len(t.Rows) == 0 {
			continue
		}
		if err := c.Say("\n%s", t.Title); err != nil {
			return err
		}
		if err := c.table(t); err != nil {
			return err
		}
	}
	for _, note := range s.Notes {
		c.Note("%s", cell(note))
	}
	if s.Command != "" {
		c.Note("See also: %s", s.Command)
	}
	return nil
}

// progressMarks say how far a step is.
var progressMarks = map[oversight.Progress]string{
	oversight.Done:    "[x]",
	oversight.Now:     "[>]",
	oversight.Later:   "[ ]",
	oversight.Stopped: "[!]",
	oversight.Skipped: "[-]",
}

// steps prints where an object is on its way. A step that is under way says what it waits for.
func (c *call) steps(steps []oversight.Step) error {
	for _, s := range steps {
		line := progressMarks[s.State] + " " + s.Title
		if !s.At.IsZero() {
			line += "  " + moment(s.At)
		}
		if text := strings.TrimSpace(s.Text + " " + s.TxID); text != "" {
			line += "  " + cell(text)
		}
		if err := c.Say("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// table prints a table.
func (c *call) table(t oversight.Table) error {
	head := ""
	for i, column := range t.Columns {
		if i > 0 {
			head += " "
		}
		head += heading(column.Label)
	}
	return list(c, false, t.Rows, head, func(row []oversight.Cell) []any {
		cells := make([]any, len(row))
		for i, r := range row {
			cells[i] = r.Text
		}
		return cells
	})
}

// heading writes a column's label as one word in capitals.
func heading(label string) string {
	text := []byte(label)
	for i, b := range text {
		switch {
		case 'a' <= b && b <= 'z':
			text[i] = b - 'a' + 'A'
		case b == ' ':
			text[i] = '-'
		}
	}
	return string(text)
}

// rows holds the flags of every list that is read page by page.
type rows struct {
	Limit  int    `default:"50" help:"Maximum number of rows, 1 to 500."`
	Before int64  `placeholder:"CURSOR" help:"Continue a list, with the cursor that its end names."`
	From   string `placeholder:"TIME" help:"Only from this day on, such as 2026-01-31 in UTC, or a time of RFC 3339."`
	To     string `placeholder:"TIME" help:"Only up to the end of this day, or to a time."`
	JSON   bool   `name:"json" help:"Print a JSON array."`
}

// values returns the query of a list. Names and values alternate; what is empty is left out.
func (r rows) values(account bursar.ID, more ...string) url.Values {
	v := url.Values{"limit": {strconv.Itoa(r.Limit)}}
	if r.Before != 0 {
		v.Set("before", strconv.FormatInt(r.Before, 10))
	}
	if !account.IsZero() {
		v.Set("account", account.String())
	}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			v.Set(more[i], more[i+1])
		}
	}
	for name, value := range map[string]string{"from": r.From, "to": r.To} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}
