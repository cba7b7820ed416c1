package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Difference is an address at which the chain's balance differs from the books. While outgoing transactions are in
// progress, what they moved shows as differences too, at both of their ends.
type Difference struct {
	Address string
	Books   bursar.Amount
	OnChain bursar.Amount
}

// Size returns the absolute difference.
func (d Difference) Size() bursar.Amount {
	more, _ := d.Books.SubOrZero(d.OnChain).Add(d.OnChain.SubOrZero(d.Books)) // one of the two is zero
	return more
}

// maxDifferences bounds how many addresses one line lists, the largest differences first.
const maxDifferences = 100

// explain finds the addresses behind a line that does not balance.
func (r *Reconciler) explain(
	ctx context.Context, c bursar.Currency, line *Line, bases []string, at chain.BlockRef,
) error {
	books, err := r.expected(ctx, c, *line)
	if err != nil {
		return err
	}
	for rest := bases; len(rest) > 0; {
		n := min(len(rest), basesAtOnce)
		amounts, err := r.Chain.Holdings(ctx, rest[:n], c.Contract, at)
		if err != nil {
			return fmt.Errorf("request the balance of each address: %w", err)
		}
		for i, base := range rest[:n] {
			if d := (Difference{base, books[base], amounts[i]}); d.Books != d.OnChain {
				line.keep(d)
			}
		}
		rest = rest[n:]
	}
	slices.SortFunc(line.Differences, larger)
	line.Differences = line.Differences[:min(len(line.Differences), maxDifferences)]
	return nil
}

// keep adds a difference, and drops the smaller half if there are too many.
func (l *Line) keep(d Difference) {
	if l.Differences = append(l.Differences, d); len(l.Differences) >= 2*maxDifferences {
		slices.SortFunc(l.Differences, larger)
		l.Differences = l.Differences[:maxDifferences]
	}
}

func larger(a, b Difference) int {
	switch left, right := a.Size(), b.Size(); {
	case right.Less(left):
		return -1
	case left.Less(right):
		return 1
	}
	return cmp.Compare(a.Address, b.Address)
}

// expected returns the balance that the books expect at each address. Custody beyond all addresses is at the hot
// wallet, unless UTXOs determine where it is.
func (r *Reconciler) expected(ctx context.Context, c bursar.Currency, line Line) (map[string]bursar.Amount, error) {
	books, isUTXO := map[string]bursar.Amount{}, r.Chain.Capabilities().Model == chain.UTXOModel
	var total bursar.Amount
	var overflow error
	err := r.DB.View(ctx, func(tx *store.Tx) error {
		clear(books)
		total = bursar.Amount{}
		return tx.Custody().EachExpected(ctx, c, isUTXO, line.Height, func(base string, amount bursar.Amount) {
			sum, err := books[base].Add(amount)
			books[base], overflow = sum, cmp.Or(overflow, err)
			total, err = total.Add(amount)
			overflow = cmp.Or(overflow, err)
		})
	})
	if err = cmp.Or(err, overflow); err != nil {
		return books, err
	}
	if isUTXO {
		return books, r.addColdUTXOs(ctx, line, books)
	}
	all, err := line.expects()
	if err != nil {
		return nil, err
	}
	for _, base := range r.Cold { // what waits there to be booked is in Cold
		total = total.SubOrZero(books[base])
		delete(books, base)
	}
	hot, err := books[r.Hot].Add(all.SubOrZero(line.Cold).SubOrZero(total))
	books[r.Hot] = hot
	if len(r.Cold) > 0 {
		books[r.Cold[0]] = line.Cold // the books do not say which wallet has it
	}
	return books, err
}

// addColdUTXOs adds what the outputs of cold wallets hold that no block is known to spend.
func (r *Reconciler) addColdUTXOs(ctx context.Context, line Line, books map[string]bursar.Amount) error {
	if len(r.Cold) == 0 {
		return nil
	}
	return r.DB.View(ctx, func(tx *store.Tx) error {
		utxos, err := tx.Cold().Unspent(ctx, line.Chain, line.Height)
		for _, base := range r.Cold {
			delete(books, base)
		}
		for _, u := range utxos {
			sum, overflow := books[u.Base].Add(u.Amount)
			if overflow != nil {
				return overflow
			}
			books[u.Base] = sum
		}
		return err
	})
}
