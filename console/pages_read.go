package console

import (
	"encoding/json"
	"html/template"
	"maps"
	"net/url"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/oversight"
)

// readPages lists the pages that show the state of the service and of its objects. They share the template sheet.html:
// what a page says is in its sheet.
func (c *Console) readPages() (pages []page) {
	for _, p := range oversight.Pages() {
		pages = append(pages, page{
			path:  p.Path,
			verb:  operator.VerbRead,
			title: p.Title,
			nav:   navOf(p),
			serve: func(v *visit) (any, error) { return c.sheet(v, p) },
		})
	}
	return pages
}

// sheetNames are the paths of the pages that show a sheet.
func sheetNames() map[string]bool {
	names := map[string]bool{}
	for _, p := range oversight.Pages() {
		names[p.Path] = true
	}
	return names
}

// navOf returns the entry of the navigation that a page belongs to: an object to its list.
func navOf(p oversight.Page) string {
	if p.Name != "" {
		return p.Name
	}
	list, _, _ := strings.Cut(p.Path, "/{")
	for _, other := range oversight.Pages() {
		if other.Path == list {
			return other.Name
		}
	}
	return ""
}

// sheetView is what the template shows. As JSON it is the sheet.
type sheetView struct {
	oversight.Sheet
	Facts  []cellView // with the sheet's names of them
	Charts []chartView
	Tables []tableView
	Forms  []form
	Path   string // of the page
	Twin   string // the command that shows the same; empty: there is none but the sheet's own
}

// MarshalJSON implements json.Marshaler.
func (s *sheetView) MarshalJSON() ([]byte, error) { return json.Marshal(s.Sheet) }

// heading is the title of the page, where what it shows has one of its own.
func (s *sheetView) heading() string { return s.Title }

type cellView struct {
	oversight.Cell
	Label string
	Kind  oversight.Kind
}

type chartView struct {
	oversight.Chart
	Table tableView
}

type tableView struct {
	oversight.Table
	Rows      [][]cellView
	CSV, JSON template.URL // the queries that export what the table shows
	Next      template.URL // the query of the next page; empty: there is none
}

// sheet reads a page's sheet, or makes the file that is asked for.
func (c *Console) sheet(v *visit, p oversight.Page) (any, error) {
	if p.Whole {
		if err := v.person.May(operator.VerbRead, bursar.ID{}); err != nil {
			return nil, err
		}
	}
	values := maps.Clone(v.form)
	if values == nil {
		values = url.Values{}
	}
	if id := v.path("id"); id != "" {
		values.Set("id", id)
	}
	s, err := c.Sheets.Read(v.ctx, p, oversight.Query{Values: values, Accounts: v.person.Accounts})
	if err != nil {
		return nil, err
	}
	if p.Path == searchPath {
		if err := c.addActs(v, &s); err != nil {
			return nil, err
		}
	}
	if format := values.Get("format"); format != "" {
		v.file, err = export(s, format, values.Get("table"))
		return nil, err
	}
	return c.view(v, s), nil
}

// export makes a file of what one table of a page shows.
func export(s oversight.Sheet, format, key string) (*file, error) {
	t, err := s.Table(key)
	if err != nil {
		return nil, err
	}
	switch format {
	case "csv":
		text, err := t.CSV()
		return &file{name: t.Key + ".csv", kind: "text/csv; charset=utf-8", body: text}, err
	case "json":
		text, err := json.Marshal(t.Objects())
		return &file{name: t.Key + ".json", kind: "application/json", body: text}, err
	}
	return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "format", "format must be csv or json")
}

// view prepares a sheet for the template.
func (c *Console) view(v *visit, s oversight.Sheet) *sheetView {
	path := strings.TrimPrefix(strings.TrimPrefix(v.request.URL.Path, base), apiBase)
	view := &sheetView{Sheet: s, Path: path, Forms: c.forms(v, path, s), Twin: twinOf(v, path, s)}
	for _, f := range s.Facts {
		view.Facts = append(view.Facts, cellView{f.Cell, f.Label, f.Kind})
	}
	for _, t := range s.Tables {
		view.Tables = append(view.Tables, tableOf(t, v.form))
	}
	for _, chart := range s.Charts {
		view.Charts = append(view.Charts, chartView{chart, tableOf(chart.Table, v.form)})
	}
	return view
}

// shown are the commands of lists, which show one object by its ID.
var shown = map[string]string{"/charges": "charge", "/deposits": "deposit", "/wallets": "wallet",
	"/withdrawals": "withdrawal", "/accounts": "account"}

// twinOf returns the command that shows what a page does; empty where the sheet names it.
func twinOf(v *visit, path string, s oversight.Sheet) (twin string) {
	query := v.form.Get("q")
	switch command := shown[strings.TrimSuffix(path, "/"+v.path("id"))]; {
	case path == searchPath && query != "" && plainWord.MatchString(query):
		twin = "bursar find " + query
	case command == "":
	case s.Object.IsZero():
		twin = "bursar " + command + " list"
	default:
		twin = "bursar " + command + " show " + s.Object.String()
	}
	if twin == s.Command {
		return ""
	}
	return twin
}

func tableOf(t oversight.Table, query url.Values) tableView {
	view := tableView{Table: t, CSV: with(query, "format", "csv", "table", t.Key), JSON: with(query, "format", "json",
		"table", t.Key)}
	if t.Next != "" {
		view.Next = with(query, "before", t.Next)
	}
	for _, row := range t.Rows {
		cells := make([]cellView, len(row))
		for i, cell := range row {
			cells[i] = cellView{cell, t.Columns[i].Label, t.Columns[i].Kind}
		}
		view.Rows = append(view.Rows, cells)
	}
	return view
}

// with returns a query with some values set, which a template writes behind the ? of a link as it is: it is encoded.
func with(query url.Values, pairs ...string) template.URL {
	values := url.Values{}
	for name, list := range query {
		if len(list) > 0 && list[0] != "" {
			values.Set(name, list[0])
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return template.URL(values.Encode()) //nolint:gosec // what is encoded is a query, whatever is in it
}
