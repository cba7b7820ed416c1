package spend

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Insert records an order as a new spend, in the transaction of whoever asks for it. currency is what it moves, base the
// address that pays.
func Insert(ctx context.Context, tx *store.Tx, id bursar.ChainID, order chain.Order, currency bursar.Code) error {
	text, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	base := order.From.Base
	if base == "" {
		base = order.Change.Base
	}
	return tx.InsertSpend(ctx, bursar.Spend{ID: order.ID, Chain: id, Kind: string(order.Kind), Currency: currency, Base: base, Order: text})
}

// Order reads a spend's order.
func Order(p bursar.Spend) (chain.Order, error) {
	var order chain.Order
	if err := json.Unmarshal(p.Order, &order); err != nil {
		return order, fmt.Errorf("read the order of spend %s: %w", p.ID, err)
	}
	return order, nil
}

func readDraft(p bursar.Spend) (chain.Draft, error) {
	var draft chain.Draft
	if err := json.Unmarshal(p.Draft, &draft); err != nil {
		return draft, fmt.Errorf("read the draft of spend %s: %w", p.ID, err)
	}
	return draft, nil
}

// takeQueue makes one spend of withdrawals that wait: many together where a transaction can pay many, else one each.
func (s *Spender) takeQueue(ctx context.Context, lease store.Lease) error {
	traits := s.Chain.Traits()
	limit := max(1, traits.MaxPayments)
	if s.batch > 0 {
		limit = min(limit, s.batch)
	}
	served, waits := []bursar.Code(nil), false
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if served, err = s.served(ctx, tx); err != nil {
			return err
		}
		waits, err = tx.AnyQueued(ctx, traits.ID, served)
		return err
	})
	if err != nil || !waits {
		return err
	}
	for {
		more := false
		err := s.DB.Do(ctx, func(tx *store.Tx) error {
			if _, err := tx.Lead(ctx, lease); err != nil {
				return err
			}
			waiting, err := tx.CountOpen(ctx, traits.ID, s.Hot.Base, served)
			if err != nil || waiting >= max(1, traits.MaxPending) {
				return err
			}
			queued, err := tx.Queued(ctx, traits.ID, served, limit)
			if err != nil || len(queued) == 0 {
				return err
			}
			more = len(queued) == limit && traits.Spending == chain.ByNonce
			return s.payTogether(ctx, tx, queued)
		})
		if err != nil || !more {
			return err
		}
	}
}

// pay is an order to pay others from the hot side.
func (s *Spender) pay(payments ...chain.Payment) chain.Order {
	order := chain.Order{ID: s.IDs.Next(), Kind: chain.KindWithdrawal, Payments: payments, MaxFee: s.MaxFee}
	if s.Chain.Traits().Spending == chain.ByCoins {
		order.Change = s.Hot
	} else {
		order.From = s.Hot
	}
	return order
}

func (s *Spender) payTogether(ctx context.Context, tx *store.Tx, queued []bursar.Withdrawal) error {
	order := s.pay()
	for _, w := range queued {
		currency, err := s.Registry.Get(w.Currency)
		if err != nil {
			return err
		}
		order.Payments = append(order.Payments, chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount})
	}
	if err := Insert(ctx, tx, s.Chain.Traits().ID, order, queued[0].Currency); err != nil {
		return err
	}
	for _, w := range queued {
		if err := tx.AssignSpend(ctx, w, order.ID); err != nil {
			return err
		}
		s.tellWithdrawal(tx, "withdrawal taken up", w, order.ID)
	}
	return nil
}

// complete adds to an order what may be used for it now: coins, or the next nonce; and to a sweep of the chain's own coin
// what is there to collect.
func (s *Spender) complete(ctx context.Context, state store.ChainState, order chain.Order) (chain.Order, error) {
	traits := s.Chain.Traits()
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		if traits.Spending == chain.ByNonce {
			next, known, err := tx.NextNonce(ctx, traits.ID, order.From.Base)
			if known {
				order.Nonce = &next
			}
			return err
		}
		coins, err := tx.Spendable(ctx, traits.ID, state.Final, state.Latest, order.ID, maxCoins)
		for _, c := range coins {
			key := chain.KeyRef{Family: traits.Family, Branch: c.Branch, Index: c.Index}
			order.Coins = append(order.Coins, chain.Coin{Claim: c.Claim, Amount: c.Amount, Unconfirmed: c.Height == 0, Source: chain.Source{Key: key, Base: c.Base}})
		}
		return err
	})
	if err != nil || order.Kind != chain.KindSweep {
		return order, err
	}
	return order, s.completeSweep(ctx, &order)
}

// maxCoins bounds how many coins one draft chooses from.
const maxCoins = 2000

func (s *Spender) completeSweep(ctx context.Context, order *chain.Order) error {
	head, err := s.Chain.Head(ctx)
	if err != nil {
		return err
	}
	order.Payments = slices.Clone(order.Payments) // the order as it was recorded stays what it is
	sweep := &order.Payments[0]
	held, err := s.Chain.Holdings(ctx, []string{order.From.Base}, sweep.Contract, head.Latest)
	if err != nil {
		return fmt.Errorf("ask what there is to sweep: %w", err)
	}
	if len(held) == 1 && !held[0].IsZero() {
		sweep.Amount = held[0]
	}
	return nil
}
