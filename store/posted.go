package store

import (
	"context"
	"crypto/hmac"
	"maps"
	"slices"

	"github.com/bursar/bursar/ledger"
)

// Posted is the sum of an account's postings in one asset, as far as the audit has read the links.
type Posted struct {
	ledger.Balance
	Link      int64 // the last link that moved it; 0: one that is older than the links
	Unchecked bool  // it was not found equal to the balance since it changed
	Overdrawn bool  // an entry took it below zero that may not, and it is still there
	Altered   bool  // somebody else than the audit wrote it
}

// sealPosted covers all that the audit notes of a balance: what it knows of a contradiction stands or falls with the
// sums.
func (k sealKey) sealPosted(key ledger.Key, p Posted) []byte {
	f := k.sum("bursar posted v2")
	f.text(string(key.Account))
	f.text(string(key.Asset))
	f.text(p.Debits.String())
	f.text(p.Credits.String())
	f.number(p.Link)
	for _, is := range []bool{p.Unchecked, p.Overdrawn} {
		if is {
			f.number(1)
		} else {
			f.number(0)
		}
	}
	return f.Sum([]byte(k.id))
}

// postedRow is a sum as the database keeps it.
type postedRow struct {
	key ledger.Key
	Posted
	seal []byte
}

var postedColumns = columnsOf([]column[postedRow]{
	{"account", func(p *postedRow) any { return &p.key.Account }},
	{"asset", func(p *postedRow) any { return &p.key.Asset }},
	{"debits", func(p *postedRow) any { return &p.Debits }},
	{"credits", func(p *postedRow) any { return &p.Credits }},
	{"link", func(p *postedRow) any { return &p.Link }},
	{"unchecked", func(p *postedRow) any { return &p.Unchecked }},
	{"overdrawn", func(p *postedRow) any { return &p.Overdrawn }},
	{"seal", func(p *postedRow) any { return &p.seal }},
})

func (tx *Tx) scanPosted(into map[ledger.Key]Posted) func(s scanner) (ledger.Key, error) {
	return func(s scanner) (ledger.Key, error) {
		p, err := postedColumns.scan(s)
		seal := tx.seal.sealPosted(p.key, p.Posted)
		keyed := tx.seal.id == "" && len(p.seal) > len(seal) // by a key that is not here
		p.Altered = !keyed && !hmac.Equal(p.seal, seal)
		into[p.key] = p.Posted
		return p.key, err
	}
}

// keysAtOnce bounds the balances of one statement.
const keysAtOnce = 5000

// PostedOf returns the sums of some balances; those without any are not in the map.
func (tx Ledger) PostedOf(ctx context.Context, keys []ledger.Key) (map[ledger.Key]Posted, error) {
	found := map[ledger.Key]Posted{}
	for chunk := range slices.Chunk(keys, keysAtOnce) {
		source, those, args, err := sought(tx.Tx, "posted", "p", []string{"account", "asset"}, keyArgs(chunk))
		if err != nil {
			return nil, err
		}
		_, err = rows(ctx, tx.Tx, "read sums of postings", tx.scanPosted(found),
			postedColumns.query+`FROM `+source+` WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// BalancesOf returns some balances as the books have them; those that are not there are not in the map.
func (tx Ledger) BalancesOf(ctx context.Context, keys []ledger.Key) (ledger.Books, error) {
	all := ledger.Books{}
	for chunk := range slices.Chunk(keys, keysAtOnce) {
		source, those, args, err := sought(tx.Tx, "balances", "b", []string{"account", "asset"}, keyArgs(chunk))
		if err != nil {
			return nil, err
		}
		list, err := rows(ctx, tx.Tx, "read balances", scanStanding, standingQuery+source+` WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			all[b.key] = b.is
		}
	}
	return all, nil
}

func keyArgs(keys []ledger.Key) []any {
	args := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		args = append(args, string(k.Account), string(k.Asset))
	}
	return args
}

// UncheckedPosted returns the keys of sums behind a key that were not found equal to their balances since they changed.
func (tx Ledger) UncheckedPosted(ctx context.Context, after ledger.Key, limit int) ([]ledger.Key, error) {
	key := func(s scanner) (k ledger.Key, err error) { return k, s.Scan(&k.Account, &k.Asset) }
	return rows(ctx, tx.Tx, "list unchecked sums", key, `SELECT account, asset FROM posted WHERE unchecked = TRUE
		AND (account, asset) > ($1, $2) ORDER BY account, asset LIMIT $3`, string(after.Account), string(after.Asset), limit)
}

// BookedAfter returns the keys of the balances, and of the sums, that follow a key, in order; together at least limit
// of them where there are as many.
func (tx Ledger) BookedAfter(ctx context.Context, after ledger.Key, limit int) ([]ledger.Key, error) {
	key := func(s scanner) (k ledger.Key, err error) { return k, s.Scan(&k.Account, &k.Asset) }
	return rows(ctx, tx.Tx, "list balances", key, `
		SELECT account, asset FROM (
			SELECT account, asset FROM balances WHERE (account, asset) > ($1, $2) ORDER BY account, asset LIMIT $3) b
		UNION SELECT account, asset FROM (
			SELECT account, asset FROM posted WHERE (account, asset) > ($1, $2) ORDER BY account, asset LIMIT $3) p
		ORDER BY account, asset LIMIT $3`, string(after.Account), string(after.Asset), limit)
}

// PutPosted writes sums. Only the audit does, in a transaction that has locked it.
func (tx Ledger) PutPosted(ctx context.Context, sums map[ledger.Key]Posted) error {
	for chunk := range slices.Chunk(slices.SortedFunc(maps.Keys(sums), byName), keysAtOnce) {
		in := insertion{what: "write sums of postings", table: "posted", rows: len(chunk),
			after: ` ON CONFLICT (account, asset) DO UPDATE SET debits = excluded.debits, credits = excluded.credits,
				link = excluded.link, unchecked = excluded.unchecked, overdrawn = excluded.overdrawn, seal = excluded.seal`}
		for _, k := range chunk {
			in.add(values{
				{"account", string(k.Account)},
				{"asset", string(k.Asset)},
				{"debits", sums[k].Debits},
				{"credits", sums[k].Credits},
				{"link", sums[k].Link},
				{"unchecked", sums[k].Unchecked},
				{"overdrawn", sums[k].Overdrawn},
				{"seal", tx.seal.sealPosted(k, sums[k])},
			})
		}
		if err := tx.insertRows(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// SealOld seals up to limit of the rows of each kind that were there before there were links, and reports whether
// there are more. It does nothing once the first link is read: from then on a row without a seal was not written by
// this service.
func (tx Ledger) SealOld(ctx context.Context, limit int) (more bool, err error) {
	found := map[ledger.Key]Posted{}
	keys, err := rows(ctx, tx.Tx, "list old sums", tx.scanPosted(found), postedColumns.query+`FROM posted
		WHERE seal IS NULL LIMIT $1`, limit)
	if err == nil {
		err = tx.PutPosted(ctx, found)
	}
	if err != nil {
		return false, err
	}
	old, err := rows(ctx, tx.Tx, "list old withdrawals", func(s scanner) (o orderFacts, err error) {
		order, err := orderColumns.scan(s)
		return withdrawalFacts(order.chain, order.it), err
	}, orderColumns.query+`FROM withdrawals WHERE seal IS NULL LIMIT $1`, limit)
	if err != nil {
		return false, err
	}
	refunds, err := rows(ctx, tx.Tx, "list old resolutions", func(s scanner) (orderFacts, error) {
		n, err := resolutionColumns.scan(s)
		return refundFacts(n), err
	}, resolutionColumns.query+`FROM resolutions WHERE seal IS NULL LIMIT $1`, limit)
	if err != nil {
		return false, err
	}
	for _, o := range slices.Concat(old, refunds) {
		table := map[string]string{orderWithdrawal: "withdrawals", orderRefund: "resolutions"}[o.kind]
		query := `UPDATE ` + table + ` SET seal = $2 WHERE id = $1`
		if _, err := tx.exec(ctx, "seal an old order", query, o.id, tx.seal.sealOrder(o)); err != nil {
			return false, err
		}
	}
	deposits, err := tx.sealOldDeposits(ctx, limit)
	if err != nil {
		return false, err
	}
	return deposits == limit || len(keys) == limit || len(old) == limit || len(refunds) == limit, nil
}
