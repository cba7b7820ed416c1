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
	for round := 0; ; round++ {
		var there bool
		err := tx.row(ctx, "look up entry", `SELECT EXISTS (SELECT 1 FROM entries WHERE kind = $1 AND ref = $2)`,
			[]any{string(kind), fmt.Sprintf("%s/%d", name, round+1)}, &there)
		if err != nil || !there {
			return round, err
		}
	}
}

// ReversalNumbers is ReversalNumber for several things, by name. Where none was reversed it is one statement.
func (tx Ledger) ReversalNumbers(ctx context.Context, kind ledger.Kind, names []string) (map[string]int, error) {
	rounds := make(map[string]int, len(names))
	for chunk := range parts(tx.Tx, names) {
		for asked := chunk; len(asked) > 0; {
			var err error
			if asked, err = tx.reversedAgain(ctx, kind, asked, rounds); err != nil {
				return nil, err
			}
		}
	}
	return rounds, nil
}

// reversedAgain counts one round more of those things that were reversed once more than rounds says, and returns them.
func (tx Ledger) reversedAgain(
	ctx context.Context, kind ledger.Kind, names []string, rounds map[string]int,
) (again []string, err error) {
	refs := make([]any, 0, 2*len(names))
	for _, name := range names {
		refs = append(refs, string(kind), fmt.Sprintf("%s/%d", name, rounds[name]+1))
	}
	source, those, args, err := sought(tx.Tx, "entries", "e", []string{"kind", "ref"}, refs)
	if err != nil {
		return nil, err
	}
	list, err := rows(ctx, tx.Tx, "look up entries", scanOne[string], `SELECT e.ref FROM `+source+` WHERE `+those, args...)
	for _, ref := range list {
		name := ref[:strings.LastIndexByte(ref, '/')]
		rounds[name]++
		again = append(again, name)
	}
	return again, err
}
