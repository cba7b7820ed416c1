package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

type peoplePage struct {
	People []operator.Person
	May    bool // the visitor may revoke
}

// people shows everybody. A person comes and gets roles on the host alone.
func (c *Console) people(v *visit) (any, error) {
	list, err := c.People.List(v.ctx)
	return peoplePage{list, v.person.May(operator.VerbPeople, bursar.ID{}) == nil}, err
}

// revokePerson ends somebody's access.
func (c *Console) revokePerson(v *visit) (string, error) {
	if err := v.person.May(operator.VerbPeople, bursar.ID{}); err != nil {
		return "", err
	}
	if strings.TrimSpace(v.form.Get("reason")) == "" {
		return "", &bursar.Error{Code: bursar.CodeInvalidRequest, Message: "give a reason"}
	}
	return "/people", c.People.Revoke(v.ctx, v.act(operator.VerbPeople, ""), v.form.Get("name"))
}

type mePage struct {
	Person   operator.Person
	Session  operator.Session
	Sessions []operator.Session
}

// me shows a visitor's own rights and sessions.
func (c *Console) me(v *visit) (any, error) {
	list, err := c.People.Sessions(v.ctx, v.person.ID)
	return mePage{v.person, v.session, list}, err
}

// endSession ends a session of the visitor.
func (c *Console) endSession(v *visit) (string, error) {
	id, err := bursar.ParseID(v.form.Get("session"))
	if err != nil {
		return "", bursar.ErrNotFound
	}
	return "/me", c.People.EndSession(v.ctx, v.act("", ""), v.person.ID, id)
}

// signOut ends the visitor's session.
func (c *Console) signOut(v *visit) (string, error) {
	return "/sign-in", c.People.EndSession(v.ctx, v.act("", ""), v.person.ID, v.session.ID)
}

// actsShown is how many acts a page shows, and actsExported how many a file holds.
const (
	actsShown    = 50
	actsExported = 10_000
)

type auditPage struct {
	Filter store.ActFilter
	Since  string
	Until  string
	Acts   []store.Act
	Next   int64        // where the next page begins; 0: this is the last
	Query  template.URL // the filters, for the links
}

// audit shows the log of acts, newest first.
func (c *Console) audit(v *visit) (any, error) {
	if err := v.person.May(operator.VerbAudit, bursar.ID{}); err != nil {
		return nil, err
	}
	p := auditPage{Since: v.form.Get("since"), Until: v.form.Get("until")}
	page := store.Page{Limit: actsShown}
	var err error
	if p.Filter, err = filterOf(v); err != nil {
		return nil, err
	}
	page.Before, _ = strconv.ParseInt(v.form.Get("before"), 10, 64) // anything else is the first page
	err = c.DB.View(v.ctx, func(tx *store.Tx) (err error) {
		p.Acts, err = tx.Acts().List(v.ctx, p.Filter, page)
		return err
	})
	if len(p.Acts) == actsShown {
		p.Next = p.Acts[actsShown-1].Number
	}
	v.form.Del("before")
	p.Query = with(v.form)
	return p, err
}

// filterOf reads the filters of the page: days are UTC, and the last one is included.
func filterOf(v *visit) (f store.ActFilter, err error) {
	f = store.ActFilter{Actor: v.form.Get("actor"), Verb: v.form.Get("verb"), Object: v.form.Get("object"),
		Request: v.form.Get("request")}
	for name, to := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		text := v.form.Get(name)
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.DateOnly, text); err != nil {
			return f, &bursar.Error{Code: bursar.CodeInvalidRequest,
				Message: fmt.Sprintf("%s is %.20q, want a day such as 2026-11-24", name, text)}
		}
	}
	if !f.Until.IsZero() {
		f.Until = f.Until.AddDate(0, 0, 1)
	}
	return f, nil
}

// auditFile exports what the page shows, newest first, at most 10000 rows.
func (c *Console) auditFile(v *visit) (any, error) {
	if err := v.person.May(operator.VerbAudit, bursar.ID{}); err != nil {
		return nil, err
	}
	filter, err := filterOf(v)
	if err != nil {
		return nil, err
	}
	var list []store.Act
	err = c.DB.View(v.ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Acts().List(v.ctx, filter, store.Page{Limit: actsExported})
		return err
	})
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(list))
	for i, a := range list {
		rows[i] = []string{strconv.FormatInt(a.Number, 10), a.At.Format(time.RFC3339Nano), a.Actor, a.Person.String(),
			a.Session.String(), a.Address, a.Verb, a.Object, a.Was, a.Became, a.Reason, a.Request, a.Token, a.Evidence,
			fmt.Sprintf("%x", a.Hash)}
	}
	v.file = csvFile("acts.csv", "number at actor person session address verb object before after reason request "+
		"token evidence hash", rows)
	return nil, nil
}
