package charge

import (
	"context"

	"github.com/bursar/bursar"
)

// Who bears the fee of a refund.
const (
	FeeMerchant = "merchant" // the account: the fee is debited on top, as with any withdrawal
	FeePayer    = "payer"    // the recipient: what is refunded pays the fee too
)

var errOrderWithFee = bursar.RefuseField(bursar.CodeInvalidRequest, "fee",
	"an order names the exact amount that is paid: sign one for the amount without the fee, and send no fee")

// paidBack is the withdrawal of a refund, with what of the refund its recipient bore as the fee.
type paidBack struct {
	bursar.Withdrawal
	borne bursar.Amount
}

// feeSteps is how often the fee of the rest is looked up: of each amount the fee may be another one.
const feeSteps = 3

// payable returns what a refund's withdrawal pays: all of the amount, or so much that it comes to no more than the
// amount together with its fee. A fee that grows with the amount is approached from below, from the fee of the whole
// amount: where that takes all of it, nothing is paid, also where a much smaller payment with its smaller fee could be.
// From a first step that leaves something no later one leaves nothing: each fee is of less than the whole.
func (s *Service) payable(ctx context.Context, r Refund, o Payout, amount bursar.Amount, p bursar.Payment) (string,
	error) {
	if r.Fee != FeePayer {
		return trimmed(amount, p), nil
	}
	currency := bursar.Currency{Decimals: p.Decimals, Places: p.Places}
	rest, of := bursar.Amount{}, amount
	for range feeSteps {
		o.Amount = trimmed(of, p)
		fee, err := s.Payer.Fee(ctx, o)
		if err != nil {
			return "", err
		}
		next, err := currency.Parse(trimmed(amount.SubOrZero(fee), p))
		if err != nil || next.IsZero() {
			return "", bursar.RefuseField(bursar.CodeBelowMinimum, "amount", "the fee takes all of this refund")
		}
		if rest, of = next, next; fee.IsZero() {
			break
		}
	}
	return trimmed(rest, p), nil
}

// borne returns what the recipient bears of a withdrawal's fee. The network's fee is estimated again when the
// withdrawal is recorded, so it may be more than what was left for it.
func (r Refund) borne(amount bursar.Amount, w bursar.Withdrawal) (bursar.Amount, error) {
	if r.Fee != FeePayer {
		return bursar.Amount{}, nil
	}
	borne := amount.SubOrZero(w.Amount)
	if borne.Less(w.Fee) {
		return borne, bursar.Refuse(bursar.CodeUnavailable, "the network fee has risen; try again")
	}
	return borne, nil
}
