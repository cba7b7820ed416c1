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

// parties returns everybody whose fees the requests need: who pays, and who receives an internal transfer.
func parties(requests []prepared) []bursar.ID {
	parties := map[bursar.ID]bool{}
	for _, p := range requests {
		parties[p.withdrawal.AccountID] = true
		if p.receiver != nil {
			parties[p.receiver.AccountID] = true
		}
	}
	return slices.Collect(maps.Keys(parties))
}

// price sets the fees of withdrawals, on top of their amounts, in the transaction that records them: the operator's
// part, by the rules of the account that pays, and, where they say so, the network's. In an internal transfer there is
// none of the latter.
func price(requests []prepared, results []store.Result[bursar.Withdrawal], rules bursar.FeeRules) {
	for i := range requests {
		p := &requests[i]
		if results[i].Err != nil {
			continue
		}
		rule := rules.For(p.withdrawal.AccountID, p.currency).WithdrawalFee
		fee, err := rule.Of(p.withdrawal.Amount)
		if err == nil && rule.Network && p.receiver == nil {
			if p.unpriced {
				results[i].Err = bursar.Refuse(bursar.CodeUnavailable,
					"the chain of %s cannot be reached to price this withdrawal; try again later", p.currency.Code)
				continue
			}
			fee, err = fee.Add(p.networkFee)
		}
		p.withdrawal.Fee, results[i].Err = fee, asRefusal(err, p.currency)
	}
}

// quote asks for the network's fee of a withdrawal that its chain pays. The chain is asked in any case, because it also
// knows which destinations can never be paid. A chain that cannot be asked stops only who would pay it, once there is
// no recent answer either.
func (s *Service) quote(ctx context.Context, c Chain, p *prepared) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	networkFee, err := c.Quote(ctx, chain.Payment{Address: p.withdrawal.Address, Contract: p.currency.Contract,
		Amount: p.withdrawal.Amount})
	var refused *chain.RefusedError
	switch {
	case err == nil:
		s.quotes.put(p.currency.Code, networkFee)
		p.networkFee = networkFee
		return nil
	case errors.As(err, &refused) && refused.Below:
		return bursar.RefuseField(bursar.CodeBelowMinimum, "amount", "%s", refused.Reason)
	case errors.As(err, &refused):
		return bursar.RefuseField(bursar.CodeDestinationRefused, "address", "%s", refused.Reason)
	}
	s.log.WarnContext(ctx, "network fee could not be estimated", "currency", p.currency.Code, "error", err)
	last, fresh := s.quotes.get(p.currency.Code)
	p.networkFee, p.unpriced = last, !fresh
	return nil
}
