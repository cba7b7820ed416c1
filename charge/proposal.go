package charge

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// maxProposals is how often a payer may name an address for the refund of a currency without a pause: the page is open
// to anybody who has its token. After that, an address can be replaced only once proposalPause has passed, so that
// somebody else who has the token cannot keep the payer from correcting it.
const (
	maxProposals  = 10
	proposalPause = 10 * time.Minute
)

// Proposal is where the payer of an invoice wants the payments of a currency refunded to.
type Proposal struct {
	Token    bursar.ID           // of the payer's page
	Currency bursar.CurrencyCode // that was paid; empty: the only one that was
	Address  string              // without a tag
	Tag      string              // of currencies that have one; NoTag where the address has none
	NoTag    bool
}

// ProposeRefund records where the payer wants to be refunded, in place of what was named before. Nothing is paid to it:
// the client sees it and refunds to it, or not. From a refund on, unless that is cancelled, no other address is taken.
// Errors: not_found for an unknown token, invalid_request for a currency of which nothing can be refunded and for a tag
// that is missing, invalid_address, charge_closed.
func (s *Service) ProposeRefund(ctx context.Context, p Proposal) (d bursar.InvoiceDetail, err error) {
	if d, err = s.ByToken(ctx, p.Token); err != nil {
		return d, err
	}
	code, err := refundedCurrency(d.State(s.DB.Now()), p.Currency)
	if err != nil {
		return d, err
	}
	to, err := s.destination(code, p)
	if err != nil {
		return d, err
	}
	return s.change(ctx, Change{Account: d.AccountID, Charge: d.ID},
		func(tx *store.Tx, d *bursar.InvoiceDetail, state bursar.InvoiceState) (bursar.Moment, error) {
			if _, err := refundedCurrency(state, code); err != nil {
				return "", err
			}
			before, named := d.Proposal(code)
			switch {
			case d.RefundLocked(code):
				return "", closed("a refund of %s was approved: its address cannot be changed any more", code)
			case named && before.Address == to:
				return "", nil
			case before.Changes >= maxProposals && tx.Now().Sub(before.At) < proposalPause:
				return "", closed("the address was changed %d times; try again in %d minutes, or ask the shop", before.Changes,
					proposalPause/time.Minute)
			}
			tx.After(func() { s.Log.InfoContext(ctx, "refund address named by a payer", "charge", d.ID, "currency", code) })
			return bursar.MomentProposed, tx.Invoices().Propose(ctx, d.Number,
				bursar.RefundProposal{Currency: code, Address: to, At: tx.Now(), Changes: before.Changes + 1})
		})
}

// ByToken returns the invoice whose payer's page a token opens, or bursar.ErrNotFound.
func (s *Service) ByToken(ctx context.Context, token bursar.ID) (d bursar.InvoiceDetail, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Invoices().ByToken(ctx, token)
		if err != nil {
			return store.AsRefusal(err)
		}
		d, err = detailOf(ctx, tx, v)
		return err
	})
	return d, err
}

// Refundable returns the currencies of which an invoice has payments that can be refunded now.
func Refundable(state bursar.InvoiceState) (codes []bursar.CurrencyCode) {
	if state.Status == bursar.ChargeOpen || state.Status == bursar.ChargeConfirming {
		return nil
	}
	seen := map[bursar.CurrencyCode]bool{}
	for _, p := range state.Payments {
		if code := p.Deposit.Currency; !p.Refundable().IsZero() && !seen[code] {
			seen[code], codes = true, append(codes, code)
		}
	}
	return codes
}

// refundedCurrency returns the currency of a proposal.
func refundedCurrency(state bursar.InvoiceState, asked bursar.CurrencyCode) (bursar.CurrencyCode, error) {
	codes := Refundable(state)
	if len(codes) == 0 {
		return "", closed("nothing of this charge can be refunded now")
	}
	if asked == "" && len(codes) == 1 {
		return codes[0], nil
	}
	for _, code := range codes {
		if code == asked {
			return code, nil
		}
	}
	return "", bursar.RefuseField(bursar.CodeInvalidRequest, "currency",
		"name a currency of which a payment can be refunded")
}

// destination reads an address and its tag.
func (s *Service) destination(code bursar.CurrencyCode, p Proposal) (bursar.Address, error) {
	currency, err := s.Registry.Get(code)
	if err != nil {
		return bursar.Address{}, err
	}
	text := p.Address
	if p.Tag != "" {
		text += ":" + p.Tag
	}
	to, err := s.Payer.Destination(code, text)
	switch {
	case err != nil && p.Tag != "":
		if _, alone := s.Payer.Destination(code, p.Address); alone == nil {
			return to, bursar.RefuseField(bursar.CodeInvalidAddress, "tag", "this is not a %s", tagOf(currency))
		}
		return to, err
	case err != nil:
		return to, err
	case currency.Memo != "" && !to.HasMemo && !p.NoTag:
		return to, bursar.RefuseField(bursar.CodeInvalidRequest, "tag",
			"give the %s, or say that the address has none", tagOf(currency))
	case to.HasMemo && p.NoTag:
		return to, bursar.RefuseField(bursar.CodeInvalidRequest, "tag", "the address has a %s", tagOf(currency))
	}
	return to, nil
}

func tagOf(c bursar.Currency) string {
	if c.Memo == "" {
		return "tag"
	}
	return c.Memo
}
