package oversight

import (
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// Kind says what a text is, and so how a page shows it.
type Kind string

// The kinds of texts.
const (
	Plain   Kind = "text"    // the service's own words
	Written Kind = "written" // by a customer or somebody else: shown as text, isolated from what is around it
	Ident   Kind = "id"      // an ID, an address or a hash: shown in full, and can be copied
	Figure  Kind = "figure"  // an amount or a number
	Moment  Kind = "time"    // RFC 3339, in UTC
	State   Kind = "state"   // a status
	Command Kind = "command" // to be run on the host
)

// Tone says how urgent a text is. It is never the only sign of that: the text says so too.
type Tone string

// The tones.
const (
	Good Tone = "good"
	Warn Tone = "warn"
	Bad  Tone = "bad"
)

// Cell is one text. Link is the page of what it names, within the console; empty: none.
type Cell struct {
	Text string
	Link string
	Tone Tone
}

// Column describes the cells below it. Key is its name in JSON and in a CSV's first line.
type Column struct {
	Key   string
	Label string
	Kind  Kind
}

// Table is a list. Its rows have a cell for each column.
type Table struct {
	Key     string // its name in JSON, and in the export of a page with several tables
	Title   string
	Columns []Column
	Rows    [][]Cell
	Next    string // cursor of the rows behind these; empty: there are none
	Empty   string // what to say where there are no rows
	Note    string
}

// Fact is one named text of an object.
type Fact struct {
	Key   string
	Label string
	Kind  Kind
	Cell
}

// Progress says where an object is in its trail.
type Progress string

// The states of a step.
const (
	Done    Progress = "done"
	Now     Progress = "now"     // it is here, and waits for what the text says
	Later   Progress = "later"   // not reached
	Stopped Progress = "stopped" // it ended here
	Skipped Progress = "skipped" // not needed
)

// Step is a station of an object's way, such as "credited".
type Step struct {
	Key   string    `json:"step"`
	Title string    `json:"title"`
	State Progress  `json:"state"`
	Text  string    `json:"text"` // what happened, or what it waits for
	At    time.Time `json:"at,omitzero"`
	Chain string    `json:"chain,omitempty"`
	TxID  string    `json:"transaction,omitempty"`
}

// Field is a filter of a page: a choice where it has options, else a text. The page's URL has it as a parameter.
type Field struct {
	Name    string
	Label   string
	Value   string
	Hint    string
	Options []string
}

// Sheet is what a page shows.
type Sheet struct {
	Title   string
	Notes   []string
	Alerts  []Cell // what must be seen first
	Links   []Cell // to the lists of an object
	Facts   []Fact
	Steps   []Step
	Charts  []Chart
	Tables  []Table
	Fields  []Field
	Command string // what shows the same on the host
	Object  bursar.ID
	Account bursar.ID // the one that the object belongs to; zero: none
}

func (s *Sheet) fact(key, label string, kind Kind, text string) {
	s.link(key, label, kind, text, "")
}

// link adds a fact that leads to a page. An empty text is left out.
func (s *Sheet) link(key, label string, kind Kind, text, link string) {
	if text != "" {
		s.Facts = append(s.Facts, Fact{key, label, kind, Cell{Text: text, Link: link}})
	}
}

func (s *Sheet) alert(tone Tone, text, link string) {
	s.Alerts = append(s.Alerts, Cell{Text: text, Link: link, Tone: tone})
}

func text(s string) Cell { return Cell{Text: s} }

func number[T ~int | ~int64](n T) Cell { return Cell{Text: strconv.FormatInt(int64(n), 10)} }

// at writes a time in UTC; the zero time is empty.
func at(t time.Time) Cell { return Cell{Text: instant(t)} }

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// named writes an ID that leads to its page; the zero ID is empty.
func named(path string, id bursar.ID) Cell {
	if id.IsZero() {
		return Cell{}
	}
	return Cell{Text: id.String(), Link: path + "/" + id.String()}
}

func yes(is bool) Cell {
	if is {
		return text("yes")
	}
	return text("no")
}
