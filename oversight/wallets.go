package oversight

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

var walletColumns = []Column{
	{"id", "Wallet", Ident},
	{"createdAt", "Made", Moment},
	{"currency", "Currency", Plain},
	{"address", "Address", Ident},
	{"account", "Account", Ident},
	{"webhook", "Webhook", Written},
	{"metadata", "Metadata", Written},
}

func walletTable(list []bursar.Wallet, next int64) Table {
	t := Table{Key: "wallets", Title: "Wallets", Columns: walletColumns, Next: cursor(next), Empty: "No wallets."}
	for _, w := range list {
		t.Rows = append(t.Rows, []Cell{
			named("/wallets", w.ID),
			at(w.CreatedAt),
			text(string(w.Currency)),
			text(w.Address.String()),
			named("/accounts", w.AccountID),
			text(w.Webhook),
			text(w.Metadata),
		})
	}
	return t
}

func readWallets(ctx context.Context, r *reading) (s Sheet, err error) {
	code, walk := chosen(r.asked, "currency", r.codes()), r.walk()
	if r.err != nil {
		return s, r.err
	}
	s.Fields = []Field{
		r.field("currency", "Currency", "", options(r.codes())...),
		r.field("account", "Account", "ID"),
	}
	if len(walk.Accounts) == 1 {
		list, err := r.tx.Wallets().List(ctx, walk.Accounts[0], code, store.Page{Before: walk.Before, Limit: walk.Limit})
		next := nextOf(list, walk.Limit, func(w bursar.Wallet) int64 { return w.Number })
		s.Tables = []Table{walletTable(list, next)}
		return s, err
	}
	list, next, err := r.tx.Wallets().Walk(ctx, code, walk)
	s.Tables = []Table{walletTable(list, next)}
	return s, err
}

func readWallet(ctx context.Context, r *reading) (s Sheet, err error) {
	id, page := r.requiredID(), r.page()
	if r.err != nil {
		return s, r.err
	}
	w, err := r.tx.Wallets().ByID(ctx, id)
	if err != nil {
		return s, err
	}
	if !r.shows(w.AccountID) {
		return s, store.ErrNotFound
	}
	s.Title, s.Object, s.Account = "Wallet of "+string(w.Currency), w.ID, w.AccountID
	s.fact("id", "Wallet", Ident, w.ID.String())
	s.fact("currency", "Currency", Plain, string(w.Currency))
	s.fact("address", "Address", Ident, w.Address.String())
	account := named("/accounts", w.AccountID)
	s.link("account", "Account", Ident, account.Text, account.Link)
	s.fact("createdAt", "Made", Moment, instant(w.CreatedAt))
	s.fact("webhook", "Webhook", Written, w.Webhook)
	s.fact("metadata", "Metadata", Written, w.Metadata)
	deposits, err := r.tx.Deposits().List(ctx, w.AccountID, w.ID, page)
	s.Tables = []Table{r.depositTable(deposits, nextOf(deposits, page.Limit,
		func(d bursar.Deposit) int64 { return d.Number }))}
	return s, err
}
