package console

import "github.com/bursar/bursar/oversight"

// form is one change that a page of an object offers to a person who may make it. It is sent as a plain form.
type form struct {
	Action string // the path of its action, below /console
	Title  string
	Text   string // what it does
	Button string
	Danger bool
	Fields []formField
}

// formField is one field of a form: a choice where it has options, hidden where it has no label, else a text.
type formField struct {
	Name     string
	Label    string
	Value    string
	Hint     string
	Options  []string
	Required bool
}

// forms returns the changes that a page offers to whoever looks at it.
func (c *Console) forms(_ *visit, _ string, _ oversight.Sheet) []form { return nil }
