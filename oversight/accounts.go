package oversight

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

func readAccounts(ctx context.Context, r *reading) (s Sheet, err error) {
	f := accountFilter{name: r.text("name"), state: chosen(r.asked, "withdrawals", []string{"allowed", "frozen"})}
	after, page := r.id("before"), int(r.whole("limit", usualRows, mostRows))
	if r.err != nil {
		return s, r.err
	}
	list, next, err := r.someAccounts(ctx, f, after, page)
	s.Links = []Cell{{Text: "Keys with which clients sign orders", Link: "/order-keys"}}
	s.Fields = []Field{r.field("name", "Name has", "A part of it"),
		r.field("withdrawals", "Withdrawals", "", "", "allowed", "frozen")}
	t := Table{Key: "accounts", Title: "Accounts", Empty: "No accounts.", Columns: []Column{
		{"id", "Account", Ident},
		{"name", "Name", Written},
		{"createdAt", "Made", Moment},
		{"withdrawals", "Withdrawals", State},
		{"frozen", "Frozen because", Written},
		{"webhook", "Webhook", Written},
	}}
	for _, a := range list {
		state := Cell{Text: "allowed", Tone: Good}
		if a.Frozen != "" {
			state = Cell{Text: "frozen", Tone: Bad}
		}
		t.Rows = append(t.Rows, []Cell{named("/accounts", a.ID), text(a.Name), at(a.CreatedAt), state, text(a.Frozen),
			text(a.Webhook)})
	}
	if !next.IsZero() {
		t.Next = next.String()
	}
	s.Tables, s.Command = []Table{t}, "bursar account list"
	return s, err
}

// accountFilter selects accounts; the zero filter selects all.
type accountFilter struct{ name, state string }

func (f accountFilter) has(a bursar.Account) bool {
	return strings.Contains(strings.ToLower(a.Name), strings.ToLower(f.name)) &&
		(f.state == "" || (f.state == "frozen") == (a.Frozen != ""))
}

// accountsOnce is how many accounts one page looks at.
const accountsOnce = 20_000

// someAccounts returns up to a page of the accounts behind one that a filter selects. It looks at a bounded number:
// next is the one behind which another page continues, zero at the end.
func (r *reading) someAccounts(ctx context.Context, f accountFilter, after bursar.ID, page int) (list []bursar.Account,
	next bursar.ID, err error) {
	for looked := 0; looked < accountsOnce; looked += mostRows {
		some, err := r.tx.Accounts().Page(ctx, r.Accounts, after, mostRows)
		if err != nil {
			return nil, next, err
		}
		for _, a := range some {
			if after = a.ID; !f.has(a) {
				continue
			}
			if list = append(list, a); len(list) == page {
				return list, after, nil
			}
		}
		if len(some) < mostRows {
			return list, bursar.ID{}, nil
		}
	}
	return list, after, nil
}

func readAccount(ctx context.Context, r *reading) (s Sheet, err error) {
	id := r.requiredID()
	if r.err != nil {
		return s, r.err
	}
	if !r.shows(id) {
		return s, store.ErrNotFound
	}
	a, err := r.tx.Accounts().Get(ctx, id)
	if err != nil {
		return s, err
	}
	s.Title, s.Object, s.Account = "Account", a.ID, a.ID
	s.fact("id", "Account", Ident, a.ID.String())
	s.fact("name", "Name", Written, a.Name)
	s.fact("createdAt", "Made", Moment, instant(a.CreatedAt))
	s.fact("frozen", "Withdrawals are frozen because", Written, a.Frozen)
	s.fact("webhook", "Webhook of the account", Written, a.Webhook)
	s.fact("notifyPending", "Event for a deposit that is not final", Plain, yes(a.NotifyPending).Text)
	s.fact("notifyWithdrawals", "Events of withdrawals", Plain, yes(a.NotifyWithdrawals).Text)
	for _, l := range [][2]string{{"Charges", "/charges"}, {"Deposits", "/deposits"}, {"Wallets", "/wallets"},
		{"Withdrawals", "/withdrawals"}, {"Events", "/webhooks"}, {"Order keys", "/order-keys"}} {
		s.Links = append(s.Links, Cell{Text: l[0] + " of this account", Link: l[1] + "?account=" + id.String()})
	}
	s.Command = "bursar key list " + id.String()
	for _, add := range []func(context.Context, *Sheet, bursar.ID) error{r.addBalances, r.addKeys, r.addDestinations,
		r.addFees, r.addLimits} {
		if err := add(ctx, &s, id); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (r *reading) addBalances(ctx context.Context, s *Sheet, id bursar.ID) error {
	of, err := r.tx.Ledger().OfAccounts(ctx, []bursar.ID{id})
	t := Table{Key: "balances", Title: "Balances", Empty: "Nothing was credited yet.", Columns: []Column{
		{"currency", "Currency", Plain},
		{"available", "Available", Figure},
		{"held", "Held", Figure},
		{"pending", "In blocks", Figure},
	}}
	for _, c := range r.Registry.All() {
		available, has := of[id].Available[c.Code]
		held, holds := of[id].Held[c.Code]
		pending := of[id].Pending[c.Code]
		if !has && !holds && pending.IsZero() {
			continue
		}
		free, negative := available.Net(ledger.Liability)
		cell := text(c.Exact(free))
		if negative {
			cell = Cell{Text: "-" + c.Exact(free), Tone: Bad}
		}
		set, _ := held.Net(ledger.Liability)
		t.Rows = append(t.Rows, []Cell{text(string(c.Code)), cell, text(c.Exact(set)), text(c.Exact(pending))})
	}
	s.Tables = append(s.Tables, t)
	return err
}

func (r *reading) addKeys(ctx context.Context, s *Sheet, id bursar.ID) error {
	keys, err := r.tx.APIKeys().List(ctx, id)
	t := Table{Key: "keys", Title: "API keys", Empty: "No keys.", Columns: []Column{
		{"id", "Key", Ident},
		{"hint", "Begins with", Plain},
		{"scopes", "May", Plain},
		{"secret", "Needs a secret", Plain},
		{"networks", "From", Plain},
		{"createdAt", "Made", Moment},
		{"expiresAt", "Expires", Moment},
		{"revokedAt", "Revoked", Moment},
	}}
	for _, k := range keys {
		networks := make([]string, len(k.Networks))
		for i, n := range k.Networks {
			networks[i] = n.String()
		}
		t.Rows = append(t.Rows, []Cell{text(k.ID.String()), text(k.Hint), text(list(k.Scopes)), yes(k.SecretHash != nil),
			text(list(networks)), at(k.CreatedAt), at(k.ExpiresAt), at(k.RevokedAt)})
	}
	s.Tables = append(s.Tables, t)
	return err
}

func (r *reading) addDestinations(ctx context.Context, s *Sheet, id bursar.ID) error {
	restricted, err := r.tx.DestinationLists().Get(ctx, id)
	if ignoreMissing(err) != nil {
		return err
	}
	found, err := r.tx.Destinations().List(ctx, id, store.Page{Limit: mostRows})
	t := Table{Key: "destinations", Title: "Destinations", Empty: "None.", Columns: []Column{
		{"id", "Destination", Ident},
		{"label", "Label", Written},
		{"family", "Chains", Plain},
		{"currency", "Currency", Plain},
		{"address", "Address", Ident},
		{"usableFrom", "Usable from", Moment},
	}, Note: "Withdrawals may go to any address."}
	if restricted.On {
		t.Note = "Withdrawals may go to these addresses only."
	}
	for _, d := range found {
		t.Rows = append(t.Rows, []Cell{text(d.ID.String()), text(d.Label), text(string(d.Family)), text(string(d.Currency)),
			text(d.Address.String()), at(d.UsableFrom)})
	}
	s.Tables = append(s.Tables, t)
	return err
}

func (r *reading) addFees(ctx context.Context, s *Sheet, id bursar.ID) error {
	rules, err := r.tx.FeeRules().Of(ctx, id)
	t := Table{Key: "fees", Title: "Fees of its own", Empty: "None: it pays what is configured.", Columns: []Column{
		{"currency", "Currency", Plain},
		{"kind", "On", Plain},
		{"fee", "Fee", Plain},
		{"setAt", "Set", Moment},
	}}
	for _, f := range rules {
		c, _ := r.Registry.Get(f.Currency) // a rule for every currency has no fixed amount
		code := text(string(f.Currency))
		if f.Currency == "" {
			code = text("every other")
		}
		t.Rows = append(t.Rows, []Cell{code, text(string(f.Kind)), text(feeText(c, f.Fee)), at(f.SetAt)})
	}
	s.Tables = append(s.Tables, t)
	return err
}
