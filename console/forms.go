package console

import (
	"slices"
	"strings"

	"github.com/bursar/bursar/oversight"
)

// form is one change that a page offers to a person who may make it: it leads to the page of the act.
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

// offered lists the acts on what a page shows, by its path without an ID.
var offered = map[string][]string{
	"/withdrawals":  {"withdrawal.approve", "withdrawal.reject", "withdrawal.cancel"},
	"/charges":      {"charge.resolve", "charge.refund", "charge.cancel"},
	"/deposits":     {"unattributed.assign", "unattributed.refund", "unattributed.keep", "unattributed.cancel"},
	"/unattributed": {"unattributed.assign", "unattributed.refund", "unattributed.keep", "unattributed.cancel"},
	"/webhooks":     {"webhook.redeliver"},
	"/accounts": {"account.freeze", "account.unfreeze", "webhook.test", "key.revoke",
		"limits.tighten", "limits.loosen"},
	"/balances": {"treasury.withdraw"},
	"/chains":   {"halt", "resume", "resume.all", "chain.rescan"},
	"/settings": {"limits.tighten", "limits.loosen"},
	"/":         {"alarm.close"},
}

// forms returns the changes that a page offers to anybody who looks at it. They lead to a page that says what will
// happen and has the rest of the form: nothing is done by one press on a page of facts.
func (c *Console) forms(v *visit, path string, s oversight.Sheet) (list []form) {
	place := path
	if !s.Object.IsZero() {
		place = strings.TrimSuffix(path, "/"+v.path("id"))
	}
	if place != path && place == "/deposits" && !s.Account.IsZero() {
		return nil // a customer's deposit is resolved already
	}
	for _, d := range c.deeds() {
		if !slices.Contains(offered[place], d.name) || v.person.May(d.verb, s.Account) != nil {
			continue
		}
		f := form{Action: "/do/" + d.name, Title: d.title, Button: d.title + " …", Danger: d.warning != ""}
		if !s.Object.IsZero() && !actsOnOtherObject[d.name] {
			f.Fields = []formField{{Name: "object", Value: s.Object.String()}}
		}
		if place == "/settings" {
			f.Fields = []formField{{Name: "object", Value: everyAccount}}
		}
		if place == "/charges" && !s.Object.IsZero() && actsOnOtherObject[d.name] {
			f.Fields = []formField{{Name: "charge", Value: s.Object.String()}}
		}
		list = append(list, f)
	}
	return list
}

// actsOnOtherObject are the acts whose object is another one than that of the page they are on.
var actsOnOtherObject = map[string]bool{"charge.resolve": true, "charge.refund": true, "key.revoke": true}
