package console

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/webhook"
)

// fixture is a console with the acts of a service, whose account has withdrawals that wait for approval.
type fixture struct {
	*testing.T
	*bursartest.OneChain
	console *Console
	people  map[bursar.ID]operator.Person
	here    operator.Person // who sends requests
}

// everyRole is of somebody who may do everything.
var everyRole = operator.Roles()

func newFixture(t *testing.T, db *store.DB) *fixture {
	o := &fixture{T: t, people: map[bursar.ID]operator.Person{},
		OneChain: bursartest.NewOneChain(t, db, sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})}
	o.Currency.ApprovalAbove = bursar.Units(1000)
	o.Reconfigure()
	for i, name := range []string{"Ann", "Bob"} {
		id := bursar.ID{0: 7, 15: byte(i)}
		o.people[id] = operator.Person{ID: id, Name: name, Roles: everyRole}
	}
	o.here = o.people[bursar.ID{0: 7}]
	o.console = opened(t, db)
	o.console.Registry = o.Registry
	o.console.who = func(*http.Request) (operator.Person, operator.Session, error) {
		return o.here, operator.Session{ID: bursar.ID{8}}, nil
	}
	acts := Acts{
		Withdrawals:    o.Withdrawals,
		Accounts:       account.NewService(db, o.IDs),
		TestDeliveries: &webhook.TestDeliveries{DB: db, IDs: o.IDs, Receivers: netpolicy.Receivers{}},
		Proposals: &proposal.Service{DB: db, IDs: o.IDs, Log: o.console.Log,
			Kinds: map[string]proposal.Kind{"resume.all": {Propose: "chain.resume", Approve: "chain.resume",
				Check: func(_ context.Context, p store.Proposal) (store.Proposal, error) {
					p.Object = "all"
					return p, nil
				},
				Execute: func(ctx context.Context, p store.Proposal, done proposal.Done) error {
					return db.Do(ctx, func(tx *store.Tx) error {
						if _, err := tx.Halts().Lift(ctx, store.HaltAll, store.HaltByOperator, ""); err != nil {
							return err
						}
						return done(ctx, tx, "ended")
					})
				}}}},
	}
	o.console.Acts = acts
	Evaluate(acts.Proposals, o.console.People, nil)
	o.Do(func(tx *store.Tx) error {
		for _, p := range o.people {
			var roles []string
			for _, r := range p.Roles {
				roles = append(roles, string(r))
			}
			key := keyOf(p.ID)
			err := tx.People().Insert(context.Background(), store.Person{ID: p.ID, Name: p.Name, Roles: roles,
				CreatedAt: tx.Now()})
			if err == nil {
				err = tx.People().AddPasskey(context.Background(), key.stored(p.ID))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return o
}

// waiting is a withdrawal that waits for approval.
func (o *fixture) waiting() bursar.Withdrawal {
	o.T.Helper()
	o.Credit(o.OneChain.Accounts[0], "COIN", 1_000_000)
	w, err := o.withdraw(o.OneChain.Accounts[0])
	o.Must(err)
	return w
}

func (o *fixture) token() string { return o.IDs.Next().String() }

// sends has the person send the form of an act, with a token of its own unless it has one.
func (o *fixture) sends(name string, fields ...string) *httptest.ResponseRecorder {
	o.T.Helper()
	form := url.Values{"token": {o.token()}, "reason": {"because"}, "confirm": {"yes"}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return posted(o.T, o.console, base+"/do/"+name, form.Encode())
}

func (o *fixture) status(id bursar.ID) (status bursar.WithdrawalStatus) {
	o.T.Helper()
	o.View(func(tx *store.Tx) error {
		found, err := tx.Withdrawals().Recorded(context.Background(), []bursar.ID{id})
		status = found[id].Status
		return err
	})
	return status
}

// acts returns what was recorded, newest first.
func (o *fixture) acts() (list []store.Act) {
	o.T.Helper()
	o.View(func(tx *store.Tx) (err error) {
		list, err = tx.Acts().List(context.Background(), store.ActFilter{}, store.Page{Limit: 100})
		return err
	})
	return list
}

func (o *fixture) answers(what string, w *httptest.ResponseRecorder, status int, texts ...string) {
	o.T.Helper()
	if w.Code != status {
		o.T.Errorf("%s: answered %d, want %d: %s", what, w.Code, status, w.Body)
	}
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			o.T.Errorf("%s: the answer lacks %q: %s", what, text, w.Body)
		}
	}
}

func eachFixture(t *testing.T, test func(o *fixture)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(newFixture(t, db)) })
}
