package charge

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Found is a charge of either rule.
type Found struct {
	Single *bursar.Charge        // one deposit pays it
	Sum    *bursar.InvoiceDetail // its deposits add up
}

// Number orders charges of both rules.
func (f Found) Number() int64 {
	if f.Single != nil {
		return f.Single.Number
	}
	return f.Sum.Number
}

// Find returns an account's charge of either rule, or bursar.ErrNotFound.
func (s *Service) Find(ctx context.Context, account, id bursar.ID) (f Found, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		c, err := tx.Charges().Get(ctx, account, id)
		if err == nil {
			f.Single = &c
			return nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		v, err := tx.Invoices().Get(ctx, account, id)
		if err != nil {
			return store.AsRefusal(err)
		}
		d, err := detailOf(ctx, tx, v)
		f.Sum = &d
		return err
	})
	return f, err
}

// Search returns an account's charges of both rules that a filter selects, newest first. It looks at a bounded number
// of charges: where these have no whole page, next is the number below which it continues; 0 at the end.
func (s *Service) Search(
	ctx context.Context, account bursar.ID, filter store.ChargeFilter, page store.Page,
) (list []Found, next int64, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		var singles []bursar.Charge
		var after int64
		if !filter.SumOnly() {
			if singles, after, err = tx.Charges().Select(ctx, account, filter, page); err != nil {
				return err
			}
		}
		var invoices []bursar.Invoice
		if invoices, next, err = tx.Invoices().List(ctx, account, filter, page); err != nil {
			return err
		}
		sums, err := tx.Invoices().Detail(ctx, invoices)
		next = max(next, after)
		list = merge(singles, sums, page.Limit)
		return err
	})
	list, next = lookedAt(list, next, page.Limit)
	return list, next, err
}

// lookedAt cuts a merged list to the part that was searched for both rules: down to the number next, if it is not 0. It
// returns that number again where the list does not fill a page.
func lookedAt(list []Found, next int64, limit int) ([]Found, int64) {
	if next == 0 {
		return list, 0
	}
	for i, f := range list {
		if f.Number() < next {
			return list[:i], next
		}
	}
	if len(list) >= limit {
		return list, 0
	}
	return list, next
}

// RefundedBy returns the charges of which withdrawals refund payments, by the withdrawals' IDs; any other withdrawal is
// left out.
func (s *Service) RefundedBy(ctx context.Context, withdrawals ...bursar.ID) (of map[bursar.ID]bursar.ID, err error) {
	if len(withdrawals) == 0 {
		return nil, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		of, err = tx.Invoices().Refunded(ctx, withdrawals)
		return err
	})
	return of, err
}

// merge merges two lists that are newest first.
func merge(singles []bursar.Charge, sums []bursar.InvoiceDetail, limit int) (list []Found) {
	for len(list) < limit && len(singles)+len(sums) > 0 {
		if len(sums) == 0 || len(singles) > 0 && singles[0].Number > sums[0].Number {
			list, singles = append(list, Found{Single: &singles[0]}), singles[1:]
		} else {
			list, sums = append(list, Found{Sum: &sums[0]}), sums[1:]
		}
	}
	return list
}

// Pauses of Turn: between looks, and how many invoices are turned between two.
const (
	turnPause = 5 * time.Second
	turnOnce  = 100
)

// Run records, until ctx ends, that invoices have expired, and the events of that. Nothing else depends on it: every
// reader of an invoice evaluates it by the clock.
func (s *Service) Run(ctx context.Context) error {
	for {
		n, err := s.Turn(ctx)
		err = errors.Join(err, s.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.PaymentLinks().ForgetVisits(ctx, turnOnce)
		}))
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("charges that have expired were not recorded", "error", err)
		}
		if n == turnOnce && err == nil {
			continue
		}
		if !s.DB.Sleep(ctx, turnPause) {
			return ctx.Err()
		}
	}
}

// Turn records what invoices have become by the clock alone, each in its own transaction, and returns how many those
// were.
func (s *Service) Turn(ctx context.Context) (n int, err error) {
	var numbers []int64
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		numbers, err = tx.Invoices().Turning(ctx, tx.Now(), turnOnce)
		return err
	})
	for _, number := range numbers {
		if err != nil {
			return n, err
		}
		err = s.DB.Do(ctx, func(tx *store.Tx) error {
			locked, err := tx.Invoices().LockAll(ctx, []int64{number})
			if err != nil || len(locked) == 0 || !locked[0].Recorded.Turned(tx.Now()) {
				return err // another process was faster
			}
			return s.Keeper.Advanced(ctx, tx, number, bursar.MomentExpired)
		})
		n++
	}
	return n, err
}
