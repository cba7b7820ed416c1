package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Bounds of the list: how many proposals a page shows unless it is said and at most, and how many it looks at.
const (
	usualProposals  = 50
	mostProposals   = 500
	proposalsLooked = 20_000
)

// proposalList is a page of the list. As JSON it is its proposals.
type proposalList struct {
	Proposals []proposalView
	Filters   proposalFilters
	Query     template.URL // of the filters, for links
	Next      template.URL // the query of the next page; empty: there is none
}

// MarshalJSON implements json.Marshaler.
func (l proposalList) MarshalJSON() ([]byte, error) { return json.Marshal(l.Proposals) }

// proposalFilters are the filters as they were sent, with what they choose from.
type proposalFilters struct {
	Status, Verb, Currency, Account, Person, Since, Until string

	Statuses, Verbs, Currencies []string

	account      bursar.ID
	since, until time.Time
}

// proposalFilters reads the filters: days are UTC, and the last one is included.
func (c *Console) proposalFilters(v *visit) (f proposalFilters, err error) {
	f = proposalFilters{Status: v.form.Get("status"), Verb: v.form.Get("verb"), Currency: v.form.Get("currency"),
		Account: v.form.Get("account"), Person: v.form.Get("person"), Since: v.form.Get("since"),
		Until: v.form.Get("until"), Statuses: []string{"", string(store.ProposalPending), string(store.ProposalApproved),
			string(store.ProposalExecuted), string(store.ProposalRejected), string(store.ProposalExpired),
			string(store.ProposalVoid)}, Verbs: []string{""}, Currencies: []string{""}}
	for _, d := range c.proposed() {
		f.Verbs = append(f.Verbs, d.name)
	}
	for _, currency := range c.Registry.All() {
		f.Currencies = append(f.Currencies, string(currency.Code))
	}
	for _, one := range []struct {
		name, value string
		of          []string
	}{{"status", f.Status, f.Statuses}, {"verb", f.Verb, f.Verbs}, {"currency", f.Currency, f.Currencies}} {
		if !slices.Contains(one.of, one.value) {
			return f, bursar.RefuseField(bursar.CodeInvalidRequest, one.name, "%s must be one of %v", one.name, one.of[1:])
		}
	}
	if f.Account != "" {
		if f.account, err = bursar.ParseID(f.Account); err != nil {
			return f, bursar.RefuseField(bursar.CodeInvalidRequest, "account", "account must be an ID")
		}
	}
	days, err := filterOf(v)
	f.since, f.until = days.Since, days.Until
	return f, err
}

func (f proposalFilters) has(p store.Proposal) bool {
	return (f.Status == "" || string(p.Status) == f.Status) && (f.Verb == "" || p.Verb == f.Verb) &&
		(f.Currency == "" || string(p.Currency) == f.Currency) && (f.Account == "" || p.AccountID == f.account) &&
		(f.Person == "" || p.Person == f.Person) && !p.CreatedAt.Before(f.since) &&
		(f.until.IsZero() || p.CreatedAt.Before(f.until))
}

// listProposals returns a page of the proposals that the visitor may see and the filters select, newest first. It looks
// at a bounded number of them.
func (c *Console) listProposals(v *visit) (any, error) { return c.proposalPageOf(v, usualProposals) }

func (c *Console) proposalPageOf(v *visit, usual int64) (l proposalList, err error) {
	l.Proposals = []proposalView{}
	if l.Filters, err = c.proposalFilters(v); err != nil {
		return l, err
	}
	limit, err := v.number("limit", 1, mostProposals, usual)
	if err != nil {
		return l, err
	}
	var last store.Proposal
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		l.Proposals = l.Proposals[:0]
		if last, err = firstBefore(v, tx); err != nil {
			return err
		}
		more := true
		for looked := 0; more && looked < proposalsLooked; looked += mostProposals {
			found, err := tx.Proposals().Page(v.ctx, v.person.Accounts, last, mostProposals)
			if err != nil {
				return err
			}
			more = len(found) == mostProposals
			for _, p := range found {
				if last = p; !l.Filters.has(p) {
					continue
				}
				if l.Proposals = append(l.Proposals, c.proposalOf(v, p, nil)); len(l.Proposals) == int(limit) {
					more = more || p.ID != found[len(found)-1].ID
					break
				}
			}
			if len(l.Proposals) == int(limit) {
				break
			}
		}
		if !more {
			last = store.Proposal{}
		}
		return nil
	})
	query := maps.Clone(v.form)
	query.Del("before")
	l.Query = with(query)
	if !last.ID.IsZero() {
		l.Next = with(query, "before", last.ID.String())
	}
	return l, err
}

// firstBefore returns the proposal behind which a page begins; the zero one at the newest. One that the visitor may not
// see is answered like one that does not exist.
func firstBefore(v *visit, tx *store.Tx) (p store.Proposal, err error) {
	text := v.form.Get("before")
	if text == "" {
		return p, nil
	}
	id, err := bursar.ParseID(text)
	if err == nil {
		if p, err = tx.Proposals().Get(v.ctx, id); err == nil && !v.person.Sees(p.AccountID) {
			p, err = store.Proposal{}, store.ErrNotFound
		}
	}
	if errors.Is(err, store.ErrNotFound) || err != nil && id.IsZero() {
		return p, bursar.RefuseField(bursar.CodeInvalidRequest, "before", "%s",
			fmt.Sprintf("before is the ID of a proposal, not %.60q", text))
	}
	return p, err
}
