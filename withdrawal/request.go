package withdrawal

import (
	"context"
	"errors"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Request is a client's request, in the text forms of the API.
type Request struct {
	Account   bursar.ID
	Currency  bursar.CurrencyCode
	Amount    string // plain decimal
	Address   string
	Reference string            // the client's own name of it: the same again is the same withdrawal; empty: none
	Metadata  map[string]string // kept with it and shown; nil: none

	Order Order  // that the client signed; accounts with keys need one
	By    string // who asks: an operator's name, or an API key as bursar.KeyRequester writes it; empty: not known

	quoting bool // it is only priced

	// Fund runs in the transaction that holds the money, before the hold: what it books may be held. Its error refuses
	// this withdrawal alone, and it must then have written nothing. The currency's chain is locked while it runs.
	Fund func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error

	// Done runs in the transaction that holds the money, so that its writes are committed with the withdrawal or not at
	// all.
	Done func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// prepared is a request that was checked and only needs its money.
type prepared struct {
	withdrawal bursar.Withdrawal
	currency   bursar.Currency
	receiver   *bursar.Wallet // wallet of this service to be paid; nil: the chain pays
	order      *ordered       // that the client signed; nil: the account has no keys
	networkFee bursar.Amount  // as the chain's node estimates it
	unpriced   bool           // that is not known
	request    string         // the ID of the client's request, for the log
	tried      *bool          // a transaction that records it has run before, and may have been committed
	fund, done func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// answerRecorded calls done for a request that is answered with a withdrawal which was recorded before.
func (p prepared) answerRecorded(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	if p.done == nil {
		return nil
	}
	return p.done(ctx, tx, w)
}

// Request records a withdrawal and returns it once its money is held. A repeated signed order returns the withdrawal
// that it created. Errors: a *bursar.Error for whatever is wrong with the request; nothing has changed then.
func (s *Service) Request(ctx context.Context, r Request) (bursar.Withdrawal, error) {
	order, err := s.verified(ctx, r)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	w, before, err := s.replayed(ctx, r, order)
	if err != nil || before {
		return w, err
	}
	if w, before, err = s.referred(ctx, r); err != nil || before {
		return w, err
	}
	p, err := s.prepare(ctx, r, order)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	w, err = s.batch.Do(ctx, p)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	if w.Status == bursar.WithdrawalQueued && s.queued != nil {
		s.queued(p.currency.Chain)
	}
	return w, nil
}

// prepare refuses everything that can be refused before any debit.
func (s *Service) prepare(ctx context.Context, r Request, order *ordered) (prepared, error) {
	currency, err := s.registry.Get(r.Currency)
	if err != nil {
		return prepared{}, err
	}
	c, on := s.chains[currency.Chain]
	if !on {
		return prepared{}, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency",
			"the chain of %s is not configured here", r.Currency)
	}
	if s.suspended != nil && s.suspended(currency.Code) != "" { // the reason is for the operator only
		return prepared{}, bursar.RefuseField(bursar.CodeUnavailable, "currency",
			"%s is suspended for the moment and cannot be paid", currency.Code)
	}
	amount, err := parseAmount(currency, r.Amount)
	if err != nil {
		return prepared{}, err
	}
	metadata, err := checkedTexts(r)
	if err != nil {
		return prepared{}, err
	}
	to, err := addressOf(c, currency, r.Address)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{
		currency: currency,
		fund:     r.Fund,
		done:     r.Done,
		request:  bursar.RequestOf(ctx),
		tried:    new(bool),
		order:    order,
		withdrawal: bursar.Withdrawal{ID: s.ids.Next(), AccountID: r.Account, Currency: currency.Code,
			Amount: amount, Address: to, Status: bursar.WithdrawalQueued, RequestedBy: r.By,
			Reference: r.Reference, Metadata: metadata},
	}
	destination, err := s.destinations.Find(ctx,
		destinationOf{r.Account, store.WalletAddress{Family: c.Capabilities().Family, Address: to}})
	if err == nil && order == nil && destination.signs && !r.quoting {
		err = errUnsigned
	}
	if err == nil && order != nil {
		err = s.checkTerms(ctx, order, currency, p.withdrawal)
	}
	if err != nil {
		return prepared{}, err
	}
	if p.receiver, err = s.receiver(ctx, c.Capabilities(), currency, p.withdrawal, destination); err != nil {
		return prepared{}, err
	}
	if p.receiver == nil {
		err = s.quote(ctx, c, &p)
	}
	return p, err
}

// Destination reads an address to which a currency might be paid; whether it can be is for its chain to say when it is.
// Errors: unsupported_currency, invalid_address.
func (s *Service) Destination(code bursar.CurrencyCode, text string) (bursar.Address, error) {
	currency, err := s.registry.Get(code)
	if err != nil {
		return bursar.Address{}, err
	}
	c, on := s.chains[currency.Chain]
	if !on {
		return bursar.Address{}, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency",
			"the chain of %s is not configured here", code)
	}
	return addressOf(c, currency, text)
}

func addressOf(c Chain, currency bursar.Currency, text string) (bursar.Address, error) {
	to, err := c.ParseAddress(text)
	if err != nil {
		return to, bursar.RefuseField(bursar.CodeInvalidAddress, "address",
			"this is not a valid address of %s on this network", currency.Chain)
	}
	return to, nil
}

func parseAmount(c bursar.Currency, text string) (bursar.Amount, error) {
	amount, err := c.Parse(text)
	switch {
	case errors.Is(err, bursar.ErrAmountPlaces):
		return amount, bursar.RefuseField(bursar.CodeInvalidAmount, "amount", "an amount of %s has at most %d decimal places",
			c.Code, c.Places)
	case err != nil:
		return amount, bursar.RefuseField(bursar.CodeInvalidAmount, "amount",
			"the amount must be a plain decimal number without sign, exponent or leading zeros")
	case amount.IsZero():
		return amount, bursar.RefuseField(bursar.CodeInvalidAmount, "amount", "the amount must be more than zero")
	case amount.Less(c.WithdrawalMinimum):
		return amount, bursar.RefuseField(bursar.CodeBelowMinimum, "amount", "the smallest withdrawal of %s is %s", c.Code,
			c.Exact(c.WithdrawalMinimum))
	case !c.WithdrawalMaximum.IsZero() && c.WithdrawalMaximum.Less(amount):
		return amount, errAbove(c, c.WithdrawalMaximum)
	}
	return amount, nil
}

// receiver returns the wallet of this service that has the request's address. A wallet of another currency, and the hot
// wallet of any epoch, could never be credited and are refused; so is what the account's list refuses.
func (s *Service) receiver(
	ctx context.Context, capabilities chain.Capabilities, currency bursar.Currency, w bursar.Withdrawal,
	destination destinationInfo,
) (*bursar.Wallet, error) {
	to := w.Address
	refused := bursar.RefuseField(bursar.CodeDestinationRefused, "address", "this address cannot receive %s",
		currency.Code)
	if to.Base == s.hot[capabilities.ID] && !capabilities.SharedAddress ||
		slices.Contains(s.old[capabilities.ID], to.Base) {
		return nil, refused
	}
	if destination.wallet != nil && destination.wallet.Currency == currency.Code {
		return destination.wallet, nil // the list is asked where the money is held; no node is asked before
	}
	if refused := s.expectedAtList(ctx, destination.list, w, capabilities.Family); refused != nil {
		return nil, refused
	}
	if destination.wallet != nil || to.Base == s.hot[capabilities.ID] { // the shared address with a tag of no wallet
		return nil, refused
	}
	return nil, nil
}

var errFrozen = bursar.Refuse(bursar.CodeWithdrawalsFrozen, "withdrawals of this account are frozen; ask the operator")

// asRefusal turns an error of the books into a refusal. A cost that overflows them is more than any balance.
func asRefusal(err error, c bursar.Currency) error {
	if errors.Is(err, ledger.ErrInsufficient) || errors.Is(err, bursar.ErrAmountOverflow) {
		return bursar.RefuseField(bursar.CodeInsufficientBalance, "amount",
			"the balance of %s does not cover the amount and its fee", c.Code)
	}
	return err
}
