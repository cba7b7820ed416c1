package console

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/oversight"
)

// csvFile makes a file of a heading and rows. What a spreadsheet would take for a formula begins with an apostrophe.
func csvFile(name, heading string, rows [][]string) *file {
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(strings.Fields(heading))
	for _, row := range rows {
		for i := range row {
			row[i] = oversight.Inert(row[i])
		}
		_ = w.Write(row)
	}
	w.Flush() // a strings.Builder takes everything
	return &file{name, "text/csv; charset=utf-8", []byte(text.String())}
}

// exportPages lists the files of what the pages of people, of proposals and of approvals show; those of sheets export
// themselves.
func (c *Console) exportPages() []page {
	return []page{
		{path: "/people.csv", verb: operator.VerbPeople, title: "People", nav: "People", serve: c.peopleFile},
		{path: "/proposals.csv", verb: operator.VerbRead, title: "Proposals", nav: "Proposals", serve: c.proposalsFile},
		{path: "/approvals.csv", verb: operator.VerbRead, title: "Approvals", nav: "Approvals", serve: c.approvalsFile},
	}
}

// peopleFile exports everybody with their rights, such as for a review of access.
func (c *Console) peopleFile(v *visit) (any, error) {
	list, err := c.People.List(v.ctx)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, p := range list {
		rows = append(rows, []string{p.ID.String(), p.Name, words(p.Roles), words(p.Accounts), words(p.NextRoles),
			words(p.NextAccounts), stamped(p.ChangesAt), stamped(p.CreatedAt), stamped(p.RevokedAt)})
	}
	v.file = csvFile("people.csv", "id name roles accounts nextRoles nextAccounts changesAt createdAt revokedAt", rows)
	return nil, nil
}

// proposalsFile exports what the list shows.
func (c *Console) proposalsFile(v *visit) (any, error) {
	list, err := c.proposalPageOf(v, mostProposals)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, p := range list.Proposals {
		rows = append(rows, []string{p.ID, p.Created, p.Verb, p.Object, p.Account, p.Amount, p.Currency, p.Destination,
			p.Detail, p.Reason, p.Person, strconv.Itoa(p.Need), p.Status, p.Outcome, p.Expires, p.Hash})
	}
	v.file = csvFile("proposals.csv", "id created verb object account amount currency destination detail reason person "+
		"need status outcome expires hash", rows)
	return nil, nil
}

// approvalsFile exports what waits for approvals that the signer verifies, as the list shows it.
func (c *Console) approvalsFile(v *visit) (any, error) {
	found, err := c.listApprovals(v)
	if err != nil {
		return nil, err
	}
	list, _ := found.(approvalsView)
	var rows [][]string
	for _, o := range list.Orders {
		rows = append(rows, []string{o.ID, o.Of, o.Created, o.Until, o.Account, o.Chain, o.Asset, o.Amount, o.Units, o.To,
			o.Tag, o.Requester, o.Status, strconv.Itoa(o.Approvals), o.Reason})
	}
	v.file = csvFile("approvals.csv", "order of created until account chain asset amount units to tag requester status "+
		"approvals reason", rows)
	return nil, nil
}

// words writes values with a space between them.
func words[T any](list []T) string { return strings.Trim(fmt.Sprint(list), "[]") }

// stamped writes a time in UTC; empty for none.
func stamped(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
