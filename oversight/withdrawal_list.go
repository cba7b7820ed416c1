package oversight

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

var withdrawalColumns = []Column{
	{"id", "Withdrawal", Ident},
	{"createdAt", "Requested", Moment},
	{"amount", "Amount", Figure},
	{"currency", "Currency", Plain},
	{"status", "Status", State},
	{"waitsFor", "Waits for", Plain},
	{"fee", "Fee", Figure},
	{"address", "To", Ident},
	{"hash", "Transaction", Ident},
	{"completedAt", "Ended", Moment},
	{"account", "Account", Ident},
	{"requestedBy", "Requested by", Written},
	{"reference", "Reference", Written},
	{"metadata", "Metadata", Written},
}

func (r *reading) withdrawalTable(ctx context.Context, list []bursar.Withdrawal, next int64) (Table, error) {
	t := Table{Key: "withdrawals", Title: "Withdrawals", Columns: withdrawalColumns, Next: cursor(next),
		Empty: "No withdrawals."}
	ids := make([]bursar.ID, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	waiting, err := r.tx.Outgoing().Waits(ctx, ids)
	for _, w := range list {
		t.Rows = append(t.Rows, []Cell{
			named("/withdrawals", w.ID),
			at(w.CreatedAt),
			text(r.amount(w.Currency, w.Amount)),
			text(string(w.Currency)),
			withdrawalStatus(w.Status),
			text(string(waiting[w.ID])),
			text(r.amount(w.Currency, w.Fee)),
			text(w.Address.String()),
			text(transaction(w.TxID)),
			at(w.CompletedAt),
			named("/accounts", w.AccountID),
			text(w.RequestedBy),
			text(w.Reference),
			text(w.Metadata),
		})
	}
	return t, err
}

func withdrawalStatus(s bursar.WithdrawalStatus) Cell {
	tone := map[bursar.WithdrawalStatus]Tone{bursar.WithdrawalPendingApproval: Warn, bursar.WithdrawalConfirmed: Good,
		bursar.WithdrawalFailed: Bad}[s]
	return Cell{Text: string(s), Tone: tone}
}

// transaction leaves out the hash of a transfer within the service, which no chain knows.
func transaction(hash string) string {
	if strings.HasPrefix(hash, "internal:") {
		return ""
	}
	return hash
}

func readWithdrawals(ctx context.Context, r *reading) (s Sheet, err error) {
	f := store.WithdrawalFilter{
		Status:    chosen(r.asked, "status", bursar.WithdrawalStatuses()),
		Currency:  chosen(r.asked, "currency", r.codes()),
		Reference: r.text("reference"),
		From:      r.day("from", false),
		To:        r.day("to", true),
	}
	walk := r.walk()
	if r.err != nil {
		return s, r.err
	}
	s.Fields = append([]Field{
		r.field("status", "Status", "", options(bursar.WithdrawalStatuses())...),
		r.field("currency", "Currency", "", options(r.codes())...),
		r.field("reference", "Reference", ""),
		r.field("account", "Account", "ID"),
	}, r.period()...)
	s.Command = "bursar withdrawal list"
	list, next, err := r.walkWithdrawals(ctx, f, walk)
	if err != nil {
		return s, err
	}
	t, err := r.withdrawalTable(ctx, list, next)
	s.Tables = []Table{t}
	return s, err
}
