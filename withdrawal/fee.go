package withdrawal

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// quoteLife is how long the last network fee is used when a node cannot be asked.
const quoteLife = 10 * time.Minute

// quotes caches the last network fee of each currency's payments.
type quotes struct {
	now  func() time.Time
	mu   sync.Mutex
	last map[bursar.CurrencyCode]quote
}

type quote struct {
	fee bursar.Amount
	at  time.Time
}

func newQuotes(now func() time.Time) *quotes {
	return &quotes{now: now, last: map[bursar.CurrencyCode]quote{}}
}

func (q *quotes) put(code bursar.CurrencyCode, fee bursar.Amount) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last[code] = quote{fee, q.now()}
}

func (q *quotes) get(code bursar.CurrencyCode) (bursar.Amount, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last, found := q.last[code]
	return last.fee, found && q.now().Sub(last.at) < quoteLife
}

// priced returns the currency with the fees that the account pays.
func (s *Service) priced(ctx context.Context, account bursar.ID, currency bursar.Currency) (bursar.Currency, error) {
	rules, err := found(s.rules.Find(ctx, account))
	return rules.For(account, currency), err
}

// fee returns the fee on top of the amount of a withdrawal that its chain pays: the operator's part and, where the
// currency says so, the network's. The chain is asked in any case, because it also knows which destinations can never be
// paid.
func (s *Service) fee(ctx context.Context, c Chain, p prepared) (bursar.Amount, error) {
	var err error
	if p.currency, err = s.priced(ctx, p.withdrawal.AccountID, p.currency); err != nil {
		return bursar.Amount{}, err
	}
	fee, err := p.currency.WithdrawalFee.Of(p.withdrawal.Amount)
	if err != nil {
		return fee, err
	}
	network, err := s.quote(ctx, c, p)
	if err != nil || !p.currency.WithdrawalFee.Network {
		return fee, err
	}
	return fee.Add(network)
}

// partiesInside returns everybody who pays or receives inside.
func partiesInside(requests []prepared) []bursar.ID {
	parties := map[bursar.ID]bool{}
	for _, p := range requests {
		if p.receiver != nil {
			parties[p.withdrawal.AccountID], parties[p.receiver.AccountID] = true, true
		}
	}
	return slices.Collect(maps.Keys(parties))
}

// priceInside sets the fees of withdrawals that are paid inside, in the transaction that records them. No node is asked:
// there is no network's part.
func priceInside(requests []prepared, results []store.Result[bursar.Withdrawal], rules bursar.FeeRules) {
	for i := range requests {
		p := &requests[i]
		if p.receiver == nil || results[i].Err != nil {
			continue
		}
		w, err := &p.withdrawal, error(nil)
		w.Fee, err = rules.For(w.AccountID, p.currency).WithdrawalFee.Of(w.Amount)
		results[i].Err = asRefusal(err, p.currency)
	}
}

func (s *Service) quote(ctx context.Context, c Chain, p prepared) (bursar.Amount, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	network, err := c.Quote(ctx, chain.Payment{Address: p.withdrawal.Address, Contract: p.currency.Contract,
		Amount: p.withdrawal.Amount})
	var refused *chain.RefusedError
	switch {
	case err == nil:
		s.quotes.put(p.currency.Code, network)
		return network, nil
	case errors.As(err, &refused) && refused.Below:
		return network, bursar.RefuseField(bursar.CodeBelowMinimum, "amount", "%s", refused.Reason)
	case errors.As(err, &refused):
		return network, bursar.RefuseField(bursar.CodeDestinationRefused, "address", "%s", refused.Reason)
	}
	s.log.Warn("network fee could not be estimated", "currency", p.currency.Code, "error", err)
	if last, fresh := s.quotes.get(p.currency.Code); fresh || !p.currency.WithdrawalFee.Network {
		return last, nil
	}
	return network, bursar.Refuse(bursar.CodeUnavailable,
		"the chain of %s cannot be reached to price this withdrawal; try again later", p.currency.Code)
}
