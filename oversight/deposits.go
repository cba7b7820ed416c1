package oversight

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

var depositColumns = []Column{
	{"id", "Deposit", Ident},
	{"seenAt", "Seen", Moment},
	{"amount", "Amount", Figure},
	{"currency", "Currency", Plain},
	{"status", "Status", State},
	{"purpose", "For", Plain},
	{"fee", "Fee", Figure},
	{"address", "Address", Ident},
	{"hash", "Transaction", Ident},
	{"creditedAt", "Credited", Moment},
	{"account", "Account", Ident},
	{"metadata", "Metadata", Written},
}

func (r *reading) depositTable(list []bursar.Deposit, next int64) Table {
	t := Table{Key: "deposits", Title: "Deposits", Columns: depositColumns, Next: cursor(next), Empty: "No deposits."}
	for _, d := range list {
		t.Rows = append(t.Rows, []Cell{
			named("/deposits", d.ID),
			at(d.SeenAt),
			text(r.amount(d.Currency, d.Amount)),
			text(string(d.Currency)),
			depositStatus(d),
			text(purposes[d.Purpose]),
			text(r.amount(d.Currency, d.Fee)),
			text(d.Address.String()),
			text(d.TxID),
			at(d.ConfirmedAt),
			named("/accounts", d.AccountID),
			text(d.Metadata),
		})
	}
	return t
}

// purposes say for whom a deposit is.
var purposes = map[bursar.DepositPurpose]string{
	bursar.ForWallet:        "wallet",
	bursar.ForCharge:        "charge",
	bursar.ForInvoice:       "charge",
	bursar.ForAccount:       "account",
	bursar.ForOperatorFunds: "operator funds",
	bursar.ForUnattributed:  "unattributed",
	bursar.ForRefunded:      "refund to its sender",
	bursar.ForCold:          "move to cold",
	bursar.ForColdFunds:     "operator funds, cold",
	bursar.ForRefill:        "refill",
}

func depositStatus(d bursar.Deposit) Cell {
	tone := map[bursar.DepositStatus]Tone{bursar.DepositConfirmed: Good, bursar.DepositReversed: Bad,
		bursar.DepositOrphaned: Warn, bursar.DepositBelowMinimum: Warn}[d.Status]
	return Cell{Text: string(d.Status), Tone: tone}
}

func readDeposits(ctx context.Context, r *reading) (s Sheet, err error) {
	f := store.DepositFilter{
		Status:   chosen(r.asked, "status", bursar.DepositStatuses()),
		Currency: chosen(r.asked, "currency", r.codes()),
		From:     r.day("from", false),
		To:       r.day("to", true),
	}
	walk := r.walk()
	if r.err != nil {
		return s, r.err
	}
	s.Fields = append([]Field{
		r.field("status", "Status", "", options(bursar.DepositStatuses())...),
		r.field("currency", "Currency", "", options(r.codes())...),
		r.field("account", "Account", "ID"),
	}, r.period()...)
	list, next, err := r.walkDeposits(ctx, f, walk)
	s.Tables = []Table{r.depositTable(list, next)}
	return s, err
}

// walkDeposits reads those of one account by its index, however old they are, and those of several by a walk.
func (r *reading) walkDeposits(
	ctx context.Context, f store.DepositFilter, w store.Walk,
) (list []bursar.Deposit, next int64, err error) {
	if len(w.Accounts) != 1 {
		return r.tx.Deposits().Walk(ctx, f, w)
	}
	list, next, err = r.tx.Deposits().Select(ctx, w.Accounts[0], f, store.Page{Before: w.Before, Limit: w.Limit})
	return list, max(next, nextOf(list, w.Limit, func(d bursar.Deposit) int64 { return d.Number })), err
}

// nextOf returns the cursor behind a list that was read by an index.
func nextOf[T any](list []T, limit int, number func(T) int64) int64 {
	if len(list) < limit || len(list) == 0 {
		return 0
	}
	return number(list[len(list)-1])
}

func readDeposit(ctx context.Context, r *reading) (s Sheet, err error) {
	d, err := seen(ctx, r, r.tx.Deposits().ByID, func(d bursar.Deposit) bursar.ID { return d.AccountID })
	if err != nil {
		return s, err
	}
	s.Title = "Deposit of " + r.amount(d.Currency, d.Amount) + " " + string(d.Currency)
	s.Object, s.Account = d.ID, d.AccountID
	r.depositFacts(&s, d)
	w := way{reading: r, d: d}
	s.Steps, err = w.steps(ctx)
	if d.Purpose == bursar.ForUnattributed {
		s.Command = "bursar unattributed list"
	}
	s.Notes = w.notes
	return s, err
}

func (r *reading) depositFacts(s *Sheet, d bursar.Deposit) {
	s.fact("id", "Deposit", Ident, d.ID.String())
	s.fact("status", "Status", State, string(d.Status))
	s.fact("amount", "Amount", Figure, r.amount(d.Currency, d.Amount))
	s.fact("fee", "Fee", Figure, r.amount(d.Currency, d.Fee))
	s.fact("currency", "Currency", Plain, string(d.Currency))
	s.fact("chain", "Chain", Plain, string(d.Chain))
	s.fact("purpose", "For", Plain, purposes[d.Purpose])
	if !d.AccountID.IsZero() {
		c := named("/accounts", d.AccountID)
		s.link("account", "Account", Ident, c.Text, c.Link)
	}
	switch d.Purpose {
	case bursar.ForWallet:
		c := named("/wallets", d.WalletID)
		s.link("wallet", "Wallet", Ident, c.Text, c.Link)
	case bursar.ForCharge:
		c := named("/charges", d.WalletID)
		s.link("charge", "Charge", Ident, c.Text, c.Link)
	}
	s.fact("address", "Address", Ident, d.Address.String())
	s.fact("hash", "Transaction", Ident, d.TxID)
	s.fact("output", "Output", Figure, number(int64(d.Output)).Text)
	if d.Height > 0 {
		s.fact("height", "Block", Figure, number(int64(d.Height)).Text)
	}
	s.fact("block", "Block's hash", Ident, d.BlockHash)
	s.fact("seenAt", "Seen", Moment, instant(d.SeenAt))
	s.fact("creditedAt", "Credited", Moment, instant(d.ConfirmedAt))
	if d.Reversals > 0 {
		s.fact("reversals", "Reversals", Figure, number(int64(d.Reversals)).Text)
	}
	s.fact("metadata", "Metadata", Written, d.Metadata)
}

var unattributedColumns = []Column{
	{"id", "Deposit", Ident},
	{"seenAt", "Seen", Moment},
	{"amount", "Amount", Figure},
	{"currency", "Currency", Plain},
	{"status", "Status", State},
	{"address", "Arrived at", Ident},
	{"hash", "Transaction", Ident},
	{"resolution", "Resolution", Plain},
	{"command", "Resolve with", Command},
}

func readUnattributed(ctx context.Context, r *reading) (s Sheet, err error) {
	f := strayFilter{
		all:      chosen(r.asked, "show", []string{"open", "all"}) == "all",
		status:   chosen(r.asked, "status", bursar.DepositStatuses()),
		currency: chosen(r.asked, "currency", r.codes()),
		from:     r.day("from", false),
		to:       r.day("to", true),
	}
	page := r.page()
	if r.err != nil {
		return s, r.err
	}
	list, next, err := r.strays(ctx, f, page)
	if err != nil {
		return s, err
	}
	about, err := r.tx.Resolutions().About(ctx, list)
	if err != nil {
		return s, err
	}
	s.Fields = append([]Field{
		r.field("show", "Show", "", "open", "all"),
		r.field("status", "Status", "", options(bursar.DepositStatuses())...),
		r.field("currency", "Currency", "", options(r.codes())...),
	}, r.period()...)
	s.Command = "bursar unattributed list"
	s.Notes = []string{"Value at an address of ours that belongs to no wallet. It can be assigned to a customer, " +
		"refunded to its sender, or kept as operator funds."}
	t := Table{Key: "deposits", Title: "Unattributed deposits", Columns: unattributedColumns, Empty: "None.",
		Next: cursor(next)}
	for _, d := range list {
		resolution := about[d.ID]
		t.Rows = append(t.Rows, []Cell{
			named("/deposits", d.ID),
			at(d.SeenAt),
			text(r.amount(d.Currency, d.Amount)),
			text(string(d.Currency)),
			depositStatus(d),
			text(d.Address.String()),
			text(d.TxID),
			text(resolved(resolution)),
			text(resolveWith(d, resolution)),
		})
	}
	s.Tables = []Table{t}
	return s, nil
}

// strayFilter selects unattributed deposits.
type strayFilter struct {
	all      bool // what was resolved or left its chain too
	status   bursar.DepositStatus
	currency bursar.CurrencyCode
	from, to time.Time
}

func (f strayFilter) has(d bursar.Deposit) bool {
	return (f.status == "" || d.Status == f.status) && (f.currency == "" || d.Currency == f.currency) &&
		!d.SeenAt.Before(f.from) && (f.to.IsZero() || d.SeenAt.Before(f.to))
}

// straysOnce is how many unattributed deposits one page looks at.
const straysOnce = 20_000

// strays returns up to a page of the unattributed deposits that a filter selects, newest first. It looks at a bounded
// number: next is the cursor behind which another page continues, 0 at the end.
func (r *reading) strays(ctx context.Context, f strayFilter, page store.Page) (list []bursar.Deposit, next int64,
	err error) {
	part := store.Page{Before: page.Before, Limit: mostRows}
	for looked := 0; looked < straysOnce; looked += mostRows {
		some, err := r.tx.Deposits().Unattributed(ctx, f.all, part)
		if err != nil {
			return nil, 0, err
		}
		for _, d := range some {
			if part.Before = d.Number; !f.has(d) {
				continue
			}
			if list = append(list, d); len(list) == page.Limit {
				return list, d.Number, nil
			}
		}
		if len(some) < mostRows {
			return list, 0, nil
		}
	}
	return list, part.Before, nil
}

func resolved(n bursar.Resolution) string {
	if n.ID.IsZero() {
		return ""
	}
	what := map[bursar.ResolutionKind]string{bursar.ResolutionAssign: "assigned to a customer",
		bursar.ResolutionRefund: "refund to its sender", bursar.ResolutionKeep: "kept as operator funds"}[n.Kind]
	if n.Kind == bursar.ResolutionRefund || n.Status == bursar.ResolutionFailed {
		what += ", " + string(n.Status)
	}
	return what
}

func resolveWith(d bursar.Deposit, n bursar.Resolution) string {
	switch {
	case d.Status != bursar.DepositConfirmed:
		return ""
	case n.ID.IsZero() || n.Status == bursar.ResolutionFailed:
		return "bursar unattributed assign " + d.ID.String() + " --wallet WALLET"
	case n.Status == bursar.ResolutionQueued:
		return "bursar unattributed cancel " + d.ID.String()
	}
	return ""
}

// ignoreMissing makes a missing row no error.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// isCold reports whether an address is one of a cold wallet.
func (r *Reader) isCold(id bursar.ChainID, base string) bool {
	return slices.Contains(r.Cold[id], base)
}
