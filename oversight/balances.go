package oversight

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
)

var balanceColumns = []Column{
	{"currency", "Currency", Plain},
	{"chain", "Chain", Plain},
	{"verdict", "Covered", State},
	{"owed", "Owed", Figure},
	{"custody", "Held", Figure},
	{"hot", "Hot", Figure},
	{"unswept", "Unswept", Figure},
	{"cold", "Cold", Figure},
	{"unattributed", "Unattributed", Figure},
	{"own", "Own funds", Figure},
	{"fees", "Fees earned", Figure},
	{"gas", "Network fees paid", Figure},
	{"value", "Held, in the reference currency", Figure},
	{"rate", "Rate", Figure},
	{"rateSource", "Rate from", Plain},
	{"rateAt", "Rate of", Moment},
	{"comparedAt", "Compared with the chain", Moment},
}

// books are the verdict and the operator's side of the books.
type books struct {
	verdict reconcile.Verdict
	own     map[ledger.Key]ledger.Balance
}

func (r *reading) books(ctx context.Context) (b books, err error) {
	if b.verdict, err = reconcile.Evaluate(ctx, r.tx, r.Registry); err != nil {
		return b, err
	}
	b.own, err = r.tx.Ledger().OperatorBalances(ctx)
	return b, err
}

// net returns the balance of an account of the operator; of one that is below zero, nothing.
func (b books) net(account ledger.Account, code bursar.CurrencyCode) bursar.Amount {
	amount, negative := b.own[ledger.Key{Account: account, Asset: code}].Net(account.Type())
	if negative {
		return bursar.Amount{}
	}
	return amount
}

func (b books) sum(code bursar.CurrencyCode, accounts ...ledger.Account) (sum bursar.Amount) {
	for _, a := range accounts {
		if more, err := sum.Add(b.net(a, code)); err == nil {
			sum = more
		}
	}
	return sum
}

// balanceTable lists the currencies that anything was ever booked in.
func (r *reading) balanceTable(b books) Table {
	t := Table{Key: "balances", Title: "By currency", Columns: balanceColumns, Empty: "Nothing was received yet."}
	for _, p := range b.verdict.Lines {
		c := p.Currency
		if p.Custody.IsZero() && p.Owed.IsZero() && p.Own.IsZero() {
			continue
		}
		worth := r.worth(c.Code)
		t.Rows = append(t.Rows, []Cell{
			text(string(c.Code)),
			text(string(c.Chain)),
			covered(p),
			text(c.Exact(p.Owed)),
			text(c.Exact(p.Custody)),
			text(c.Exact(p.Hot)),
			text(c.Exact(p.Unswept)),
			text(c.Exact(p.Cold)),
			text(c.Exact(b.sum(c.Code, ledger.Unattributed, ledger.Refunding))),
			text(c.Exact(p.Own)),
			text(c.Exact(b.fees(p))),
			text(c.Exact(b.net(ledger.NetworkFees, c.Code))),
			text(worth.of(p.Custody, c)),
			text(worth.Rate.String()),
			text(worth.Source),
			at(worth.At),
			at(p.Since),
		})
	}
	return t
}

func covered(p reconcile.Position) Cell {
	switch {
	case !p.Uncovered.IsZero():
		return Cell{Text: "short by " + p.Currency.Exact(p.Uncovered), Tone: Bad}
	case p.Chain != nil && !p.Chain.Balanced():
		return Cell{Text: "differs from the chain", Tone: Bad}
	case p.Chain == nil:
		return Cell{Text: "not compared yet", Tone: Warn}
	}
	return Cell{Text: "covered", Tone: Good}
}

func (r *Reader) worth(code bursar.CurrencyCode) Worth {
	if r.Worth == nil {
		return Worth{}
	}
	return r.Worth(code)
}

// of writes a value with its currency; empty where the rate is not known.
func (w Worth) of(a bursar.Amount, c bursar.Currency) string {
	v, known := w.value(a, c)
	if !known {
		return ""
	}
	return w.Unit.Exact(v) + " " + string(w.Unit.Code)
}

func (w Worth) value(a bursar.Amount, c bursar.Currency) (bursar.Amount, bool) {
	if !w.Rate.IsKnown() {
		return bursar.Amount{}, false
	}
	v, err := w.Rate.Value(a, c, w.Unit)
	return v, err == nil
}

// totalsAtHome is how many of the totals Home shows: what is held and owed.
const totalsAtHome = 2

func list[T ~string](values []T) (text string) {
	for i, v := range values {
		if i > 0 {
			text += ", "
		}
		text += string(v)
	}
	return text
}

func readBalances(ctx context.Context, r *reading) (s Sheet, err error) {
	code := chosen(r.asked, "currency", r.codes())
	if r.err != nil {
		return s, r.err
	}
	b, err := r.books(ctx)
	if err != nil {
		return s, err
	}
	for _, p := range b.verdict.Problems {
		s.alert(Bad, p.Message, "")
	}
	b.sayCovered(&s)
	r.total(b).say(&s, len(totalled))
	s.fact("audited", "Links of the books audited", Figure, fmt.Sprintf("%d of %d", b.verdict.Audited, b.verdict.Links))
	s.fact("auditedAt", "Audited", Moment, instant(b.verdict.Checked))
	s.Tables = []Table{r.balanceTable(b)}
	s.Fields = []Field{r.field("currency", "Charts of", "", options(r.codes())...)}
	s.Command = "bursar reconcile"
	return s, r.addCharts(ctx, &s, r.charted(b, code))
}

// sayCovered says that all is covered, and where that rests on the books alone because no chain was asked yet.
func (b books) sayCovered(s *Sheet) {
	if !b.verdict.OK() {
		return
	}
	var waiting []bursar.CurrencyCode
	for _, p := range b.verdict.Lines {
		if p.Chain == nil {
			waiting = append(waiting, p.Currency.Code)
		}
	}
	if len(waiting) > 0 {
		s.alert(Warn, "By the books everything that is owed is held. Not compared with a chain yet: "+list(waiting)+".", "")
		return
	}
	s.alert(Good, "Covered: everything that is owed is held, and no comparison with a chain differs.", "")
}

// charted is the currency of the charts: the one that was chosen, or else the first with a balance.
func (r *reading) charted(b books, code bursar.CurrencyCode) bursar.CurrencyCode {
	if code != "" {
		return code
	}
	for _, p := range b.verdict.Lines {
		if !p.Custody.IsZero() {
			return p.Currency.Code
		}
	}
	return ""
}

func (r *reading) addCharts(ctx context.Context, s *Sheet, code bursar.CurrencyCode) error {
	if code == "" {
		return nil
	}
	c, err := r.Registry.Get(code)
	if err != nil {
		return err
	}
	days := month(r.tx.Now())
	figures, whole, err := r.tx.DayFigures().Of(ctx, days)
	if err != nil {
		return err
	}
	if !whole {
		s.Notes = append(s.Notes, "The charts do not contain the newest postings yet: these are summed in the background.")
	}
	s.Charts = charts(c, days, figures)
	return nil
}
