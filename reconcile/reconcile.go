// Package reconcile compares the books with the chains: for each currency, custody in the books and the final balance
// of our addresses on the chain, with every difference explained line by line.
//
// It owns the comparison and the alarms about differences, and never changes anything else. Its invariant: each line
// compares the books and the chain as of one final block.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Line is one currency as of one final block. Custody + Unbooked − Unsettled should equal OnChain.
type Line struct {
	Chain       bursar.ChainID      `json:"chain"`
	Currency    bursar.CurrencyCode `json:"currency"`
	Height      uint64              `json:"height"`
	Custody     bursar.Amount       `json:"custody"`     // custody in the books
	Unbooked    bursar.Amount       `json:"unbooked"`    // received in a final block, not yet booked
	Unsettled   bursar.Amount       `json:"unsettled"`   // sent in a final block, not yet taken off custody
	OnChain     bursar.Amount       `json:"onChain"`     // balance of our addresses on the chain
	Liabilities bursar.Amount       `json:"liabilities"` // liabilities to customers and unresolved deposits
	Missing     bursar.Amount       `json:"missing"`     // by how much the chain holds less than the books
	Surplus     bursar.Amount       `json:"surplus"`     // by how much it holds more

	Cold        bursar.Amount `json:"cold"`        // what the books expect at cold wallets; part of the above
	ColdOnChain bursar.Amount `json:"coldOnChain"` // what they hold on the chain
	Unswept     bursar.Amount `json:"unswept"`     // what waits at deposit addresses by the books, on the account model

	asked int // number of addresses requested from the chain

	Differences []Difference // addresses of an unbalanced line, the largest difference first
}

// Balanced reports whether the books and the chain agree to the unit.
func (l Line) Balanced() bool {
	return l.Missing.IsZero() && l.Surplus.IsZero() && l.Cold == l.ColdOnChain
}

// Reconciler compares one chain.
type Reconciler struct {
	DB       *store.DB
	Chain    chain.Chain
	Registry *bursar.Registry
	Hot      string
	Old      []string // the hot wallets of earlier epochs
	Cold     []string // the addresses of the chain's cold wallets
	// All also compares the address of every wallet of the chain's family, not only those that ever received a
	// transfer. It finds what contracts sent, in a block that could not be traced, to an address that the block does
	// not contain. It makes as many requests as there are wallets.
	All bool
}

// basesAtOnce bounds how many addresses one request to a node has.
const basesAtOnce = 500

// ErrMoved is returned if no comparison is possible now: the chain moved on during the requests, or a reorg is in
// progress.
var ErrMoved = errors.New("the chain has moved on")

// tries bounds how often one comparison looks for a moment at which node and books have the same final block.
const tries = 5

// Run compares every currency of the chain as of the newest block that is final on the node and recorded here. What is
// booked in the meantime belongs to later blocks, and is left to the next comparison.
//
// Errors: ErrMoved if the node's block at that height differs from the recorded one.
func (r *Reconciler) Run(ctx context.Context) ([]Line, error) {
	m, err := r.moment(ctx)
	for i := 1; i < tries && errors.Is(err, ErrMoved); i++ {
		m, err = r.moment(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i, currency := range r.Registry.On(r.Chain.Capabilities().ID) {
		if err := r.compare(ctx, currency, &m, i); err != nil {
			return nil, fmt.Errorf("reconcile %s: %w", currency.Code, err)
		}
	}
	return m.lines, r.log(ctx, m.lines)
}

// moment is the state of the books as of a final block, all read at once.
type moment struct {
	at    chain.BlockRef
	lines []Line
	bases []string // the addresses to request
}

// moment requests the newest final block from the node and reads the books, which must not have moved on in the
// meantime.
func (r *Reconciler) moment(ctx context.Context) (m moment, err error) {
	id := r.Chain.Capabilities().ID
	var state store.ChainState
	if err := r.DB.View(ctx, func(tx *store.Tx) (err error) {
		state, err = tx.Chains().State(ctx, id)
		return err
	}); err != nil {
		return m, err
	}
	at, err := r.Chain.At(ctx, state.Final)
	if err != nil {
		return m, fmt.Errorf("request block %d: %w", state.Final, err)
	}
	err = r.DB.View(ctx, func(tx *store.Tx) error {
		m = moment{at: at, bases: slices.Concat([]string{r.Hot}, r.Old, r.Cold)}
		if err := stillAt(ctx, tx, id, at); err != nil {
			return err
		}
		for _, currency := range r.Registry.On(id) {
			line := Line{Chain: id, Currency: currency.Code, Height: at.Height}
			if err := r.readBooks(ctx, tx, currency, &line); err != nil {
				return fmt.Errorf("reconcile %s: %w", currency.Code, err)
			}
			m.lines = append(m.lines, line)
		}
		return r.eachBase(ctx, tx, func(base string) {
			if base != r.Hot && !slices.Contains(r.Old, base) && !slices.Contains(r.Cold, base) {
				m.bases = append(m.bases, base)
			}
		})
	})
	return m, err
}

// stillAt returns ErrMoved unless a block is the newest final one and, if it is still recorded, the recorded one.
func stillAt(ctx context.Context, tx *store.Tx, id bursar.ChainID, at chain.BlockRef) error {
	state, err := tx.Chains().State(ctx, id)
	if err != nil {
		return err
	}
	if state.Final != at.Height {
		return fmt.Errorf("%w: the newest final block is %d by now", ErrMoved, state.Final)
	}
	recorded, err := tx.Blocks().At(ctx, id, at.Height)
	switch {
	case errors.Is(err, store.ErrNotFound): // the first block that was followed, or one whose record is pruned
		return nil
	case err == nil && recorded.Hash != at.Hash:
		return fmt.Errorf("%w: block %d is %s on the node, but %s is recorded", ErrMoved, at.Height, at.Hash, recorded.Hash)
	}
	return err
}

// compare requests the chain's balance of a currency and compares the line with it.
func (r *Reconciler) compare(ctx context.Context, c bursar.Currency, m *moment, i int) (err error) {
	line := &m.lines[i]
	line.asked = len(m.bases)
	if line.OnChain, err = r.holdings(ctx, m.bases, c.Contract, m.at); err != nil {
		return err
	}
	if line.ColdOnChain, err = r.holdings(ctx, r.Cold, c.Contract, m.at); err != nil {
		return err
	}
	if err := line.weigh(); err != nil || line.Balanced() {
		return err
	}
	return r.explain(ctx, c, line, m.bases, m.at)
}

// readBooks reads one consistent state of the books and of what they have not yet booked.
func (r *Reconciler) readBooks(ctx context.Context, tx *store.Tx, c bursar.Currency, line *Line) (err error) {
	var overdrawn bursar.Amount
	if line.Custody, overdrawn, err = tx.Ledger().Held(ctx, c.Code); err != nil {
		return err
	}
	if line.Unbooked, err = tx.Custody().UnbookedSum(ctx, c, line.Height); err != nil {
		return err
	}
	if line.Unsettled, err = unsettled(ctx, tx, c, line.Height); err != nil {
		return err
	}
	// What left beyond custody was taken from deposits that are not booked yet: it comes off once they are.
	if line.Unsettled, err = line.Unsettled.Add(overdrawn); err != nil {
		return err
	}
	if err := r.readCold(ctx, tx, c, line); err != nil {
		return err
	}
	if line.Unswept, err = tx.Cold().Unswept(ctx, c); err != nil {
		return err
	}
	line.Liabilities, err = tx.Custody().LiabilitySum(ctx, c.Code)
	return err
}

func (r *Reconciler) holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) (bursar.Amount, error) {
	var total bursar.Amount
	for len(bases) > 0 {
		n := min(len(bases), basesAtOnce)
		amounts, err := r.Chain.Holdings(ctx, bases[:n], contract, at)
		if err != nil {
			return total, fmt.Errorf("request the chain's balance: %w", err)
		}
		sum, err := bursar.Sum(amounts...)
		if err != nil {
			return total, err
		}
		if total, err = total.Add(sum); err != nil {
			return total, err
		}
		bases = bases[n:]
	}
	return total, nil
}

// expects returns the chain balance that the books expect.
func (l *Line) expects() (bursar.Amount, error) {
	all, err := l.Custody.Add(l.Unbooked)
	return all.SubOrZero(l.Unsettled), err
}

// weigh sets by how much the chain holds less or more than the books expect.
func (l *Line) weigh() error {
	came, err := l.Custody.Add(l.Unbooked)
	if err != nil {
		return err
	}
	there, err := l.OnChain.Add(l.Unsettled)
	l.Missing, l.Surplus = came.SubOrZero(there), there.SubOrZero(came)
	return err
}

// log stores the comparison for every process to show, raises an alarm for a difference, and closes it once there is
// none.
func (r *Reconciler) log(ctx context.Context, lines []Line) error {
	return r.DB.Do(ctx, func(tx *store.Tx) error {
		for _, l := range lines {
			err := tx.Reconciliations().Put(ctx, store.Reconciliation{
				Currency:  l.Currency,
				Chain:     l.Chain,
				Height:    l.Height,
				Custody:   l.Custody,
				Unbooked:  l.Unbooked,
				Unsettled: l.Unsettled,
				OnChain:   l.OnChain,

				Cold:        l.Cold,
				ColdOnChain: l.ColdOnChain,
				Unswept:     l.Unswept,
			})
			if err != nil {
				return err
			}
			if l.Balanced() {
				if err := tx.Alarms().Resolve(ctx, Differs, string(l.Currency)); err != nil {
					return err
				}
				continue
			}
			currency, err := r.Registry.Get(l.Currency)
			if err != nil {
				return err
			}
			if err := tx.Alarms().Raise(ctx, store.Alarm{
				Chain:   l.Chain,
				Kind:    Differs,
				Ref:     string(l.Currency),
				Message: l.differs(currency),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}
