package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// Of returns the lists of those among the accounts that ever had one on. It reads what is committed now: call
// it after Accounts.Lock for an answer that stays true until the transaction ends.
func (tx DestinationLists) Of(ctx context.Context, accounts []bursar.ID) (map[bursar.ID]bursar.DestinationList, error) {
	return tx.OfDeferred(ctx, accounts).Get(ctx)
}

// OfDeferred is Of together with other reads.
func (tx DestinationLists) OfDeferred(
	ctx context.Context, accounts []bursar.ID,
) *Deferred[map[bursar.ID]bursar.DestinationList] {
	type owned struct {
		account bursar.ID
		list    bursar.DestinationList
	}
	those, args := among(tx.Tx, "account_id", accounts)
	return ask(ctx, tx.Tx, "read destination lists", func(s scanner) (o owned, err error) {
		o.list.On = true
		return o, s.Scan(&o.account, instant{&o.list.Until})
	}, func(found []owned) (map[bursar.ID]bursar.DestinationList, error) {
		lists := make(map[bursar.ID]bursar.DestinationList, len(found))
		for _, o := range found {
			lists[o.account] = o.list
		}
		return lists, nil
	}, `SELECT account_id, until FROM destination_lists WHERE `+those, args...)
}

// Get returns an account's list, the zero one where it was never on.
func (tx DestinationLists) Get(ctx context.Context, account bursar.ID) (bursar.DestinationList, error) {
	lists, err := tx.Of(ctx, []bursar.ID{account})
	return lists[account], err
}

// Set switches an account's list on until a time, for good for the zero time.
func (tx DestinationLists) Set(ctx context.Context, account bursar.ID, until time.Time) error {
	_, err := tx.exec(ctx, "set destination list", `INSERT INTO destination_lists(account_id, until) VALUES ($1, $2)
		ON CONFLICT (account_id) DO UPDATE SET until = excluded.until`, account, micros(until))
	return err
}

var destinationColumns = columnsOf([]column[bursar.Destination]{
	{"number", func(d *bursar.Destination) any { return &d.Number }},
	{"id", func(d *bursar.Destination) any { return &d.ID }},
	{"account_id", func(d *bursar.Destination) any { return &d.AccountID }},
	{"family", func(d *bursar.Destination) any { return &d.Family }},
	{"currency", func(d *bursar.Destination) any { return &d.Currency }},
	{"base", func(d *bursar.Destination) any { return &d.Address.Base }},
	{"memo", func(d *bursar.Destination) any { return memo{&d.Address} }},
	{"label", func(d *bursar.Destination) any { return &d.Label }},
	{"created_at", func(d *bursar.Destination) any { return instant{&d.CreatedAt} }},
	{"usable_from", func(d *bursar.Destination) any { return instant{&d.UsableFrom} }},
})

// Insert adds a destination and returns it. One that is there already, for the same currency or for all, stays
// as it is, its hold included, and is returned with added false.
func (tx Destinations) Insert(ctx context.Context,
	d bursar.Destination) (kept bursar.Destination, added bool, err error) {
	query, args := values{
		{"id", d.ID},
		{"account_id", d.AccountID},
		{"family", string(d.Family)},
		{"currency", string(d.Currency)},
		{"base", d.Address.Base},
		{"memo", memoValue(d.Address)},
		{"label", d.Label},
		{"created_at", micros(d.CreatedAt)},
		{"usable_from", micros(d.UsableFrom)},
	}.insertInto("destinations")
	kept, err = one(ctx, tx.Tx, "insert destination", destinationColumns.scan, query+`
		ON CONFLICT (account_id, family, base, memo, currency) DO NOTHING RETURNING `+destinationColumns.names, args...)
	if !errors.Is(err, ErrNotFound) {
		return kept, err == nil, err
	}
	kept, err = destinationColumns.one(ctx, tx.Tx, "read destination", `FROM destinations
		WHERE account_id = $1 AND family = $2 AND base = $3 AND memo = $4 AND currency = $5`,
		d.AccountID, string(d.Family), d.Address.Base, memoValue(d.Address), string(d.Currency))
	return kept, false, err
}

// Remove takes a destination off its account's list. The error is ErrNotFound for one that is not there,
// or another account's.
func (tx Destinations) Remove(ctx context.Context, account, id bursar.ID) error {
	return tx.change(ctx, "remove destination", `DELETE FROM destinations WHERE id = $1 AND account_id = $2`, id, account)
}

// Count returns how many destinations an account has.
func (tx Destinations) Count(ctx context.Context, account bursar.ID) (n int, err error) {
	err = tx.row(ctx, "count destinations", `SELECT COUNT(*) FROM destinations WHERE account_id = $1`, []any{account}, &n)
	return n, err
}

// List returns an account's destinations, newest first.
func (tx Destinations) List(ctx context.Context, account bursar.ID, page Page) ([]bursar.Destination, error) {
	return destinationColumns.rows(ctx, tx.Tx, "list destinations",
		`FROM destinations WHERE account_id = $1 AND number < $2
		ORDER BY number DESC LIMIT $3`, account, page.bound(), page.Limit)
}

// To returns an account's destinations at an address, memo included: one for each currency, or for all.
func (tx Destinations) To(ctx context.Context, account bursar.ID, family bursar.Family,
	to bursar.Address) ([]bursar.Destination, error) {
	return destinationColumns.rows(ctx, tx.Tx, "read destinations", `FROM destinations
		WHERE account_id = $1 AND family = $2 AND base = $3 AND memo = $4`, account, string(family), to.Base, memoValue(to))
}
