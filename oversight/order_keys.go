package oversight

import (
	"context"
	"slices"
	"strings"

	"github.com/bursar/bursar"
)

// The states of a key of orders.
const (
	keyUsable  = "usable"
	keyWaits   = "waits" // until its hold is over
	keyRevoked = "revoked"
)

// orderKeysOnce is how many keys one page looks at.
const orderKeysOnce = 20_000

// readOrderKeys lists the keys with which clients sign orders, as this service recorded them: the signer has its own
// list, and counts no other.
func readOrderKeys(ctx context.Context, r *reading) (s Sheet, err error) {
	state, account := chosen(r.asked, "state", []string{keyUsable, keyWaits, keyRevoked}), r.id("account")
	name, page := r.text("name"), int(r.whole("limit", usualRows, mostRows))
	if !account.IsZero() && !r.shows(account) {
		r.refuse("account", "account %s is not among those that you may see", account)
	}
	after := r.orderKeyAfter("before")
	if r.err != nil {
		return s, r.err
	}
	s.Fields = []Field{r.field("state", "State", "", "", keyUsable, keyWaits, keyRevoked),
		r.field("name", "Name has", "A part of it"), r.field("account", "Account", "ID")}
	s.Notes = []string{"What this service recorded of the keys with which clients sign their withdrawals. The signer " +
		"has " +
		"a list of its own and counts no other: compare the IDs with `bursar signer order-key list` on its host."}
	s.Command = "bursar account order-key list ACCOUNT"
	has := func(k bursar.OrderKey) bool {
		return r.shows(k.AccountID) && (state == "" || r.keyState(k) == state) &&
			strings.Contains(strings.ToLower(k.Name), strings.ToLower(name))
	}
	var list []bursar.OrderKey
	next := ""
	if account.IsZero() {
		list, next, err = r.someOrderKeys(ctx, after, page, has)
	} else if list, err = r.tx.OrderKeys().Of(ctx, account); err == nil { // an account has few, and they are shown whole
		list = slices.DeleteFunc(list, func(k bursar.OrderKey) bool { return !has(k) })
	}
	t := Table{Key: "orderKeys", Title: "Order keys", Empty: "None.", Next: next, Columns: []Column{
		{"id", "Key", Ident},
		{"name", "Name", Written},
		{"account", "Account", Ident},
		{"state", "State", State},
		{"createdAt", "Made", Moment},
		{"usableFrom", "Usable from", Moment},
		{"revokedAt", "Revoked", Moment},
	}}
	tones := map[string]Tone{keyUsable: Good, keyWaits: Warn, keyRevoked: Bad}
	for _, k := range list {
		is := r.keyState(k)
		t.Rows = append(t.Rows, []Cell{text(k.ID), text(k.Name), named("/accounts", k.AccountID),
			{Text: is, Tone: tones[is]}, at(k.CreatedAt), at(k.UsableFrom), at(k.RevokedAt)})
	}
	s.Tables = []Table{t}
	return s, err
}

func (r *reading) keyState(k bursar.OrderKey) string {
	switch {
	case !k.RevokedAt.IsZero():
		return keyRevoked
	case !k.UsableAt(r.tx.Now()):
		return keyWaits
	}
	return keyUsable
}

// orderKeyAfter reads a cursor: an account and the ID of a key.
func (a *asked) orderKeyAfter(name string) (k bursar.OrderKey) {
	given := a.text(name)
	if given == "" {
		return k
	}
	account, key, _ := strings.Cut(given, ".")
	id, err := bursar.ParseID(account)
	if err != nil {
		a.refuse(name, "%s must be a cursor", name)
	}
	return bursar.OrderKey{AccountID: id, ID: key}
}

// someOrderKeys returns up to a page of the keys behind one that a filter selects. It looks at a bounded number: next
// is the cursor of another page, empty at the end.
func (r *reading) someOrderKeys(ctx context.Context, after bursar.OrderKey, page int, has func(bursar.OrderKey) bool) (
	list []bursar.OrderKey, next string, err error) {
	cursorOf := func(k bursar.OrderKey) string { return k.AccountID.String() + "." + k.ID }
	for looked := 0; looked < orderKeysOnce; looked += mostRows {
		some, err := r.tx.OrderKeys().Page(ctx, after, mostRows)
		if err != nil {
			return nil, "", err
		}
		for _, k := range some {
			if after = k; !has(k) {
				continue
			}
			if list = append(list, k); len(list) == page {
				return list, cursorOf(k), nil
			}
		}
		if len(some) < mostRows {
			return list, "", nil
		}
	}
	return list, cursorOf(after), nil
}
