// Package withdrawal owns every change of a withdrawal's status: it checks customers' requests, holds their money, lets
// operators approve, reject or cancel them, and books the results of those that an outgoing transaction pays (Payouts),
// each change beside its reversal. It sends nothing: package outgoing pays what is queued.
//
// Its invariants: a request is refused before any debit or its whole cost is held; amount and fee are held in the
// transaction that records the withdrawal; a withdrawal ends as exactly one of settled and refunded.
package withdrawal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Chain is the part of a chain that a withdrawal request needs.
type Chain interface {
	Capabilities() chain.Capabilities
	ParseAddress(s string) (bursar.Address, error)
	Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error)
}

// Service takes withdrawal requests. It is safe for concurrent use.
type Service struct {
	db        *store.DB
	chains    map[bursar.ChainID]Chain
	hot       map[bursar.ChainID]string
	registry  *bursar.Registry
	ids       *bursar.IDs
	credits   deposit.Credits
	log       *slog.Logger
	quotes    *quotes
	taken     func(bursar.ChainID) // called after a withdrawal was queued
	batch     *store.Batch[prepared, bursar.Withdrawal]
	suspended func(code bursar.CurrencyCode) string
	behind    func(context.Context) (string, error)
	leave     func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// Config holds the dependencies of a Service. Hot names the hot wallet of each chain; Taken is called after a commit
// that queued a withdrawal on a chain and may be nil.
type Config struct {
	DB       *store.DB
	Chains   map[bursar.ChainID]Chain
	Hot      map[bursar.ChainID]string
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Rates    deposit.Rates // nil: events carry no values in USDT
	Log      *slog.Logger
	Taken    func(bursar.ChainID)

	Suspended func(code bursar.CurrencyCode) string // why a currency is not paid now, "" if it is; nil: all are

	// Behind returns the reason why the database may be older than it was, though no chain recovers yet; "" where there
	// is none. nil: not known.
	Behind func(ctx context.Context) (string, error)

	// Leave gives up the outgoing transaction that pays a withdrawal, so that the withdrawal can be cancelled; the error
	// is ErrTooLate where that may have been signed. Package outgoing implements it.
	Leave func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// NewService returns a service.
func NewService(c Config) *Service {
	s := &Service{
		db:        c.DB,
		chains:    c.Chains,
		hot:       c.Hot,
		registry:  c.Registry,
		ids:       c.IDs,
		credits:   deposit.Credits{Registry: c.Registry, IDs: c.IDs, Log: c.Log, Rates: c.Rates},
		log:       c.Log,
		taken:     c.Taken,
		quotes:    newQuotes(c.DB.Now),
		suspended: c.Suspended,
		behind:    c.Behind,
		leave:     c.Leave,
	}
	s.batch = store.NewBatch(c.DB, s.holdAll).Repeating()
	return s
}

// Request is a client's request, in the text forms of the API.
type Request struct {
	Account  bursar.ID
	Currency bursar.CurrencyCode
	Amount   string // plain decimal
	Address  string

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
	fund, done func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// Request records a withdrawal and returns it once its money is held. Errors: a *bursar.Error for whatever is wrong
// with the request; nothing has changed then.
func (s *Service) Request(ctx context.Context, o Request) (bursar.Withdrawal, error) {
	p, err := s.prepare(ctx, o)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	w, err := s.batch.Do(ctx, p)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	if w.Status == bursar.WithdrawalQueued && s.taken != nil {
		s.taken(p.currency.Chain)
	}
	return w, nil
}

// prepare refuses everything that can be refused before any debit.
func (s *Service) prepare(ctx context.Context, o Request) (prepared, error) {
	currency, err := s.registry.Get(o.Currency)
	if err != nil {
		return prepared{}, err
	}
	c, on := s.chains[currency.Chain]
	if !on {
		return prepared{}, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency",
			"the chain of %s is not configured here", o.Currency)
	}
	if s.suspended != nil && s.suspended(currency.Code) != "" { // the reason is for the operator only
		return prepared{}, bursar.RefuseField(bursar.CodeUnavailable, "currency",
			"%s is suspended for the moment and cannot be paid", currency.Code)
	}
	amount, err := parseAmount(currency, o.Amount)
	if err != nil {
		return prepared{}, err
	}
	to, err := c.ParseAddress(o.Address)
	if err != nil {
		return prepared{}, bursar.RefuseField(bursar.CodeInvalidAddress, "address",
			"this is not a valid address of %s on this network", currency.Chain)
	}
	p := prepared{
		currency: currency,
		fund:     o.Fund,
		done:     o.Done,
		withdrawal: bursar.Withdrawal{ID: s.ids.Next(), AccountID: o.Account, Currency: currency.Code,
			Amount: amount, Address: to, Status: bursar.WithdrawalQueued},
	}
	if p.receiver, err = s.receiver(ctx, c.Capabilities(), currency, p.withdrawal); err != nil {
		return prepared{}, err
	}
	if !currency.ApprovalAbove.IsZero() && currency.ApprovalAbove.Less(amount) {
		p.withdrawal.Status = bursar.WithdrawalPendingApproval
	}
	p.withdrawal.Fee, err = s.fee(ctx, c, p)
	return p, asRefusal(err, currency)
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
		return amount, bursar.RefuseField(bursar.CodeAboveMaximum, "amount", "the largest withdrawal of %s is %s", c.Code,
			c.Exact(c.WithdrawalMaximum))
	}
	return amount, nil
}

// receiver returns the wallet of this service that has the request's address. A wallet of another currency, and the hot
// wallet, could never be credited and are refused; so is what the account's list refuses.
func (s *Service) receiver(
	ctx context.Context, capabilities chain.Capabilities, currency bursar.Currency, order bursar.Withdrawal,
) (*bursar.Wallet, error) {
	to := order.Address
	refused := bursar.RefuseField(bursar.CodeDestinationRefused, "address", "this address cannot receive %s",
		currency.Code)
	if to.Base == s.hot[capabilities.ID] && !capabilities.SharedAddress {
		return nil, refused
	}
	var w bursar.Wallet
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if err := s.expectedAtList(ctx, tx, order, capabilities.Family); err != nil {
			return err
		}
		w, err = tx.Wallets().ByAddress(ctx, capabilities.Family, to)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		if to.Base == s.hot[capabilities.ID] {
			return nil, refused // the shared address with a tag of no wallet
		}
		return nil, nil
	case err != nil:
		return nil, err
	case w.Currency != currency.Code:
		return nil, refused
	}
	return &w, nil
}

// holdAll records the withdrawals of one batch and holds their money; each is accepted or refused alone.
func (s *Service) holdAll(
	ctx context.Context, tx *store.Tx, orders []prepared,
) ([]store.Result[bursar.Withdrawal], error) {
	results := make([]store.Result[bursar.Withdrawal], len(orders))
	if err := lockChains(ctx, tx, orders); err != nil {
		return nil, err
	}
	if err := s.lockAccounts(ctx, tx, orders, results); err != nil {
		return nil, err
	}
	if err := s.heldToLists(ctx, tx, orders, results); err != nil {
		return nil, err
	}
	var entries []ledger.Entry
	var index []int
	var err error
	for i, p := range orders {
		p.withdrawal.CreatedAt = tx.Now()
		if results[i].Err == nil && p.fund != nil {
			if results[i], err = s.holdFunded(ctx, tx, p); err != nil {
				return nil, err
			}
			continue
		}
		if results[i].Err == nil {
			entries, index = append(entries, ledger.WithdrawalHeld(p.withdrawal, tx.Now())), append(index, i)
		}
	}
	var refused []error
	if refused, err = tx.Ledger().PostEach(ctx, entries); err != nil {
		return nil, err
	}
	for n, i := range index {
		if errors.Is(refused[n], store.ErrPosted) { // the answer to a commit was lost: the withdrawal is recorded
			p := orders[i].withdrawal
			results[i].Value, results[i].Err = tx.Withdrawals().Get(ctx, p.AccountID, p.ID)
			continue
		}
		if results[i].Err = asRefusal(refused[n], orders[i].currency); results[i].Err != nil {
			continue
		}
		if results[i].Value, err = s.record(ctx, tx, orders[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// holdFunded funds one withdrawal and holds its money, before the next one is funded.
func (s *Service) holdFunded(
	ctx context.Context, tx *store.Tx, p prepared,
) (result store.Result[bursar.Withdrawal], err error) {
	if result.Err = p.fund(ctx, tx, p.withdrawal); result.Err != nil {
		return result, nil
	}
	refused, err := tx.Ledger().PostEach(ctx, []ledger.Entry{ledger.WithdrawalHeld(p.withdrawal, tx.Now())})
	if err != nil {
		return result, err
	}
	if errors.Is(refused[0], store.ErrPosted) { // the answer to a commit was lost: the withdrawal is recorded
		result.Value, result.Err = tx.Withdrawals().Get(ctx, p.withdrawal.AccountID, p.withdrawal.ID)
		return result, nil
	}
	if result.Err = asRefusal(refused[0], p.currency); result.Err == nil {
		result.Value, err = s.record(ctx, tx, p)
	}
	return result, err
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

// lockChains locks the chains of withdrawals that are funded in this transaction: before any account, in the same
// sequence as followers and senders lock them.
func lockChains(ctx context.Context, tx *store.Tx, orders []prepared) error {
	var chains []bursar.ChainID
	for _, p := range orders {
		if p.fund != nil {
			chains = append(chains, p.currency.Chain)
		}
	}
	slices.Sort(chains)
	for _, id := range slices.Compact(chains) {
		if _, err := tx.Chains().Lock(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// lockAccounts locks the accounts, in the order of their ids, and refuses withdrawals of frozen ones.
func (s *Service) lockAccounts(
	ctx context.Context, tx *store.Tx, orders []prepared, results []store.Result[bursar.Withdrawal],
) error {
	frozen := map[bursar.ID]bool{}
	for _, id := range accountsOf(orders) {
		account, err := tx.Accounts().Lock(ctx, id)
		if err != nil {
			return err
		}
		frozen[id] = account.Frozen != ""
	}
	for i, p := range orders {
		if frozen[p.withdrawal.AccountID] {
			results[i].Err = errFrozen
		}
	}
	return nil
}

// accountsOf returns the accounts of the requests, each once, in the order of the ids.
func accountsOf(orders []prepared) []bursar.ID {
	var ids []bursar.ID
	for _, p := range orders {
		ids = append(ids, p.withdrawal.AccountID)
	}
	slices.SortFunc(ids, func(a, b bursar.ID) int { return cmp.Compare(string(a[:]), string(b[:])) })
	return slices.Compact(ids)
}

// record writes a withdrawal whose money is held, and settles one to another wallet of this service at once.
func (s *Service) record(ctx context.Context, tx *store.Tx, p prepared) (bursar.Withdrawal, error) {
	w := p.withdrawal
	w.CreatedAt = tx.Now()
	if err := tx.Withdrawals().Insert(ctx, p.currency.Chain, w); err != nil {
		return w, err
	}
	tx.After(func() {
		s.log.Info("withdrawal requested", "withdrawal", w.ID, "chain", p.currency.Chain, "account", p.withdrawal.AccountID,
			"currency", w.Currency,
			"amount", w.Amount, "fee", w.Fee, "address", w.Address.String(), "status", p.withdrawal.Status)
	})
	if p.receiver != nil && w.Status == bursar.WithdrawalQueued {
		var err error
		if w, err = s.settleInside(ctx, tx, w, p.currency, *p.receiver); err != nil {
			return w, err
		}
	}
	if p.done == nil {
		return w, nil
	}
	return w, p.done(ctx, tx, w)
}
