package oversight

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"

	"github.com/bursar/bursar"
)

// CSV writes a table with its keys as the first line (RFC 4180, lines end in CRLF). A text that a spreadsheet would
// calculate begins with an apostrophe, which makes it text there.
func (t Table) CSV() ([]byte, error) {
	var to bytes.Buffer
	w := csv.NewWriter(&to)
	w.UseCRLF = true
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = c.Key
	}
	if err := w.Write(line); err != nil {
		return nil, err
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			line[i] = inert(t.Columns[i].Kind, cell.Text)
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return to.Bytes(), w.Error()
}

// Inert makes a text that others chose into one that no spreadsheet calculates, for a file of CSV.
func Inert(text string) string { return inert(Written, text) }

// inert makes a text that begins as a formula does into one that no spreadsheet calculates (OWASP, CSV injection). A
// figure is digits, which may have a sign, and stays a number.
func inert(kind Kind, s string) string {
	if s == "" || kind == Figure && strings.Trim(s, "-0123456789.") == "" {
		return s
	}
	if strings.ContainsRune("=+-@\t\r\n", rune(s[0])) || strings.HasPrefix(s, "＝") || strings.HasPrefix(s, "＋") ||
		strings.HasPrefix(s, "－") || strings.HasPrefix(s, "＠") {
		return "'" + s
	}
	return s
}

// Table returns the table with a key; the first one where the key is empty. The error is a refusal.
func (s Sheet) Table(key string) (Table, error) {
	for _, t := range s.Tables {
		if key == "" || t.Key == key {
			return t, nil
		}
	}
	return Table{}, bursar.RefuseField(bursar.CodeInvalidRequest, "table", "this page has no table %.40q", key)
}

// MarshalJSON writes the sheet as the admin API gives it: facts by their keys, steps, and each table as a list of
// objects by the keys of its columns. All values are strings, and those that are empty are left out of facts.
func (s Sheet) MarshalJSON() ([]byte, error) {
	all := map[string]any{"title": s.Title}
	for _, f := range s.Facts {
		all[f.Key] = f.Text
	}
	if s.Steps != nil {
		all["steps"] = s.Steps
	}
	if s.Alerts != nil {
		alerts := make([]map[string]string, len(s.Alerts))
		for i, a := range s.Alerts {
			alerts[i] = map[string]string{"text": a.Text, "tone": string(a.Tone)}
		}
		all["alerts"] = alerts
	}
	if s.Notes != nil {
		all["notes"] = s.Notes
	}
	if s.Command != "" {
		all["command"] = s.Command
	}
	next := map[string]string{}
	for _, t := range append(s.charted(), s.Tables...) {
		all[t.Key] = t.Objects()
		if t.Next != "" {
			next[t.Key] = t.Next
		}
	}
	if len(next) > 0 {
		all["next"] = next
	}
	return json.Marshal(all)
}

// Objects returns the rows as objects by the keys of the columns.
func (t Table) Objects() []map[string]string {
	list := make([]map[string]string, len(t.Rows))
	for i, row := range t.Rows {
		list[i] = map[string]string{}
		for c, cell := range row {
			list[i][t.Columns[c].Key] = cell.Text
		}
	}
	return list
}

// charted returns the tables under the charts.
func (s Sheet) charted() []Table {
	list := make([]Table, 0, len(s.Charts)+len(s.Tables))
	for _, c := range s.Charts {
		list = append(list, c.Table)
	}
	return list
}
