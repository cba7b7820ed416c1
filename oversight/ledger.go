package oversight

import (
	"context"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// operatorAccounts are the accounts of the operator's side of the books.
var operatorAccounts = []ledger.Account{ledger.Custody, ledger.CustodyCold, ledger.Unattributed, ledger.Refunding,
	ledger.BelowMinimum, ledger.Capital, ledger.Drawings, ledger.DepositFees, ledger.WithdrawalFees, ledger.NetworkFees,
	ledger.Losses}

func readLedger(ctx context.Context, r *reading) (s Sheet, err error) {
	customer, page := r.id("account"), r.page()
	book := chosen(r.asked, "book", operatorAccounts)
	q := store.LineQuery{
		Asset: chosen(r.asked, "currency", r.codes()),
		Since: r.day("from", false),
		Until: r.day("to", true),
	}
	if r.err != nil {
		return s, r.err
	}
	if !customer.IsZero() {
		q.Accounts = append(q.Accounts, ledger.Available(customer), ledger.Held(customer))
	}
	if book != "" {
		q.Accounts = append(q.Accounts, book)
	}
	s.Fields = append([]Field{
		r.field("book", "Account of the books", "", options(operatorAccounts)...),
		r.field("account", "Customer's account", "ID"),
		r.field("currency", "Currency", "", options(r.codes())...),
	}, r.period()...)
	s.Command = "bursar ledger export"
	lines, next, err := r.tx.Statements().Select(ctx, q, page)
	if err != nil {
		return s, err
	}
	trial, err := r.trial(ctx)
	s.Tables = []Table{r.lineTable(lines, next, page), trial}
	return s, err
}

func (r *reading) lineTable(lines []store.Line, next int64, page store.Page) Table {
	t := Table{Key: "postings", Title: "Postings", Empty: "None.",
		Next: cursor(max(next, nextOf(lines, page.Limit, store.Line.Number))), Columns: []Column{
			{"entry", "Entry", Figure},
			{"at", "When", Moment},
			{"kind", "Kind", Plain},
			{"debit", "Debit", Ident},
			{"credit", "Credit", Ident},
			{"amount", "Amount", Figure},
			{"currency", "Currency", Plain},
			{"reference", "Of", Ident},
		}}
	for _, l := range lines {
		t.Rows = append(t.Rows, []Cell{
			number(l.Entry),
			at(l.At),
			text(string(l.Kind)),
			text(string(l.Debit)),
			text(string(l.Credit)),
			text(r.amount(l.Asset, l.Amount)),
			text(string(l.Asset)),
			text(string(l.Ref)),
		})
	}
	return t
}

// trial lists the operator's accounts with what is owed to customers: in each currency debits and credits agree.
func (r *reading) trial(ctx context.Context) (Table, error) {
	t := Table{Key: "trial", Title: "Trial balance", Empty: "Nothing is booked yet.", Columns: []Column{
		{"currency", "Currency", Plain},
		{"account", "Account", Plain},
		{"type", "Type", Plain},
		{"debit", "Debit balance", Figure},
		{"credit", "Credit balance", Figure},
	}, Note: "`bursar ledger verify` reads every entry and every balance; this page reads the balances."}
	balances, err := r.tx.Ledger().OperatorBalances(ctx)
	if err != nil {
		return t, err
	}
	for _, c := range r.Registry.All() {
		liabilities, err := r.tx.Custody().LiabilitySum(ctx, c.Code)
		if err != nil {
			return t, err
		}
		t.Rows = append(t.Rows, r.trialRows(c, balances, liabilities)...)
	}
	return t, nil
}

func (r *reading) trialRows(
	c bursar.Currency, balances map[ledger.Key]ledger.Balance, liabilities bursar.Amount,
) (rows [][]Cell) {
	customers := liabilities
	for _, account := range operatorAccounts {
		b, is := balances[ledger.Key{Account: account, Asset: c.Code}]
		if !is || b.Debits == b.Credits {
			continue
		}
		rows = append(rows, trialRow(c, string(account), account.Type(), b))
		if net, negative := b.Net(ledger.Liability); account.Type() == ledger.Liability && !negative {
			customers = customers.SubOrZero(net)
		}
	}
	if !customers.IsZero() {
		rows = append(rows, trialRow(c, "customers", ledger.Liability, ledger.Balance{Credits: customers}))
	}
	return rows
}

func trialRow(c bursar.Currency, name string, of ledger.Type, b ledger.Balance) []Cell {
	debit, credit := Cell{}, Cell{}
	if less := b.Debits.SubOrZero(b.Credits); !less.IsZero() {
		debit = text(c.Exact(less))
	} else {
		credit = text(c.Exact(b.Credits.SubOrZero(b.Debits)))
	}
	return []Cell{text(string(c.Code)), text(name), text(string(of)), debit, credit}
}

func readSettings(ctx context.Context, r *reading) (s Sheet, err error) {
	s.Notes = []string{"What this process runs with. What may be a secret is not shown."}
	set := Table{Key: "settings", Title: "What is configured", Empty: "Nothing: every value is the default.",
		Columns: []Column{{"path", "Setting", Plain}, {"value", "Value", Plain}, {"source", "From", Plain}}}
	for _, v := range r.Settings {
		set.Rows = append(set.Rows, []Cell{text(v.Path), text(v.Value), text(v.Source)})
	}
	rules, err := r.tx.LimitRules().List(ctx, mostRows)
	limits := r.limitTable("Limits that operators set", "None: those of the configuration count.", rules, nil)
	s.Tables = []Table{r.currencyTable(), limits, set}
	s.Command = "bursar doctor"
	return s, err
}

// currencyTable lists the limits and fees that are in effect, the defaults among them.
func (r *reading) currencyTable() Table {
	t := Table{Key: "currencies", Title: "Currencies", Columns: []Column{
		{"currency", "Currency", Plain},
		{"chain", "Chain", Plain},
		{"contract", "Contract", Ident},
		{"minimum", "Smallest deposit", Figure},
		{"withdrawalMinimum", "Smallest withdrawal", Figure},
		{"withdrawalMaximum", "Largest withdrawal", Figure},
		{"approvalAbove", "Approval above", Figure},
		{"depositFee", "Fee on deposits", Plain},
		{"withdrawalFee", "Fee on withdrawals", Plain},
		{"confirmations", "Confirmations", Figure},
		{"quorum", "Second opinion", Plain},
		{"hotCeiling", "Hot wallet's ceiling", Figure},
		{"hotTarget", "Hot wallet's target", Figure},
	}}
	for _, c := range r.Registry.All() {
		t.Rows = append(t.Rows, []Cell{
			text(string(c.Code)),
			text(string(c.Chain)),
			text(c.Contract),
			text(c.Exact(c.Minimum)),
			text(c.Exact(c.WithdrawalMinimum)),
			bound(c, c.WithdrawalMaximum),
			bound(c, c.ApprovalAbove),
			text(feeText(c, c.DepositFee)),
			text(feeText(c, c.WithdrawalFee)),
			number(c.Confirmations.Default),
			text(quorum(c)),
			bound(c, c.HotCeiling),
			bound(c, c.HotTarget),
		})
	}
	return t
}

// bound writes a limit; zero is none.
func bound(c bursar.Currency, a bursar.Amount) Cell {
	if a.IsZero() {
		return Cell{}
	}
	return text(c.Exact(a))
}

func quorum(c bursar.Currency) string {
	if c.CreditQuorum.Endpoints < 2 {
		return "none"
	}
	return strconv.Itoa(c.CreditQuorum.Endpoints) + " nodes above " + c.Exact(c.CreditQuorum.Above)
}

func feeText(c bursar.Currency, f bursar.Fee) string {
	var parts []string
	if f.Network {
		parts = append(parts, "network")
	}
	if f.Millionths > 0 {
		parts = append(parts, bursar.Units(uint64(f.Millionths)).Decimal(4, 0)+" %")
	}
	if !f.Fixed.IsZero() {
		parts = append(parts, c.Exact(f.Fixed))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " + ")
}
