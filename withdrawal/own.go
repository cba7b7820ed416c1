package withdrawal

import (
	"cmp"
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// What a client does about withdrawals besides requesting them: it cancels its own, and asks what one would cost.

// Cancellation is a client's request to cancel a withdrawal of its account.
type Cancellation struct {
	Account    bursar.ID
	Withdrawal bursar.ID
	By         string // the API key, as bursar.KeyRequester writes it

	// Done runs in the transaction that cancels it.
	Done func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// CancelOwn cancels a withdrawal of an account as Cancel does, also while it waits for an approval or its account is
// frozen: the money returns to the balance, once. One that is cancelled already is returned as it is. Errors:
// not_found, too_late, and unavailable while a restored database may not know that it was paid.
func (s *Service) CancelOwn(ctx context.Context, c Cancellation) (w bursar.Withdrawal, err error) {
	err = s.behind.Refuse(ctx, "the withdrawal")
	if err == nil {
		err = s.db.Do(ctx, func(tx *store.Tx) error {
			// Another account's is not locked, nor is its chain.
			if _, err := tx.Withdrawals().Get(ctx, c.Account, c.Withdrawal); err != nil {
				return store.AsRefusal(err)
			}
			if w, err = lockToDecide(ctx, tx, c.Withdrawal); err != nil {
				return err
			}
			if w.Status != bursar.WithdrawalCancelled {
				w, err = s.cancel(ctx, tx, w)
			}
			if err != nil {
				return err
			}
			return c.Done(ctx, tx, w)
		})
	}
	switch {
	case errors.Is(err, ErrTooLate):
		return w, bursar.RefuseField(bursar.CodeTooLate, "withdrawalID",
			"the withdrawal can no longer be cancelled: its transaction may be signed, or it has ended")
	case errors.Is(err, store.ErrRecovering):
		return w, bursar.Refuse(bursar.CodeUnavailable,
			"withdrawals of this currency cannot be cancelled while the service recovers; try again later")
	case err != nil:
		return w, err
	}
	s.log.InfoContext(ctx, "withdrawal cancelled by its account", "withdrawal", w.ID, "account", w.AccountID, "by", c.By)
	return w, nil
}

// Select returns an account's withdrawals that a filter selects, newest first. Where the page is short before the list
// ends, next is the number below which it continues; 0 otherwise.
func (s *Service) Select(ctx context.Context, account bursar.ID, f store.WithdrawalFilter, page store.Page) (
	list []bursar.Withdrawal, next int64, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		list, next, err = tx.Withdrawals().Select(ctx, account, f, page)
		return err
	})
	return list, next, err
}

// Quote is what a withdrawal would cost.
type Quote struct {
	Currency bursar.Currency
	Address  bursar.Address
	Amount   bursar.Amount // what the receiver gets
	Fee      bursar.Amount // charged on top of it
	Total    bursar.Amount // what leaves the balance
	Fixed    bool          // the fee has no part that the network decides
	Internal bool          // the address is a wallet of this service
	Approval bool          // an operator would have to approve it
}

// Quote checks a request as Request does and returns what it would cost now, without holding anything. Neither a signed
// order nor a balance is needed. A part of the fee that the network decides is estimated again when the withdrawal is
// requested. Errors: those of Request about currency, amount and address, limit_reached among them, and unavailable if
// the network's fee is not known.
func (s *Service) Quote(ctx context.Context, r Request) (Quote, error) {
	r.quoting = true
	p, err := s.prepare(ctx, r, nil)
	if err != nil {
		return Quote{}, err
	}
	requests, results := []prepared{p}, make([]store.Result[bursar.Withdrawal], 1)
	var rules bursar.FeeRules
	var limits bursar.LimitRules
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		soon := tx.LimitRules().OfDeferred(ctx, r.Account)
		if rules, err = tx.FeeRules().Of(ctx, parties(requests)...); err != nil {
			return err
		}
		if limits, err = soon.Get(ctx); err != nil {
			return err
		}
		if err := evaluate(&requests[0], limits); err != nil {
			return err
		}
		refused, err := windowsOf(limits).evaluate(ctx, tx, requests[0])
		return cmp.Or(err, refused)
	})
	if err != nil {
		return Quote{}, err
	}
	price(requests, results, rules)
	if results[0].Err != nil {
		return Quote{}, results[0].Err
	}
	w := requests[0].withdrawal
	total, err := w.Amount.Add(w.Fee)
	if err != nil {
		return Quote{}, asRefusal(err, p.currency)
	}
	return Quote{
		Currency: limits.For(r.Account, rules.For(r.Account, p.currency)),
		Address:  w.Address,
		Amount:   w.Amount,
		Fee:      w.Fee,
		Total:    total,
		Fixed:    p.receiver != nil || !rules.For(r.Account, p.currency).WithdrawalFee.Network,
		Internal: p.receiver != nil,
		Approval: w.Status == bursar.WithdrawalPendingApproval,
	}, nil
}
