package unattributed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// RefundRequest is a request to refund value to its sender.
type RefundRequest struct {
	Deposit bursar.ID
	To      string // address, or address:memo
	// FromOperatorFunds makes the operator bear the chain's fees. Otherwise a native asset pays them out of its amount; a
	// token is always refunded in full.
	FromOperatorFunds bool
	Note              string
	By                string // the operator, by name; empty: not known
	Done              []Done
}

// Refund sets the value aside to be refunded. It is paid from the hot wallet like a withdrawal: all funds in custody
// are one pool, and the value itself is swept into it like any deposit. The destination is refused for the same reasons
// as a withdrawal's. It may be requested while the chain recovers: it waits, and the recovery adopts the payment that
// was made before, if there was one.
func (s *Service) Refund(ctx context.Context, r RefundRequest) (bursar.Resolution, error) {
	d, p, err := s.price(ctx, r)
	if err != nil {
		return bursar.Resolution{}, err
	}
	at, err := s.chain(d.Chain)
	if err != nil {
		return bursar.Resolution{}, err
	}
	return s.decide(ctx, r.Deposit, r.Note, r.Done,
		func(tx *store.Tx, now bursar.Deposit, n bursar.Resolution) (bursar.Resolution, error) {
			if now.Amount != d.Amount {
				return n, fmt.Errorf("deposit %s came back with another amount after a reorganisation: resolve it again", d.ID)
			}
			n.Kind, n.Status, n.Address, n.Amount, n.Fee = bursar.ResolutionRefund, bursar.ResolutionQueued, p.to,
				p.amount, p.fee
			if err := notRefunded(ctx, tx, n, now, at); err != nil {
				return n, err
			}
			n.RequestedBy = r.By
			if err := tx.Ledger().Post(ctx, ledger.RefundHeld(n, tx.Now())); err != nil {
				return n, err
			}
			return n, markRefunded(ctx, tx, now)
		})
}

// priced is a refund request that was checked.
type priced struct {
	to          bursar.Address
	amount, fee bursar.Amount
}

// askWithin is how long the node's answer is awaited.
const askWithin = 10 * time.Second

// price checks a refund request and splits the value into what is paid and what is deducted for the chain's fees. It
// asks the node, before anything is locked.
func (s *Service) price(ctx context.Context, r RefundRequest) (d bursar.Deposit, p priced, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if d, err = tx.Deposits().ByID(ctx, r.Deposit); err != nil {
			return store.AsRefusal(err)
		}
		return unresolved(ctx, tx, d)
	})
	if err != nil {
		return d, p, err
	}
	at, err := s.chain(d.Chain)
	if err != nil {
		return d, p, err
	}
	if p.to, err = s.destination(ctx, at, r.To); err != nil {
		return d, p, err
	}
	cost, err := ask(ctx, at, chain.Payment{Address: p.to, Contract: d.Contract, Amount: d.Amount})
	if err != nil || d.Contract != "" || r.FromOperatorFunds {
		p.amount = d.Amount
		return d, p, err
	}
	return d, p, s.deduct(ctx, at, d, &p, cost)
}

// deduct deducts from the amount what the payment costs, and what it costs to sweep the value to the hot wallet, where
// it did not arrive there.
func (s *Service) deduct(
	ctx context.Context, at ChainContext, d bursar.Deposit, p *priced, cost bursar.Amount,
) (err error) {
	p.fee = cost
	if at.Chain.Capabilities().Model == chain.AccountModel && d.Address.Base != at.Hot {
		sweep, err := ask(ctx, at, chain.Payment{Address: bursar.Address{Base: at.Hot}, Amount: d.Amount})
		if err != nil {
			return err
		}
		if p.fee, err = p.fee.Add(sweep); err != nil {
			return err
		}
	}
	currency, err := s.Registry.Get(d.Currency)
	if err != nil {
		return err
	}
	if p.amount, err = d.Amount.Sub(p.fee); err != nil || p.amount.IsZero() {
		return fmt.Errorf("%w: the chain's fees of %s %s are no less than the %s that came", ErrDestination,
			currency.Exact(p.fee), d.Currency, currency.Exact(d.Amount))
	}
	_, err = ask(ctx, at, chain.Payment{Address: p.to, Amount: p.amount})
	return err
}

// destination parses an address that must not be of this service. A payment to a wallet's address by mistake is
// assigned, not sent to the service itself.
func (s *Service) destination(ctx context.Context, at ChainContext, text string) (bursar.Address, error) {
	to, err := at.Chain.ParseAddress(text)
	if err != nil {
		return to, fmt.Errorf("%w: %.100q is not a payable address of %s on this network", ErrDestination, text,
			at.Chain.Capabilities().ID)
	}
	if to.Base == at.Hot || slices.Contains(at.Old, to.Base) {
		return to, fmt.Errorf("%w: %s is an address of this service; assign the value to a wallet, or keep it",
			ErrDestination, to)
	}
	var w bursar.Wallet
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		w, err = tx.Wallets().ByAddress(ctx, at.Chain.Capabilities().Family, to)
		return err
	})
	switch {
	case err == nil:
		return to, fmt.Errorf("%w: %s is an address of wallet %s; assign the value to a wallet", ErrDestination, to, w.ID)
	case errors.Is(err, store.ErrNotFound):
		return to, nil
	}
	return to, err
}

// ask returns what a payment costs, or why it can never be made.
func ask(ctx context.Context, at ChainContext, p chain.Payment) (bursar.Amount, error) {
	cost, err := at.Chain.Quote(ctx, p)
	var refused *chain.RefusedError
	switch {
	case errors.As(err, &refused):
		return cost, fmt.Errorf("%w: %s", ErrDestination, refused.Reason)
	case err != nil:
		return cost, fmt.Errorf("the chain cannot be asked what it costs: %w", err)
	}
	return cost, nil
}
