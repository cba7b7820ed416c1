package console

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
)

// csvFile makes a file of a heading and rows. What a spreadsheet would take for a formula begins with an apostrophe.
func csvFile(name, heading string, rows [][]string) *file {
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(strings.Fields(heading))
	for _, row := range rows {
		_ = w.Write(inert(row))
	}
	w.Flush() // a strings.Builder takes everything
	return &file{name: name, kind: "text/csv; charset=utf-8", body: []byte(text.String())}
}

func inert(row []string) []string {
	for i := range row {
		row[i] = oversight.Inert(row[i])
	}
	return row
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

// proposalsFile exports all that the filters select, from the newest to the oldest, as it is read.
func (c *Console) proposalsFile(v *visit) (any, error) {
	filters, err := c.proposalFilters(v)
	if err != nil {
		return nil, err
	}
	v.file = &file{name: "proposals.csv", kind: "text/csv; charset=utf-8", stream: func(to io.Writer) error {
		w := csv.NewWriter(to)
		_ = w.Write(strings.Fields("id created verb object account amount currency destination detail reason person " +
			"need status outcome expires hash"))
		var last store.Proposal
		for {
			found, err := c.olderProposals(v, last)
			for _, p := range found {
				if last = p; filters.has(p) {
					_ = w.Write(inert(proposalRow(c.proposalOf(v, p, nil)))) // Flush and Error say what failed
				}
			}
			if w.Flush(); err != nil || w.Error() != nil || len(found) < mostProposals {
				return errors.Join(err, w.Error())
			}
		}
	}}
	return nil, nil
}

// olderProposals reads the next ones that the visitor may see, in a transaction of their own: a slow client keeps none
// open.
func (c *Console) olderProposals(v *visit, last store.Proposal) (found []store.Proposal, err error) {
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		found, err = tx.Proposals().Page(v.ctx, v.person.Accounts, last, mostProposals)
		return err
	})
	return found, err
}

func proposalRow(p proposalView) []string {
	return []string{p.ID, p.Created, p.Verb, p.Object, p.Account, p.Amount, p.Currency, p.Destination, p.Detail, p.Reason,
		p.Person, strconv.Itoa(p.Need), p.Status, p.Outcome, p.Expires, p.Hash}
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
