package outgoing

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// takeQueue makes outgoing transactions of queued withdrawals, as many as may be in progress at once: the oldest of
// each currency first, and one currency after the other, so that none takes all places. Many withdrawals are paid
// together where one transaction can pay many.
func (s *Sender) takeQueue(ctx context.Context, lease store.Lease, _ store.ChainState) error {
	id := s.Chain.Capabilities().ID
	var served []bursar.CurrencyCode
	var waits bool
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if served, err = s.served(ctx, tx); err != nil {
			return err
		}
		waits, err = tx.Withdrawals().AnyQueued(ctx, id, served, s.Screened != nil)
		return err
	})
	if err != nil || !waits {
		return err
	}
	s.memory.firstCurrency++
	s.memory.queueBlocked = true
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		places, err := s.places(ctx, tx, served)
		if err != nil {
			return err
		}
		for taken := true; taken; {
			taken = false
			for i := range served {
				currency := served[(i+s.memory.firstCurrency)%len(served)]
				if places.left(currency) < 1 {
					continue
				}
				took, err := s.takeBatch(ctx, tx, currency)
				if err != nil {
					return err
				}
				if took {
					taken = s.Chain.Capabilities().Model == chain.AccountModel
					places.take(currency)
				} else {
					places.close(currency)
				}
			}
		}
		return nil
	})
}

// places is the number of outgoing transactions that may still be made of withdrawals: in total, and of each currency.
// A transaction that waits for funds or for a lower fee takes no place; transactions that wait for an unforeseen
// reason, such as a token that its issuer has frozen, never take more than the places of one currency.
type places struct {
	all int
	of  map[bursar.CurrencyCode]int
}

func (p *places) left(code bursar.CurrencyCode) int { return min(p.all, p.of[code]) }

func (p *places) take(code bursar.CurrencyCode) { p.all--; p.of[code]-- }

func (p *places) close(code bursar.CurrencyCode) { p.of[code] = 0 }

func (s *Sender) places(ctx context.Context, tx *store.Tx, served []bursar.CurrencyCode) (*places, error) {
	id := s.Chain.Capabilities().ID
	occupied, err := tx.Outgoing().OccupiedBy(ctx, id, s.Hot.Base)
	if err != nil {
		return nil, err
	}
	p := &places{all: s.capacity(bursar.ShareWithdrawal, occupied), of: map[bursar.CurrencyCode]int{}}
	for _, code := range served {
		most := max(1, s.Chain.Capabilities().MaxPending)
		open, err := tx.Outgoing().CountNew(ctx, id, bursar.ShareWithdrawal, code, most)
		if err != nil {
			return nil, err
		}
		p.of[code] = most - open
	}
	return p, nil
}

// takeBatch makes one outgoing transaction of the oldest withdrawals of a currency, and reports whether any was queued.
func (s *Sender) takeBatch(ctx context.Context, tx *store.Tx, currency bursar.CurrencyCode) (bool, error) {
	capabilities := s.Chain.Capabilities()
	limit := max(1, capabilities.MaxPayments)
	if smaller := s.memory.batchLimit[currency]; smaller > 0 {
		limit = min(limit, smaller)
	}
	queued, err := tx.Withdrawals().Queued(ctx, capabilities.ID, []bursar.CurrencyCode{currency},
		s.Screened != nil, limit)
	if err != nil || len(queued) == 0 {
		return false, err
	}
	s.memory.queueBlocked = false
	if queued, err = s.together(ctx, tx, queued); err != nil {
		return false, err
	}
	return true, s.payTogether(ctx, tx, queued)
}

// paymentRequest returns a request for payments from the hot wallet.
func (s *Sender) paymentRequest(payments ...chain.Payment) chain.TxRequest {
	request := chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindWithdrawal, Payments: payments, MaxFee: s.MaxFee}
	if s.Chain.Capabilities().Model == chain.UTXOModel {
		request.Change = s.Hot
	} else {
		request.From = s.Hot
	}
	return request
}

func (s *Sender) payTogether(ctx context.Context, tx *store.Tx, queued []bursar.Withdrawal) error {
	request := s.paymentRequest()
	for _, w := range queued {
		currency, err := s.Registry.Get(w.Currency)
		if err != nil {
			return err
		}
		request.Payments = append(request.Payments,
			chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount})
	}
	if err := Insert(ctx, tx, s.Chain.Capabilities().ID, request, queued[0].Currency); err != nil {
		return err
	}
	if err := tx.Withdrawals().AssignAll(ctx, queued, request.ID); err != nil {
		return err
	}
	for _, w := range queued {
		s.logAssigned(tx, w, request.ID)
	}
	return nil
}
