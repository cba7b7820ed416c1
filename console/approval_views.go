package console

import (
	"fmt"
	"slices"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/roster"
)

func personWith(p roster.Policy, key passkey.Key) string {
	for _, one := range p.People {
		if slices.Contains(one.Passkeys, key) {
			return one.Name
		}
	}
	return ""
}

// cannotSign says why no passkey that signs here could count; "" if one could.
func (c *Console) cannotSign(p roster.Policy) string {
	switch {
	case p.Site.String() == "":
		return "the policy has no passkeys"
	case p.Site.String() != c.People.URL:
		return "the policy's passkeys sign at " + p.Site.String() + ", and this is " + c.People.URL
	case len(rolesWithPasskeys(p)) == 0:
		return "no rule of the policy counts passkeys"
	}
	return ""
}

// rolesWithPasskeys returns the roles in which some rule counts passkeys, each once.
func rolesWithPasskeys(p roster.Policy) (list []string) {
	for _, r := range p.Rules {
		if !r.Deny && slices.Contains(r.Counts(), roster.KeyPasskey) && !slices.Contains(list, r.Role) {
			list = append(list, r.Role)
		}
	}
	return list
}

// orderOf shows an order from its very text.
func (c *Console) orderOf(p roster.Policy, one relay.Order) orderView {
	o, err := approval.ParseOrder(one.Text)
	if err != nil {
		return orderView{Text: one.Text, Why: err.Error()}
	}
	d := orderView{
		ID:        o.ID.String(),
		Of:        one.Of().String(),
		Chain:     string(o.Chain),
		Asset:     approval.AssetText(o.Contract),
		Units:     o.Units.String(),
		To:        o.To.Base,
		Requester: o.Requester,
		Created:   moment(o.Created),
		Until:     moment(o.Expires),
		Reason:    one.Reason,
		TxID:      one.TxID,
		Status:    one.Status,
		Text:      one.Text,
		Why:       c.cannotSign(p),
	}
	if !o.Account.IsZero() {
		d.Account = o.Account.String()
	}
	if o.To.HasMemo {
		d.Tag = fmt.Sprint(o.To.Memo)
	}
	for _, a := range p.Assets {
		if a.Chain == o.Chain && a.Contract == o.Contract {
			d.Amount, d.Asset = o.Units.Decimal(a.Decimals, 0), a.Name
		}
	}
	d.Approvals = len(one.Approvals)
	return d
}

func (c *Console) saidOf(p roster.Policy, o approval.Order, text, signature string) saidView {
	who, err := p.ApprovedBy(text, signature, c.DB.Now())
	a, failed := approval.ParseApproval(text)
	if err != nil || failed != nil || a.Order != o {
		return saidView{Person: "nobody who counts"}
	}
	return saidView{who.Name, string(a.Decision), string(who.With), moment(a.Created), moment(a.Expires)}
}
