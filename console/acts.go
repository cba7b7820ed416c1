package console

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

// Acts are the services whose acts the console offers: the same functions that the commands call.
type Acts struct {
	Withdrawals    *withdrawal.Service
	Limits         *withdrawal.Limits
	Charges        *charge.Service
	Unattributed   *unattributed.Service
	Accounts       *account.Service
	TestDeliveries *webhook.TestDeliveries
	Proposals      *proposal.Service
	Approvals      *relay.Relay // nil: nobody approves here for the signer
	Wake           func()       // has events that are due delivered now; nil: within their usual time
	Rescan         Rescan       // nil: no blocks are searched from here
}

// deed is one act of a person: a form that says what will happen, and what does it. Its path is /do/NAME.
type deed struct {
	name     string
	verb     operator.Verb
	title    string
	does     string // what will happen, in words
	warning  string // what cannot be undone: the form asks to confirm that; empty: nothing
	button   string
	fields   []field // besides the object
	again    bool    // the same form again does it again: it changes nothing that is there already
	twin     string  // the command that does the same, before the object; empty: there is none
	proposed bool    // it is proposed, and others approve it
	nav      string
	whose    whose // nil: the act concerns the whole service
	do       func(v *visit, object string) (to string, err error)
}

// field is one field of a form.
type field struct {
	Name, Label, Hint string
	Optional          bool
	Options           []string // the only values; none: any text
	Value             string   // as it was sent, where the form is shown again
}

// The fields that forms share.
var (
	reasonField = field{Name: "reason", Label: "Reason", Hint: "It is recorded with your name."}
	amountField = field{Name: "amount", Label: "Amount", Hint: "In whole units, such as 0.5."}
)

// deeds lists every act.
func (c *Console) deeds() []deed {
	return joined(c.stops(), c.repeats(), c.settlements(), c.rescans(), c.limits(), c.proposed())
}

// actPages lists the forms of acts, and what was proposed.
func (c *Console) actPages() (pages []page) {
	for _, d := range c.deeds() {
		pages = append(pages, c.formOf(d))
	}
	return joined(pages, c.proposalPages(), c.approvalPages())
}

// actActions lists the acts.
func (c *Console) actActions() (actions []action) {
	for _, d := range c.deeds() {
		form := c.formOf(d)
		actions = append(actions, action{path: form.path, verb: d.verb, form: &form, do: func(v *visit) (string, error) {
			return c.carryOut(v, d)
		}})
	}
	return joined(actions, c.proposalActions(), c.approvalActions())
}

// deedForm is what the page of a form shows.
type deedForm struct {
	Does, Warning, Button string
	Object, Token         string
	Fields                []field
	Twin                  string
	Problem               string // why it was not done; empty: it was not tried
	Proposed              bool   // another person must approve it
}

// plainWord is an object that means nothing to a shell: a link may name any, and its command is there to be copied.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9:_-]*$`)

func (c *Console) formOf(d deed) page {
	return page{path: "/do/" + d.name, verb: d.verb, title: d.title, nav: d.nav, view: "deed",
		serve: func(v *visit) (any, error) {
			f := deedForm{
				Does:     d.does,
				Warning:  d.warning,
				Button:   d.button,
				Object:   v.form.Get("object"),
				Token:    cmp.Or(v.form.Get("token"), c.IDs.Token().String()),
				Fields:   slices.Clone(d.fields),
				Problem:  v.problem,
				Proposed: d.proposed,
			}
			for i, one := range f.Fields {
				f.Fields[i].Value = v.form.Get(one.Name)
			}
			f.Twin = d.command(f.Object)
			return f, nil
		}}
}

// command returns the command that does the same to an object; empty: there is none.
func (d deed) command(object string) string {
	scope, name, part := strings.Cut(object, ":")
	switch {
	case d.twin == "" || !plainWord.MatchString(object):
		return ""
	case d.twin == haltTwin && part:
		return "bursar " + scope + " halt --reason TEXT " + name
	case d.twin == haltTwin:
		return haltTwin
	case d.twin == limitTwin && scope == everyAccount:
		return limitTwin + " --all"
	case d.twin == limitTwin && object != "":
		return limitTwin + " --account " + object
	}
	return strings.TrimSpace(d.twin + " " + object)
}

// carryOut does what a form asks for, once for each token of a form.
func (c *Console) carryOut(v *visit, d deed) (string, error) {
	for _, one := range d.fields {
		value := v.form.Get(one.Name)
		if value == "" && !one.Optional {
			return "", bursar.RefuseField(bursar.CodeInvalidRequest, one.Name, "%s is missing", one.Label)
		}
		if len(value) > maxField || value != "" && one.Options != nil && !slices.Contains(one.Options, value) {
			return "", bursar.RefuseField(bursar.CodeInvalidRequest, one.Name, "%s cannot be this", one.Label)
		}
	}
	if d.warning != "" && v.form.Get("confirm") != "yes" {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "confirm", "confirm that this cannot be undone")
	}
	if _, err := bursar.ParseID(v.form.Get("token")); err != nil {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "token", "the form's token is missing: a UUID, new for "+
			"each act and the same when it is sent again")
	}
	object := v.form.Get("object")
	if err := c.reaches(v, d, object); err != nil {
		return "", err
	}
	to, err := d.do(v, object)
	if errors.Is(err, errTwice) {
		return "/", nil
	}
	if err != nil && !d.again {
		if twice, failed := c.twice(v); failed == nil && twice {
			return "/", nil // it was done by the first of two requests, and cannot be done again
		}
	}
	return to, refusalOf(err)
}

// maxField bounds what one field of a form may have, in bytes.
const maxField = 2000

// errTwice says that a form with the same token was carried out before.
var errTwice = errors.New("the act is done already")

// tokenLife is how long a form's token is remembered.
const tokenLife = 48 * time.Hour

// twice reports whether a form with the token of this one was carried out by the same person.
func (c *Console) twice(v *visit) (bool, error) {
	n := 0
	err := c.DB.View(v.ctx, func(tx *store.Tx) (err error) {
		n, err = times(v.ctx, tx, v)
		return err
	})
	return n > 0, err
}

func times(ctx context.Context, tx *store.Tx, v *visit) (int, error) {
	list, err := actsOf(ctx, tx, v)
	return len(list), err
}

// actsOf returns what the person did with the token of a form.
func actsOf(ctx context.Context, tx *store.Tx, v *visit) ([]store.Act, error) {
	list, err := tx.Acts().List(ctx, store.ActFilter{
		Actor: v.person.Name,
		Token: v.form.Get("token"),
		Since: tx.Now().Add(-tokenLife),
	}, store.Page{Limit: 100})
	return slices.DeleteFunc(list, func(a store.Act) bool { return a.Person != v.person.ID }), err
}

// record checks that the person may do something with an account, and records it. It is the last step of its
// transaction: anybody who sends the same form twice waits here for the first one, and then does nothing.
func (c *Console) record(
	ctx context.Context, tx *store.Tx, v *visit, d operator.Verb, account bursar.ID, object, was, became string,
) error {
	if err := v.person.May(d, account); err != nil {
		return err
	}
	a := v.act(d, object)
	a.Before, a.After, a.Token = was, became, v.form.Get("token")
	if err := operator.Record(ctx, tx, a); err != nil {
		return err
	}
	n, err := times(ctx, tx, v)
	if err == nil && n > 1 {
		err = errTwice
	}
	return err
}

// refusalOf makes an answer of the refusals of the domain that are no *bursar.Error.
func refusalOf(err error) error {
	for _, known := range []error{withdrawal.ErrTooLate, unattributed.ErrNotUnattributed,
		unattributed.ErrNotFinal, unattributed.ErrTarget, unattributed.ErrDestination, unattributed.ErrTooLate,
		unattributed.ErrNote, store.ErrRecovering, store.ErrResolved, store.ErrOpen, store.ErrTooMany,
		proposal.ErrOwn, proposal.ErrEnded, proposal.ErrOther, proposal.ErrReason, proposal.ErrUnknownVerb,
		proposal.ErrEvidence, relay.ErrRefused} {
		if errors.Is(err, known) {
			return bursar.Refuse(bursar.CodeInvalidRequest, "%s", err.Error())
		}
	}
	if denied, is := errors.AsType[*proposal.Denied](err); is {
		return &operator.Missing{Verb: operator.Verb(denied.Verb)}
	}
	return err
}

// idOf reads an ID; bursar.ErrNotFound for anything else.
func idOf(text string) (bursar.ID, error) {
	id, err := bursar.ParseID(text)
	if err != nil {
		return id, bursar.ErrNotFound
	}
	return id, nil
}
