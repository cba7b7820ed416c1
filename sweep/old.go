package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// oldPace is how often a chain is asked what the hot wallets of earlier epochs hold.
const oldPace = time.Minute

// AlarmOld is the kind of the alarm that an earlier epoch's hot wallet has held money for longer than oldPatience. Ref
// is the address and the currency.
const AlarmOld = "old_epoch_holds"

// oldPatience is how long a hot wallet of an earlier epoch may hold what is worth a deposit.
const oldPatience = 24 * time.Hour

// refreshOld notes what the hot wallets of earlier epochs hold in a final block, as what addresses hold that are to be
// swept. Nothing else notes it: a hot wallet receives change, sweeps and operator funds, of which the books know the
// sum only. While a sweep of one is under way its amount stays as it was. Outputs are in the books one by one, and are
// brought home by consolidations.
//
// An answer of the chain is out of date once a later final block is recorded, by which a sweep may have become final
// that the answer does not know; then nothing is noted, and the next step asks again. A sweep settles only up to the
// recorded final height, under the row that noteOld locks. That height goes back where a late node answers, so that
// transactions which are final above the answer's block are looked for too. A final block is not reversed, and a
// replica that lost the lease in between notes nothing.
func (s *Sweeper) refreshOld(ctx context.Context, lease store.Lease, codes []bursar.CurrencyCode) error {
	now := s.DB.Now()
	if len(s.Old) == 0 || len(codes) == 0 || now.Sub(s.askedOld) < oldPace ||
		s.Chain.Capabilities().Model == chain.UTXOModel {
		return nil
	}
	head, err := s.Chain.Head(ctx)
	if err != nil || head.Final.Hash == "" {
		return err
	}
	bases := make([]string, len(s.Old))
	for i, one := range s.Old {
		bases[i] = one.Base
	}
	current := true
	for _, code := range codes {
		currency, err := s.Registry.Get(code)
		if err != nil {
			return err
		}
		amounts, err := s.Chain.Holdings(ctx, bases, currency.Contract, head.Final)
		if err != nil || len(amounts) != len(bases) {
			return fmt.Errorf("ask what hot wallets of earlier epochs hold: %d amounts for %d: %w", len(amounts), len(bases),
				err)
		}
		for i, one := range s.Old {
			noted, err := s.noteOld(ctx, lease, one, currency, amounts[i], head.Final.Height)
			if err != nil {
				return err
			}
			current = current && noted
		}
	}
	if current {
		s.askedOld = now
	}
	return nil
}

// leaves reports whether what a hot wallet of an earlier epoch holds of the native asset is worth its sweep, for which
// less is enough than at a deposit address: it happens once, and until then the rotation is not over. For a token it is
// not: anyone who pays a little to that address would have us pay more for its sweep.
func (s *Sweeper) leaves(h store.Holding, p price) bool {
	old := slices.ContainsFunc(s.Old, func(one chain.Source) bool { return one.Base == h.Base })
	return old && !p.currency.IsToken() && p.worth(h.Amount, true)
}

// withOld adds the hot wallets of earlier epochs to what is due: their sweep is worth it for less than that of
// addresses which hold more, and of those the list may be full.
func (s *Sweeper) withOld(
	ctx context.Context, tx *store.Tx, currency bursar.Currency, due []store.Holding,
) ([]store.Holding, error) {
	for _, one := range s.Old {
		if slices.ContainsFunc(due, func(h store.Holding) bool { return h.Base == one.Base }) {
			continue
		}
		old, err := tx.Holdings().DueAt(ctx, currency.Chain, currency, one.Base)
		if err != nil {
			return nil, err
		}
		due = append(due, old...)
	}
	return due, nil
}

// noteOld notes what one of them held at a final height, and reports whether that was still the newest.
func (s *Sweeper) noteOld(ctx context.Context, lease store.Lease, hot chain.Source, currency bursar.Currency,
	amount bursar.Amount, final uint64) (noted bool, err error) {
	id := s.Chain.Capabilities().ID
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if noted = err == nil && state.Final <= final; !noted {
			return err
		}
		settled, err := tx.Outgoing().AnyFinalAbove(ctx, id, final)
		if noted = err == nil && !settled; !noted {
			return err
		}
		open, err := tx.Outgoing().AnySweepFrom(ctx, id, hot.Base)
		if err != nil {
			return err
		}
		if err := s.alarmOld(ctx, tx, hot, currency, amount); err != nil || open {
			return err
		}
		h, err := tx.Holdings().Get(ctx, id, hot.Base, currency.Contract)
		if err != nil || h.Amount == amount && h.Branch == hot.Key.Branch && h.Index == hot.Key.Index {
			return err
		}
		h.Base, h.Contract, h.Branch, h.Index = hot.Base, currency.Contract, hot.Key.Branch, hot.Key.Index
		h.Amount, h.Due, h.Rests = amount, !amount.IsZero() && !amount.Less(currency.Minimum), time.Time{}
		return tx.Holdings().Put(ctx, id, h)
	})
	return noted, err
}

// alarmOld raises an alarm about what stays at an earlier epoch's hot wallet, and closes it once that is gone.
func (s *Sweeper) alarmOld(
	ctx context.Context, tx *store.Tx, hot chain.Source, currency bursar.Currency, amount bursar.Amount,
) error {
	ref := hot.Base + " " + string(currency.Code)
	id := s.Chain.Capabilities().ID
	if amount.Less(currency.Minimum) || amount.IsZero() {
		if err := tx.Holdings().HeldNoMore(ctx, id, hot.Base, currency.Contract); err != nil {
			return err
		}
		return tx.Alarms().Resolve(ctx, AlarmOld, ref)
	}
	since, err := tx.Holdings().HeldSince(ctx, id, hot.Base, currency.Contract)
	if err != nil {
		return err
	}
	if tx.Now().Sub(since) < oldPatience {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: AlarmOld, Ref: ref,
		Message: fmt.Sprintf("the hot wallet %s of epoch %d still holds %s: its sweep is not worth its fee, or does not "+
			"come through", hot.Base, hot.Key.Epoch(), currency.Text(amount))})
}
