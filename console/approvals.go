package console

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// How long an approval counts, and how long its page may be open before a passkey signs it: the signer compares the
// counters of approvals that were made ten minutes apart.
const (
	approvalLife = 8 * time.Hour
	approvalAge  = 5 * time.Minute
)

// approvalsView is what waits for approvals that the signer verifies.
type approvalsView struct {
	Policy string // its version; empty: the signer has none
	Origin string // where its passkeys sign
	Why    string // why nobody approves with a passkey here; empty: they may
	Orders []orderView
	Keys   []registeredView

	Chain, Account, Asset string // the filters as they were sent
	Chains, Assets        []string
	Query                 template.URL // of the filters, for links
}

// registeredView is a passkey of the reader, as this service recorded it.
type registeredView struct {
	Line, Fingerprint string
	Person            string // whose it is in the policy; empty: no person's
}

// orderView is one payment that waits.
type orderView struct {
	ID, Account, Chain, Asset  string
	Of                         string // the withdrawal or the refund, by which its page is found
	Amount                     string // in whole units by the policy's decimals; empty: it has no such asset
	Units, To, Tag             string
	Requester, Created, Until  string
	Reason, TxID, Status, Text string
	Approvals                  int // how many were handed in, whether they count or not
	Votes                      []saidView
	Says                       []sayView
	Why, Problem               string
}

// saidView is an approval that was given.
type saidView struct{ Person, Decision, With, At, Until string }

// sayView is an approval that may be given.
type sayView struct{ Decision, Role, Text, Challenge string }

func (c *Console) approvalPages() []page {
	return []page{
		{path: "/approvals", verb: operator.VerbRead, title: "Approvals for the signer", nav: "Approvals",
			serve: c.listApprovals},
		c.approvalPage(),
	}
}

func (c *Console) approvalPage() page {
	return page{path: "/approvals/{id}", verb: operator.VerbRead, title: "Approval for the signer", nav: "Approvals",
		serve: c.oneApproval}
}

func (c *Console) approvalActions() []action {
	form := c.approvalPage()
	return []action{{path: "/approvals/{id}/sign", verb: operator.VerbWithdrawalApprove, form: &form, do: c.takeApproval}}
}

// waiting returns what waits for approvals that the person may see, with the policy; false: the signer has none.
func (c *Console) waiting(v *visit) (p roster.Policy, list []relay.Order, has bool, err error) {
	if c.Acts.Approvals == nil {
		return p, nil, false, nil
	}
	w, err := c.Acts.Approvals.Waiting(v.ctx)
	if err != nil || w.Policy == "" {
		return p, nil, false, err
	}
	if p, err = roster.Read(w.Policy); err != nil {
		return p, nil, false, err
	}
	for _, one := range w.Orders {
		o, err := approval.ParseOrder(one.Text)
		if err == nil && v.person.Sees(o.Account) {
			list = append(list, one)
		}
	}
	return p, list, true, nil
}

func (c *Console) listApprovals(v *visit) (any, error) {
	p, list, has, err := c.waiting(v)
	if err != nil || !has {
		return approvalsView{Orders: []orderView{}}, err
	}
	d := approvalsView{
		Policy: fmt.Sprintf("%d, %s", p.Version, p.Hash()),
		Origin: p.Site.String(),
		Why:    c.cannotSign(p),
		Orders: []orderView{},
	}
	for _, one := range list {
		d.Orders = append(d.Orders, c.orderOf(p, one))
	}
	d.narrow(v)
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		keys, err := c.People.PublicKeys(v.ctx, tx, v.person.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		for _, key := range keys {
			d.Keys = append(d.Keys, registeredView{key.String(), key.Fingerprint(), personWith(p, key)})
		}
		return err
	})
	return d, err
}

// narrow leaves the orders that the filters select, which choose among those that wait.
func (d *approvalsView) narrow(v *visit) {
	d.Chain, d.Account, d.Asset = v.form.Get("chain"), v.form.Get("account"), v.form.Get("asset")
	d.Chains, d.Assets, d.Query = []string{""}, []string{""}, with(v.form)
	for _, o := range d.Orders {
		d.Chains, d.Assets = append(d.Chains, o.Chain), append(d.Assets, o.Asset)
	}
	for _, list := range []*[]string{&d.Chains, &d.Assets} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	d.Orders = slices.DeleteFunc(d.Orders, func(o orderView) bool {
		return d.Chain != "" && o.Chain != d.Chain || d.Asset != "" && o.Asset != d.Asset ||
			d.Account != "" && !strings.EqualFold(o.Account, d.Account)
	})
}

func (c *Console) oneApproval(v *visit) (any, error) {
	p, one, err := c.seenOrder(v)
	if err != nil {
		return nil, err
	}
	d := c.orderOf(p, one)
	d.Problem = v.problem
	o, err := approval.ParseOrder(one.Text)
	for _, s := range one.Approvals {
		d.Votes = append(d.Votes, c.saidOf(p, o, s.Text, s.Signature))
	}
	if err != nil || d.Why != "" || v.person.May(operator.VerbWithdrawalApprove, o.Account) != nil {
		return d, err
	}
	now := c.DB.Now().UTC().Truncate(time.Second)
	for _, role := range rolesWithPasskeys(p) {
		for _, decision := range []approval.Decision{approval.Yes, approval.No} {
			a := approval.Approval{
				Instance: o.Instance,
				Decision: decision,
				Payment:  1, // another one is a matter for bursar-approve, which knows what its person signed before
				Role:     role,
				Version:  p.Version,
				Policy:   p.Hash(),
				Created:  now,
				Expires:  now.Add(approvalLife),
				Nonce:    approval.NewNonce(),
				Order:    o,
			}
			challenge := passkey.Challenge(approval.NamespaceApproval, a.Text())
			d.Says = append(d.Says, sayView{string(decision), role, a.Text(),
				base64.RawURLEncoding.EncodeToString(challenge[:])})
		}
	}
	return d, nil
}

// seenOrder returns the order of the withdrawal or the refund in the path; one that does not wait, or of an account
// that the person may not see, is not there.
func (c *Console) seenOrder(v *visit) (p roster.Policy, one relay.Order, err error) {
	id, err := v.id("id")
	if err != nil {
		return p, one, err
	}
	p, list, _, err := c.waiting(v)
	if err != nil {
		return p, one, err
	}
	for _, one := range list {
		if one.Of() == id {
			return p, one, nil
		}
	}
	return p, one, bursar.ErrNotFound
}

// takeApproval hands on what a passkey signed. The signer evaluates it again: what is checked here keeps mistakes out.
func (c *Console) takeApproval(v *visit) (string, error) {
	p, one, err := c.seenOrder(v)
	if err != nil {
		return "", err
	}
	text := v.form.Get("text")
	a, err := approval.ParseApproval(text)
	if err != nil || a.Order.Text() != one.Text {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "text", "the text is not an approval of this payment")
	}
	if now := c.DB.Now(); now.Sub(a.Created) > approvalAge || a.Created.After(now.Add(approvalAge)) {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "text", "the page is older than %d minutes: load it again",
			int(approvalAge.Minutes()))
	}
	signature, err := assertionOf(p, v.form.Get("evidence"))
	if err != nil {
		return "", err
	}
	record := func(ctx context.Context, tx *store.Tx, by roster.VerifiedApproval) error {
		if err := v.person.May(operator.VerbWithdrawalApprove, a.Order.Account); err != nil {
			return err
		}
		act := v.act(operator.VerbWithdrawalApprove, "order "+a.Order.ID.String())
		act.After, act.Evidence = fmt.Sprintf("%s says %s to the signer", by.Person, a.Decision), signature
		return operator.Record(ctx, tx, act)
	}
	_, _, err = c.Acts.Approvals.AddRecorded(v.ctx, text, signature, record)
	return "/approvals", refusalOf(err)
}

// assertionOf returns what a browser's passkey signed, with its key, which one of the policy must be.
func assertionOf(p roster.Policy, evidence string) (string, error) {
	made, err := passkey.FromBrowser(evidence)
	if err != nil {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "evidence", "%s", err.Error())
	}
	var keys []passkey.Key
	for _, one := range p.People {
		keys = append(keys, one.Passkeys...)
	}
	signed, found := made.By(keys)
	if !found {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "evidence", "no passkey of the policy signed this")
	}
	return signed.Text(), nil
}
