package console

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// govern has a signer's policy noted in which ann and bob approve with the passkeys that the fixture's people have.
func (o *fixture) govern(change func(p *roster.Policy)) roster.Policy {
	o.T.Helper()
	now := o.DB.Now().UTC().Truncate(time.Second)
	site, err := passkey.ParseOrigin("http://localhost:8081")
	o.Must(err)
	p := roster.Policy{Instance: "K7QJ3ZL2M5XW4RT6P8YN9VBHCD", Network: "regtest", Version: 1, Created: now,
		NotBefore: now, Authors: 1, Destinations: 1, Reference: "EUR", Site: site,
		Assets: []roster.Asset{{Name: "COIN", Chain: bursar.Bitcoin, Decimals: 2, Price: bursar.Units(1)}},
		Rules: []roster.Rule{{ID: "seen", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 2,
			Role: roster.RoleApprover, Keys: []roster.KeyKind{roster.KeyPasskey}}}}
	for i, name := range []string{"ann", "bob"} {
		key, err := passkey.NewKey(keyOf(bursar.ID{0: 7, 15: byte(i)}).private.Public())
		o.Must(err)
		p.People = append(p.People, roster.Person{Name: name, Until: now.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Passkeys: []passkey.Key{key}})
	}
	if change != nil {
		change(&p)
	}
	o.console.Acts.Approvals = &relay.Relay{DB: o.DB, Registry: o.Registry}
	o.Do(func(tx *store.Tx) error {
		return tx.Settings().NotePolicy(context.Background(), store.PolicyText{Instance: p.Instance, Text: p.Text()})
	})
	return p
}

// asks reads the page of an order's approval.
func (o *fixture) asks(id bursar.ID) (d orderView) {
	o.T.Helper()
	w := got(o.T, o.console, apiBase+"/approvals/"+id.String())
	o.answers("the page", w, http.StatusOK)
	o.Must(json.Unmarshal(w.Body.Bytes(), &d))
	return d
}

// said sends what a person's passkey signs.
func (o *fixture) said(id bursar.ID, text, evidence string) (status int, answer string) {
	o.T.Helper()
	w := posted(o.T, o.console, base+"/approvals/"+id.String()+"/sign",
		url.Values{"text": {text}, "evidence": {evidence}}.Encode())
	return w.Code, w.Body.String()
}

// What the page has a passkey sign is an approval that the signer's policy counts, of that person alone, and a no is a
// no.
func TestAPageHasPasskeysApproveForTheSigner(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		policy, w := o.govern(nil), o.waiting()
		list := got(o.T, o.console, base+"/approvals")
		key := policy.People[0].Passkeys[0]
		o.answers("the list", list, http.StatusOK, w.ID.String(), strings.ReplaceAll(key.String(), "+", "&#43;"),
			strings.ReplaceAll(key.Fingerprint(), "+", "&#43;"), "the service could lie")
		o.answers("the page", got(o.T, o.console, base+"/approvals/"+w.ID.String()), http.StatusOK,
			"A passkey shows nothing of what it signs", w.Address.Base, `data-passkey="sign"`)
		for i := range 2 {
			o.here = o.people[bursar.ID{0: 7, 15: byte(i)}]
			shown := o.asks(w.ID)
			if len(shown.Says) != 2 || len(shown.Votes) != i {
				o.T.Fatalf("the page shows %+v, want a yes and a no, and %d approvals", shown, i)
			}
			yes := shown.Says[0]
			evidence := keyOf(o.here.ID).signs(yes.Challenge, nil)
			if status, text := o.said(w.ID, yes.Text, evidence); status != http.StatusSeeOther {
				o.T.Fatalf("answered %d: %s, want 303", status, text)
			}
		}
		waiting, err := o.console.Acts.Approvals.Waiting(context.Background())
		o.Must(err)
		order, err := approval.ParseOrder(waiting.Orders[0].Text)
		o.Must(err)
		var signed []roster.Signed
		for _, one := range waiting.Orders[0].Approvals {
			signed = append(signed, roster.Signed{Text: one.Text, Signature: one.Signature})
		}
		decisions, problems := policy.Approvals(order, signed, o.DB.Now())
		if said, _ := roster.Tally(decisions); len(problems) > 0 || len(said[roster.RoleApprover]) != 2 {
			o.T.Errorf("counted are %v, %v, want ann and bob", decisions, problems)
		}
		acts := o.acts()
		if len(acts) != 2 || acts[0].Actor != "Bob" || acts[0].Became != "bob says yes to the signer" ||
			!passkey.Is(acts[0].Evidence) {
			o.T.Errorf("recorded are %+v, want both with what they signed", acts)
		}
		no := o.asks(w.ID).Says[1]
		if status, text := o.said(w.ID, no.Text, keyOf(o.here.ID).signs(no.Challenge, nil)); status != http.StatusSeeOther {
			o.T.Errorf("a no is answered %d: %s, want 303", status, text)
		}
		if got := o.status(w.ID); got != bursar.WithdrawalPendingApproval {
			o.T.Errorf("the withdrawal is %s, want what the service's own gate says", got)
		}
	})
}

// What cannot count is refused beside the page, and nothing is kept.
func TestAnApprovalThatNoSignerWouldCount(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		o.govern(nil)
		w, other := o.waiting(), o.waiting()
		yes, elsewhere := o.asks(w.ID).Says[0], o.asks(other.ID).Says[0]
		mine := keyOf(o.here.ID)
		changed := strings.Replace(yes.Text, "decision: yes", "decision: no", 1)
		for what, c := range map[string]struct{ text, evidence, want string }{
			"no text":         {"", mine.signs(yes.Challenge, nil), "not an approval of this payment"},
			"another order's": {elsewhere.Text, mine.signs(elsewhere.Challenge, nil), "not an approval of this payment"},
			"a changed text":  {changed, mine.signs(yes.Challenge, nil), "its challenge is not of this text"},
			"nothing":         {yes.Text, "", "not the assertion of a passkey"},
			"no assertion":    {yes.Text, "{}", "not the assertion of a passkey"},
			"an outsider's passkey": {yes.Text, keyOf(bursar.ID{1}).signs(yes.Challenge, nil),
				"no passkey of the policy"},
			"one that is spoilt": {yes.Text, mine.signs(yes.Challenge, func(t *touch) { t.spoilt = true }),
				"no passkey of the policy"},
			"nobody was verified": {yes.Text, mine.signs(yes.Challenge, func(t *touch) { t.flags = present }),
				"did not verify its owner"},
			"made at another site": {yes.Text, mine.signs(yes.Challenge, func(t *touch) { t.origin = "http://localhost:1" }),
				"another site"},
			"over another approval": {yes.Text, mine.signs(elsewhere.Challenge, nil), "its challenge is not of this text"},
		} {
			status, answer := o.said(w.ID, c.text, c.evidence)
			if status != http.StatusUnprocessableEntity || !strings.Contains(answer, c.want) {
				o.T.Errorf("%s: answered %d, want 422 with %q: %s", what, status, c.want, answer)
			}
		}
		old, err := approval.ParseApproval(yes.Text)
		o.Must(err)
		old.Created = old.Created.Add(-approvalAge - time.Minute)
		challenge := passkey.Challenge(approval.NamespaceApproval, old.Text())
		status, answer := o.said(w.ID, old.Text(),
			mine.signs(base64.RawURLEncoding.EncodeToString(challenge[:]), nil))
		if status != http.StatusUnprocessableEntity || !strings.Contains(answer, "load it again") {
			o.T.Errorf("of an old page: answered %d, want 422: %s", status, answer)
		}
		fresh := o.asks(w.ID).Says[0]
		o.here.Roles = []operator.Role{operator.Support}
		if status, _ := o.said(w.ID, fresh.Text, mine.signs(fresh.Challenge, nil)); status != http.StatusForbidden {
			o.T.Errorf("by support: answered %d, want 403", status)
		}
		if says := o.asks(w.ID).Says; len(says) != 0 {
			o.T.Errorf("support is offered %v, want nothing", says)
		}
		o.here.Roles, o.here.Accounts = everyRole, []bursar.ID{o.OneChain.Accounts[1]}
		if status, _ := o.said(w.ID, fresh.Text, mine.signs(fresh.Challenge, nil)); status != http.StatusNotFound {
			o.T.Errorf("of an account that they may not see: answered %d, want 404", status)
		}
		if len(o.acts()) != 0 {
			o.T.Errorf("recorded are %v, want nothing", o.acts())
		}
	})
}

// The attack: a client gives its order the ID of another client's, so that the page of one stands in place of the
// other's.
func TestOrdersOfTwoAccountsWithOneID(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		policy := o.govern(nil)
		for _, account := range o.OneChain.Accounts[:2] {
			o.Credit(account, "COIN", 1_000_000)
			w, err := o.withdraw(account)
			o.Must(err)
			order := approval.Order{Instance: policy.Instance, Account: account, ID: bursar.ID{1, 2, 3}, Chain: bursar.Bitcoin,
				To: w.Address, Units: w.Amount, Created: policy.Created, Expires: policy.Created.Add(time.Hour)}
			o.Do(func(tx *store.Tx) error {
				return tx.SignedOrders().Insert(context.Background(), bursar.SignedOrder{WithdrawalID: w.ID, AccountID: account,
					OrderID: order.ID, Text: order.Text(), Signature: "s", ExpiresAt: order.Expires})
			})
			shown := o.asks(w.ID)
			if shown.Account != account.String() || len(shown.Says) != 2 {
				o.T.Fatalf("the page of a withdrawal of %s shows %+v, want its own order", account, shown)
			}
			yes := shown.Says[0]
			status, text := o.said(w.ID, yes.Text, keyOf(o.here.ID).signs(yes.Challenge, nil))
			if status != http.StatusSeeOther {
				o.T.Errorf("answered %d: %s, want 303", status, text)
			}
			o.answers("the list", got(o.T, o.console, base+"/approvals"), http.StatusOK, "/console/approvals/"+w.ID.String())
		}
	})
}

// Where no passkey counts the page says why, and offers none.
func TestWhereNoPasskeyCounts(t *testing.T) {
	eachFixture(t, func(o *fixture) {
		for why, change := range map[string]func(p *roster.Policy){
			"the policy has no passkeys": func(p *roster.Policy) { p.Site = passkey.Origin{} },
			"and this is http://localhost:8081": func(p *roster.Policy) {
				p.Site, _ = passkey.ParseOrigin("https://console.example.com")
			},
			"no rule of the policy counts passkeys": func(p *roster.Policy) { p.Rules[0].Keys = nil },
		} {
			o.govern(change)
			w := o.waiting()
			if d := o.asks(w.ID); !strings.Contains(d.Why, why) || len(d.Says) != 0 {
				o.T.Errorf("the page says %q and offers %v, want %q and nothing", d.Why, d.Says, why)
			}
			o.answers("the list", got(o.T, o.console, base+"/approvals"), http.StatusOK, "Nobody approves with a passkey here")
		}
	})
}
