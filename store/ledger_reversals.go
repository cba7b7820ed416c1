package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar/ledger"
)

// ReversalNumber returns how often the thing of that name was reversed by entries of a kind, which are named
// <name>/1, <name>/2 and so on.
func (tx Ledger) ReversalNumber(ctx context.Context, kind ledger.Kind, name string) (int, error) {
	for reversals := 0; ; reversals++ {
		var there bool
		err := tx.row(ctx, "look up entry", `SELECT EXISTS (SELECT 1 FROM entries WHERE kind = $1 AND ref = $2)`,
			[]any{string(kind), fmt.Sprintf("%s/%d", name, reversals+1)}, &there)
		if err != nil || !there {
			return reversals, err
		}
	}
}

// Booked returns the postings of the entry of that kind and reference, and whether it is in the books. It has none
// there once they are in an archive.
func (tx Ledger) Booked(ctx context.Context, e ledger.Entry) (postings []ledger.Posting, is bool, err error) {
	postings, err = rows(ctx, tx.Tx, "read the postings of an entry", func(s scanner) (p ledger.Posting, err error) {
		return p, s.Scan(&p.Debit, &p.Credit, &p.Asset, &p.Amount)
	}, `SELECT p.debit, p.credit, p.asset, p.amount FROM entries e JOIN postings p ON p.entry = e.number
		WHERE e.kind = $1 AND e.ref = $2 ORDER BY p.place`, string(e.Kind), string(e.Ref))
	if err != nil || len(postings) > 0 {
		return postings, true, err
	}
	is, err = tx.IsPosted(ctx, e)
	return nil, is, err
}

// ReversalNumbers is ReversalNumber for several things, by name. Where none was reversed it is one statement.
func (tx Ledger) ReversalNumbers(ctx context.Context, kind ledger.Kind, names []string) (map[string]int, error) {
	reversals := make(map[string]int, len(names))
	for chunk := range parts(tx.Tx, names) {
		for asked := chunk; len(asked) > 0; {
			var err error
			if asked, err = tx.reversedAgain(ctx, kind, asked, reversals); err != nil {
				return nil, err
			}
		}
	}
	return reversals, nil
}

// reversedAgain counts one reversal more of those things that were reversed once more than reversals says, and returns
// them.
func (tx Ledger) reversedAgain(
	ctx context.Context, kind ledger.Kind, names []string, reversals map[string]int,
) (again []string, err error) {
	refs := make([]any, 0, 2*len(names))
	for _, name := range names {
		refs = append(refs, string(kind), fmt.Sprintf("%s/%d", name, reversals[name]+1))
	}
	source, those, args, err := sought(tx.Tx, "entries", "e", []string{"kind", "ref"}, refs)
	if err != nil {
		return nil, err
	}
	list, err := rows(ctx, tx.Tx, "look up entries", scanOne[string], `SELECT e.ref FROM `+source+` WHERE `+those, args...)
	for _, ref := range list {
		name := ref[:strings.LastIndexByte(ref, '/')]
		reversals[name]++
		again = append(again, name)
	}
	return again, err
}
