package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Audit is how far the check of the books against themselves has come.
type Audit struct {
	Link  int64  // the last link that was read
	Hash  []byte // its hash
	Entry int64  // no entry above it has been looked at

	// The rolling pass over everything: how far it is.
	PassLink    int64
	PassEntry   int64
	PassAccount ledger.Account
	PassAsset   bursar.CurrencyCode

	CheckedAt time.Time // when the newest link was last found to be read
	PassedAt  time.Time // when the rolling pass was last through the links whose postings are here; not the checkpoints
	TrialAt   time.Time // when the trial balance was last drawn up
}

// Get returns how far the audit has come.
func (tx Audits) Get(ctx context.Context) (Audit, error) { return tx.audit(ctx, "") }

// Lock is Audit, and lets nobody else audit until the transaction ends.
func (tx Audits) Lock(ctx context.Context) (Audit, error) { return tx.audit(ctx, tx.forUpdate()) }

var auditColumns = columnsOf([]column[Audit]{
	{"link", func(a *Audit) any { return &a.Link }},
	{"hash", func(a *Audit) any { return &a.Hash }},
	{"entry", func(a *Audit) any { return &a.Entry }},
	{"pass_link", func(a *Audit) any { return &a.PassLink }},
	{"pass_entry", func(a *Audit) any { return &a.PassEntry }},
	{"pass_account", func(a *Audit) any { return &a.PassAccount }},
	{"pass_asset", func(a *Audit) any { return &a.PassAsset }},
	{"checked_at", func(a *Audit) any { return instant{&a.CheckedAt} }},
	{"passed_at", func(a *Audit) any { return instant{&a.PassedAt} }},
	{"trial_at", func(a *Audit) any { return instant{&a.TrialAt} }},
})

func (tx *Tx) audit(ctx context.Context, lock string) (Audit, error) {
	return auditColumns.one(ctx, tx, "read how far the audit has come", `FROM audits WHERE name = 'books'`+lock)
}

// Set notes how far the audit has come.
func (tx Audits) Set(ctx context.Context, a Audit) error {
	query, args := values{
		{"link", a.Link},
		{"hash", a.Hash},
		{"entry", a.Entry},
		{"pass_link", a.PassLink},
		{"pass_entry", a.PassEntry},
		{"pass_account", string(a.PassAccount)},
		{"pass_asset", string(a.PassAsset)},
		{"checked_at", micros(a.CheckedAt)},
		{"passed_at", micros(a.PassedAt)},
		{"trial_at", micros(a.TrialAt)},
	}.update("audits", `WHERE name = 'books'`)
	return tx.change(ctx, "note how far the audit has come", query, args...)
}

var linkColumns = columnsOf([]column[Link]{
	{"number", func(l *Link) any { return &l.Number }},
	{"at", func(l *Link) any { return instant{&l.At} }},
	{"key_id", func(l *Link) any { return &l.KeyID }},
	{"size", func(l *Link) any { return &l.Size }},
	{"hash", func(l *Link) any { return &l.Hash }},
})

// entriesOfLinks bounds the entries that Links reads at once, beyond those of the first link.
const entriesOfLinks = 5000

// After returns the links after a number with all that they cover, oldest first: up to limit of them, and fewer where
// they cover very many entries; none behind the newest alone.
func (tx Links) After(ctx context.Context, after int64, limit int) ([]Link, error) {
	links, err := linkColumns.rows(ctx, tx.Tx, "read links",
		`FROM links WHERE number > $1 ORDER BY number LIMIT $2`, after, limit)
	if err != nil || len(links) == 0 {
		return links, err
	}
	links = upTo(links, entriesOfLinks)
	if err := tx.addEntries(ctx, links); err != nil {
		return nil, err
	}
	return links, tx.addOrders(ctx, links)
}

// addEntries reads the entries that links cover, with their postings. The server sorts the entries only, which come
// sorted from an index: there are a few postings to each.
func (tx *Tx) addEntries(ctx context.Context, links []Link) error {
	at := map[int64]int{}
	for i, l := range links {
		at[l.Number] = i
	}
	var places []int64 // of the postings of the entry that is being read
	_, err := rows(ctx, tx, "read linked entries", func(s scanner) (none struct{}, err error) {
		var link int64
		var e Linked
		var kind, ref, debit, credit, asset *string
		var place *int64
		var amount *bursar.Amount
		err = s.Scan(&link, &e.Number, &kind, &ref, instantOrNone{&e.At}, &place, &debit, &credit, &asset, &amount)
		i, known := at[link]
		if err != nil || !known {
			return none, err
		}
		if e.Missing = kind == nil; !e.Missing {
			e.Kind, e.Ref = ledger.Kind(*kind), ledger.Ref(*ref)
		}
		of := links[i].Entries
		if n := len(of); n == 0 || of[n-1].Number != e.Number {
			of, places = append(of, e), places[:0]
			links[i].Entries = of
		}
		if debit != nil {
			last := &of[len(of)-1]
			n, _ := slices.BinarySearch(places, *place)
			places = slices.Insert(places, n, *place)
			last.Postings = slices.Insert(last.Postings, n, ledger.Posting{Debit: ledger.Account(*debit),
				Credit: ledger.Account(*credit), Asset: bursar.CurrencyCode(*asset), Amount: *amount})
		}
		return none, nil
	}, `SELECT s.link, s.entry, e.kind, e.ref, e.at, p.place, p.debit, p.credit, p.asset, p.amount FROM seals s`+
		tx.joined("entries", "e", "number", "s.entry", " LIMIT 1")+
		tx.joined("postings", "p", "entry", "s.entry", " ORDER BY place")+`
		WHERE s.link >= $1 AND s.link <= $2 ORDER BY s.link, s.entry`,
		links[0].Number, links[len(links)-1].Number)
	return err
}

// upTo cuts links off behind which there would be more than so many entries; the first stays. What they say of their
// sizes is checked when they are verified.
func upTo(links []Link, entries int64) []Link {
	var sum int64
	for i, l := range links {
		if sum += max(0, l.Size); sum > entries && i > 0 {
			return links[:i]
		}
	}
	return links
}

// addOrders reads the orders whose money the entries of the links took.
func (tx *Tx) addOrders(ctx context.Context, links []Link) error {
	var withdrawals, refunds []any
	for _, l := range links {
		for _, e := range l.Entries {
			if id, is := ledger.Takes(e.Entry); is {
				if e.Kind == ledger.KindRefundHeld {
					refunds = append(refunds, id)
				} else {
					withdrawals = append(withdrawals, id)
				}
			}
		}
	}
	found := map[bursar.ID]orderFacts{}
	err := addFacts(ctx, tx, found, "withdrawals", withdrawals, orderColumns,
		func(o sealedOrder) orderFacts {
			return withdrawalFacts(o.chain, o.it)
		})
	if err == nil {
		err = addFacts(ctx, tx, found, "resolutions", refunds, resolutionColumns, refundFacts)
	}
	for i := range links {
		for j, e := range links[i].Entries {
			if id, is := ledger.Takes(e.Entry); is {
				if order, there := found[id]; there {
					links[i].Entries[j].order = &order
				}
			}
		}
	}
	return err
}

// addFacts reads the facts of orders of one table.
func addFacts[T any](ctx context.Context, tx *Tx, found map[bursar.ID]orderFacts, table string, ids []any,
	columns *columns[T], facts func(T) orderFacts) error {
	for chunk := range slices.Chunk(ids, 500) {
		source, those, args, err := sought(tx, table, "o", []string{"id"}, chunk)
		if err != nil {
			return err
		}
		_, err = rows(ctx, tx, "read linked orders", func(s scanner) (none struct{}, err error) {
			o, err := columns.scan(s)
			f := facts(o)
			found[f.id] = f
			return none, err
		}, columns.query+`FROM `+source+` WHERE `+those, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// At returns a link without its entries, an empty one for number 0, or ErrNotFound.
func (tx Links) At(ctx context.Context, number int64) (l Link, err error) {
	if number == 0 {
		return l, nil
	}
	l.Number = number
	err = tx.row(ctx, "read a link", `SELECT key_id, hash FROM links WHERE number = $1`, []any{number}, &l.KeyID, &l.Hash)
	return l, err
}

// Altered reports whether an order is there whose facts are not those that were taken.
func (tx Withdrawals) Altered(ctx context.Context, id bursar.ID) (bool, error) {
	withdrawal, err := one(ctx, tx.Tx, "check a withdrawal", tx.ordered,
		orderColumns.query+`FROM withdrawals WHERE id = $1`, id)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return withdrawal.altered != nil, err
	}
	refund, err := one(ctx, tx.Tx, "check a refund", tx.refunded, refundColumns.query+`FROM resolutions WHERE id = $1`, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return refund.altered != nil, err
}

// Missing returns entries above a number that are under no link, and the last of the limit entries that were looked
// at: 0 where there were none. An entry is committed together with its link, so one without was not written by this
// service.
func (tx Links) Missing(ctx context.Context, after int64, limit int) (unlinked []int64, last int64, err error) {
	// The last entry comes as a row of its own, so that a page of thousands with nothing to report is one row.
	_, err = rows(ctx, tx.Tx, "look for entries without a link", func(s scanner) (none struct{}, err error) {
		var number int64
		var isLast bool
		switch err = s.Scan(&number, &isLast); {
		case err != nil:
		case isLast:
			last = number
		default:
			unlinked = append(unlinked, number)
		}
		return none, err
	}, `WITH looked AS (SELECT e.number, s.entry IS NULL AS unlinked FROM entries e`+
		tx.joined("seals", "s", "entry", "e.number", " LIMIT 1")+`
			WHERE e.number > $1 ORDER BY e.number LIMIT $2)
		SELECT number, FALSE FROM looked WHERE unlinked
		UNION ALL SELECT COALESCE(MAX(number), 0), TRUE FROM looked ORDER BY 1`, after, limit)
	return unlinked, last, err
}

// instantOrNone scans a time that a row may lack.
type instantOrNone struct{ t *time.Time }

func (i instantOrNone) Scan(src any) error {
	if src == nil {
		return nil
	}
	return instant(i).Scan(src)
}
