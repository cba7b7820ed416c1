package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Verdict says whether all liabilities are covered and whether the books are reliable. There is only one: the
// console, doctor, the command reconcile, metrics and alarms all show it.
type Verdict struct {
	At       time.Time
	Lines    []Position
	Faults   []store.BookFault // inconsistencies of the books
	Links    int64             // links of the books
	Head     []byte            // hash of the newest link
	Audited  int64             // the last audited link
	Checked  time.Time         // when the audit last had read everything
	Passed   time.Time         // when the audit's rolling pass last completed
	Problems []Problem         // all problems; empty: all is well
}

// Position is the state of one currency.
type Position struct {
	Currency  bursar.Currency
	Custody   bursar.Amount // custody in the books, hot and cold
	Overdrawn bursar.Amount // by how much more left custody than came; Custody is then zero
	Cold      bursar.Amount // the part of it that cold wallets hold
	Unswept   bursar.Amount // the part of it that waits at deposit addresses on the account model, as last compared
	Hot       bursar.Amount // the rest
	Owed      bursar.Amount // liabilities to customers, and unresolved deposits
	Own       bursar.Amount // operator funds: capital and fees, less network fees and losses
	Uncovered bursar.Amount // by how much liabilities, and what is overdrawn, exceed custody

	Chain *Line     // the newest comparison with the chain; nil: none yet
	Since time.Time // time of that comparison
}

// Problem is one problem. Kind is that of its alarm.
type Problem struct {
	Kind     string              `json:"kind"`
	Currency bursar.CurrencyCode `json:"currency,omitempty"`
	Message  string              `json:"message"`
}

// Kinds of problems, which are alarms too.
const (
	Uncovered  = "uncovered"
	Differs    = "books_differ"
	Contradict = "books_contradict"
	Unaudited  = "audit_late"
)

// late is how long links may wait for the audit.
const late = 5 * time.Minute

// OK reports whether there is no problem.
func (v Verdict) OK() bool { return len(v.Problems) == 0 }

// Evaluate computes the verdict from one consistent state. It reads some rows of each currency, independent of the
// number of customers.
func Evaluate(ctx context.Context, tx *store.Tx, registry *bursar.Registry) (Verdict, error) {
	v := Verdict{At: tx.Now()}
	if err := v.readAudit(ctx, tx); err != nil {
		return v, err
	}
	chains, err := tx.Reconciliations().All(ctx)
	if err != nil {
		return v, err
	}
	for _, currency := range registry.All() {
		pos, err := position(ctx, tx, currency)
		if err != nil {
			return v, err
		}
		if compared, found := chains[currency.Code]; found {
			line := Line{
				Chain:       currency.Chain,
				Currency:    currency.Code,
				Height:      compared.Height,
				Custody:     compared.Custody,
				Unbooked:    compared.Unbooked,
				Unsettled:   compared.Unsettled,
				OnChain:     compared.OnChain,
				Cold:        compared.Cold,
				ColdOnChain: compared.ColdOnChain,
				Liabilities: pos.Owed,
			}
			if err := line.weigh(); err != nil {
				return v, err
			}
			pos.Chain, pos.Since, pos.Unswept = &line, compared.At, compared.Unswept
			pos.Hot = pos.Hot.SubOrZero(compared.Unswept)
		}
		v.Lines = append(v.Lines, pos)
		v.evaluate(pos)
	}
	return v, nil
}

func (v *Verdict) readAudit(ctx context.Context, tx *store.Tx) error {
	head, err := tx.Links().Head(ctx)
	if err != nil {
		return err
	}
	audit, err := tx.Audits().Get(ctx)
	if err != nil {
		return err
	}
	v.Links, v.Head, v.Audited, v.Checked, v.Passed = head.Number, head.Hash, audit.Link, audit.CheckedAt, audit.PassedAt
	if v.Faults, err = tx.BookFaults().List(ctx, 100); err != nil {
		return err
	}
	for _, f := range v.Faults {
		v.Problems = append(v.Problems, Problem{Contradict, f.Asset, f.Message})
	}
	if v.Links > v.Audited && len(v.Faults) == 0 && !v.Checked.IsZero() && v.At.Sub(v.Checked) > late {
		v.Problems = append(v.Problems, Problem{Unaudited, "",
			fmt.Sprintf("the audit has read %d of %d links of the books and has not completed a pass since %s: check that "+
				"`bursar serve` runs",
				v.Audited, v.Links, v.Checked.Format(time.RFC3339))})
	}
	return nil
}

func position(ctx context.Context, tx *store.Tx, c bursar.Currency) (p Position, err error) {
	p.Currency = c
	if p.Custody, p.Overdrawn, err = tx.Ledger().Held(ctx, c.Code); err != nil {
		return p, err
	}
	cold, err := tx.Ledger().Balance(ctx, ledger.CustodyCold, c.Code)
	if err != nil {
		return p, err
	}
	p.Cold, _ = cold.Net(ledger.Asset)
	p.Hot = p.Custody.SubOrZero(p.Cold)
	if p.Owed, err = tx.Custody().LiabilitySum(ctx, c.Code); err != nil {
		return p, err
	}
	own, err := tx.OperatorFunds().Get(ctx, c.Code)
	if err != nil {
		return p, err
	}
	due, err := p.Owed.Add(p.Overdrawn)
	p.Own, p.Uncovered = own.Amount, due.SubOrZero(p.Custody)
	return p, err
}

// evaluate records the problems of a currency.
func (v *Verdict) evaluate(p Position) {
	c := p.Currency
	if !p.Uncovered.IsZero() {
		held := c.Text(p.Custody) + " are held"
		if !p.Overdrawn.IsZero() {
			held = "and " + c.Text(p.Overdrawn) + " more were paid than received"
		}
		v.Problems = append(v.Problems, Problem{Uncovered, c.Code,
			fmt.Sprintf("liabilities exceed custody by %s: %s are owed, %s. Send at least the difference as operator funds",
				c.Text(p.Uncovered), c.Text(p.Owed), held)})
	}
	if p.Chain != nil && !p.Chain.Balanced() {
		v.Problems = append(v.Problems, Problem{Differs, c.Code, p.Chain.differs(c)})
	}
}

// differs describes the difference between a chain and the books.
func (l Line) differs(c bursar.Currency) string {
	if l.Missing.IsZero() && l.Surplus.IsZero() {
		return fmt.Sprintf("cold wallets of %s hold %s at block %d, and the books expect %s there: a spend or a move of "+
			"theirs was not seen. `bursar reconcile` names the addresses", l.Chain, c.Exact(l.ColdOnChain), l.Height,
			c.Text(l.Cold))
	}
	more, than := l.Surplus, "more than"
	if !l.Missing.IsZero() {
		more, than = l.Missing, "less than"
	}
	expected, err := l.expects()
	if err != nil {
		return fmt.Sprintf("the books of %s overflow", c.Code)
	}
	return fmt.Sprintf("%s holds %s %s %s the books expect at block %d: %s against %s. `bursar reconcile` names the "+
		"addresses",
		l.Chain, c.Exact(more), c.Code, than, l.Height, c.Exact(l.OnChain), c.Exact(expected))
}

// Log raises an alarm for every uncovered currency and for a late audit, and closes those that are over. The comparison
// raises the alarm about differences from the chain, the audit that about inconsistent books.
func (v Verdict) Log(ctx context.Context, tx *store.Tx) error {
	for _, kind := range []string{Uncovered, Unaudited} {
		open, err := tx.Alarms().OfKind(ctx, kind)
		if err != nil {
			return err
		}
		for _, a := range open {
			if !slices.ContainsFunc(v.Problems, func(p Problem) bool { return p.Kind == kind && string(p.Currency) == a.Ref }) {
				if err := tx.Alarms().Resolve(ctx, kind, a.Ref); err != nil {
					return err
				}
			}
		}
	}
	for _, p := range v.Problems {
		var err error
		switch p.Kind {
		case Uncovered:
			err = tx.Alarms().Raise(ctx, store.Alarm{
				Chain:   v.chainOf(p.Currency),
				Kind:    Uncovered,
				Ref:     string(p.Currency),
				Message: p.Message,
			})
		case Unaudited:
			err = tx.Alarms().Raise(ctx, store.Alarm{Kind: Unaudited, Message: p.Message})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v Verdict) chainOf(code bursar.CurrencyCode) bursar.ChainID {
	for _, line := range v.Lines {
		if line.Currency.Code == code {
			return line.Currency.Chain
		}
	}
	return ""
}
