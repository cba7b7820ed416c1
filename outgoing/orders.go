package outgoing

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// spent is why a withdrawal fails whose order cannot be signed a second time, as its customer sees it.
const spent = "its transaction can never be included, and the signer signs an order once: sign another order"

// outdated is why a withdrawal fails whose order was not signed in time.
const outdated = "its order expired before it was signed: sign another order"

// together returns those of some queued withdrawals that one transaction pays. One whose order bounds the fee is paid
// alone, and so is one that an external spend may have paid: neither must hold up the others.
func (s *Sender) together(
	ctx context.Context, tx *store.Tx, queued []bursar.Withdrawal,
) ([]bursar.Withdrawal, error) {
	if len(queued) < 2 {
		return queued, nil
	}
	ids := make([]bursar.ID, len(queued))
	for i, w := range queued {
		ids[i] = w.ID
	}
	orders, err := tx.SignedOrders().Of(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for i, w := range queued {
		if !orders[w.ID].MaxFee.IsZero() {
			queued = queued[:max(i, 1)]
			break
		}
	}
	return s.unpaid(ctx, tx, queued)
}

// feeOfOrders lowers the highest fee of a request to what the orders that it pays allow: the signer signs no higher
// one. Of a request that was never signed, an order that has expired bounds nothing: the signer is asked, and either
// says that it never signed the order and that it is too late, upon which it is refunded, or refuses the fee. Only the
// signer can say the former: the database may be older than what was signed.
func feeOfOrders(ctx context.Context, tx *store.Tx, request *chain.TxRequest, signed bool) error {
	if request.Kind != chain.KindWithdrawal {
		return nil
	}
	orders, err := tx.SignedOrders().PaidBy(ctx, request.ID)
	for _, o := range orders {
		if !signed && !tx.Now().Before(o.ExpiresAt.Add(bursar.ClockTolerance)) {
			continue
		}
		if !o.MaxFee.IsZero() && (request.MaxFee.IsZero() || o.MaxFee.Less(request.MaxFee)) {
			request.MaxFee = o.MaxFee
		}
	}
	return err
}

// orderHolds reports whether a request is not replaced because of an order that it pays: that allows less than the
// highest fee, or the signer no longer accepts it, as where its key was revoked.
func (s *Sender) orderHolds(
	ctx context.Context, tx *store.Tx, request chain.TxRequest, cause error,
) (bool, error) {
	var refused *signer.RefusalError
	if errors.As(cause, &refused) {
		return isOfOrder(refused.Reason), nil
	}
	var dear *chain.FeeLimitError
	if !errors.As(cause, &dear) {
		return false, nil
	}
	bound := chain.TxRequest{ID: request.ID, Kind: request.Kind, MaxFee: s.MaxFee}
	err := feeOfOrders(ctx, tx, &bound, true)
	return bound.MaxFee != s.MaxFee, err
}

// refundSpentOrders refunds those of some withdrawals, whose transaction is proven never to be included, that clients
// ordered: the signer sees no chain, so for it the order is spent. It returns the others, and those that an external
// spend may have paid: the gate holds them.
func (s *Sender) refundSpentOrders(
	ctx context.Context, tx *store.Tx, withdrawals []bursar.Withdrawal,
) (others []bursar.Withdrawal, err error) {
	ids := make([]bursar.ID, len(withdrawals))
	for i, w := range withdrawals {
		ids[i] = w.ID
	}
	orders, err := tx.SignedOrders().Of(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, w := range withdrawals {
		if _, ordered := orders[w.ID]; !ordered {
			others = append(others, w)
			continue
		}
		by, _, err := MayBePaid(ctx, tx, s.assessor(), w)
		if err != nil {
			return nil, err
		}
		if by != "" {
			others = append(others, w)
			continue
		}
		if err := s.payouts().Refund(ctx, tx, w, spent); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// orderIsOutdated reports whether a transaction that the signer refused pays an order that has expired, by the signer's
// clock and by this one. The signer says so only of an order that it never signed, so nobody can have been paid.
func (s *Sender) orderIsOutdated(
	ctx context.Context, p bursar.OutgoingTx, refused *signer.RefusalError,
) (is bool, err error) {
	if refused.Reason != signer.ReasonOrderFresh {
		return false, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		orders, err := tx.SignedOrders().PaidBy(ctx, p.ID)
		for _, o := range orders {
			is = is || !tx.Now().Before(o.ExpiresAt)
		}
		return err
	})
	return is, err
}

// isOfOrder reports whether a refusal is about one order of several: the others are paid without it.
func isOfOrder(reason signer.Reason) bool {
	return reason == signer.ReasonOrderSigned || reason == signer.ReasonOrderFresh || reason == signer.ReasonOrderOnce
}
