package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
)

// anyTime is a condition that every proposal meets, by which SQLite searches the index where it would scan it.
const anyTime = `created_at > 0`

// List returns proposals, newest first: with a status only those, and of accounts only theirs; no accounts are all.
func (tx Proposals) List(
	ctx context.Context, status ProposalStatus, accounts []bursar.ID, limit int,
) ([]Proposal, error) {
	if status == "" {
		return tx.newest(ctx, "list proposals", anyTime, nil, accounts, limit)
	}
	if status == ProposalPending || status == ProposalApproved { // by the index of those that wait, which are few
		return tx.newest(ctx, "list "+string(status)+" proposals", `status = '`+string(status)+
			`' AND status IN ('pending', 'approved') AND `+anyTime, nil, accounts, limit)
	}
	return tx.newest(ctx, "list proposals of a status", `status = $2`, []any{string(status)}, accounts, limit)
}

// Page returns proposals that are older than one, newest first; the newest for the zero one. Those of accounts are only
// theirs; no accounts are all.
func (tx Proposals) Page(
	ctx context.Context, accounts []bursar.ID, before Proposal, limit int,
) ([]Proposal, error) {
	if before.ID.IsZero() {
		return tx.newest(ctx, "list the newest proposals", anyTime, nil, accounts, limit)
	}
	return tx.newest(ctx, "list older proposals", `(created_at, id) < ($2, $3)`,
		[]any{micros(before.CreatedAt), before.ID}, accounts, limit)
}

// newest returns the newest proposals of a condition, whose arguments are $2 and those behind it. Each account is asked
// for its own, by the index of those: one that has few is not looked for among all.
func (tx Proposals) newest(ctx context.Context, what, where string, args []any, accounts []bursar.ID, limit int) (
	list []Proposal, err error) {
	const order = ` ORDER BY created_at DESC, id DESC LIMIT $1`
	args = append([]any{limit}, args...)
	if len(accounts) == 0 {
		return proposedColumns.rows(ctx, tx.Tx, what, `FROM proposals WHERE `+where+order, args...)
	}
	for _, account := range accounts {
		of := fmt.Sprintf(` AND account_id = $%d`, len(args)+1)
		some, err := proposedColumns.rows(ctx, tx.Tx, what+" of an account", `FROM proposals WHERE `+where+of+order,
			slices.Concat(args, []any{account})...)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b Proposal) int {
		if !a.CreatedAt.Equal(b.CreatedAt) {
			return b.CreatedAt.Compare(a.CreatedAt)
		}
		return bytes.Compare(b.ID[:], a.ID[:])
	})
	return list[:min(limit, len(list))], nil
}
