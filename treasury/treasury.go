// Package treasury shows operator funds, and pays them out.
//
// It owns the treasury's account and the rule of how much may be withdrawn. It pays nothing itself: a treasury
// withdrawal is a withdrawal of that account, and passes every check that a customer's does. Its invariants:
// withdrawals never exceed operator funds minus what is set aside for the fees of pending transactions, even
// concurrently; they go to the account's listed destinations only; who requested a withdrawal and why is recorded with
// it.
package treasury

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Account is the treasury's account: an account like any other, without API keys.
var Account = bursar.ID{0: 't', 1: 'r', 2: 'e', 3: 'a', 4: 's', 5: 'u', 6: 0x70, 7: 'r', 8: 0x80, 9: 'y', 15: 1}

// Request is a request to withdraw operator funds.
type Request struct {
	Currency bursar.CurrencyCode
	Amount   string // plain decimal, in whole units
	To       string // an address of the list, or the label of one
	Reason   string
	Actor    string

	// Done runs in the transaction that records the withdrawal, and may be nil.
	Done func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// Pay creates a withdrawal of an account, as for customers; fund runs in the transaction that holds the money, and done
// after it.
type Pay func(ctx context.Context, o Request, address string, fund,
	done func(context.Context, *store.Tx, bursar.Withdrawal) error) (bursar.Withdrawal, error)

// Service shows and withdraws operator funds. It is safe for concurrent use.
type Service struct {
	DB       *store.DB
	Registry *bursar.Registry
	Pay      Pay
}

// Open ensures that the treasury's account exists, with its list of destinations switched on.
func (s *Service) Open(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		_, err := tx.Accounts().Get(ctx, Account)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := tx.Accounts().Insert(ctx, bursar.Account{
			ID:                Account,
			Name:              "treasury",
			CreatedAt:         tx.Now(),
			WebhookGeneration: 1,
		}); err != nil {
			return err
		}
		return tx.DestinationLists().Set(ctx, Account, time.Time{})
	})
}

// Withdraw requests a withdrawal of operator funds. Errors: *bursar.Error for an invalid request.
func (s *Service) Withdraw(ctx context.Context, o Request) (bursar.Withdrawal, error) {
	if strings.TrimSpace(o.Reason) == "" {
		return bursar.Withdrawal{}, bursar.Refuse(bursar.CodeInvalidRequest, "reason is required for a treasury withdrawal")
	}
	currency, err := s.Registry.Get(o.Currency)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	address, err := s.destination(ctx, o.To)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	return s.Pay(ctx, o, address,
		func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
			return s.fund(ctx, tx, currency, w)
		},
		func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
			err := tx.TreasuryOrders().Insert(ctx, w.ID, o.Actor, o.Reason)
			if err != nil || o.Done == nil {
				return err
			}
			return o.Done(ctx, tx, w)
		})
}

// Address returns the address that a label names now. Any other text is returned unchanged; Withdraw validates it.
func (s *Service) Address(ctx context.Context, to string) (address string, err error) {
	address = to
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		listed, err := tx.Destinations().List(ctx, Account, store.Page{Limit: 1000})
		if i := slices.IndexFunc(listed, func(d bursar.Destination) bool { return d.Label == to }); i >= 0 {
			address = listed[i].Address.String()
		}
		return err
	})
	return address, err
}

// destination returns the address of a label. It refuses while the list is switched off, because then any address would
// be accepted.
func (s *Service) destination(ctx context.Context, to string) (address string, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		// Nothing is written before the one transaction that pays: a rehearsal ends at the first that wrote something.
		if _, err := tx.Accounts().Get(ctx, Account); errors.Is(err, store.ErrNotFound) {
			return bursar.Refuse(bursar.CodeDestinationRefused,
				"the treasury has no destination: list one with `bursar destination add --account %s`", Account)
		}
		list, err := tx.DestinationLists().Get(ctx, Account)
		if err != nil {
			return err
		}
		if !list.Binds(tx.Now()) {
			return bursar.Refuse(bursar.CodeDestinationRefused,
				"the treasury's list of destinations is switched off: switch it on with `bursar destination enable --account %s`",
				Account)
		}
		listed, err := tx.Destinations().List(ctx, Account, store.Page{Limit: 1000})
		if err != nil {
			return err
		}
		address = to
		if i := slices.IndexFunc(listed, func(d bursar.Destination) bool { return d.Label == to }); i >= 0 {
			address = listed[i].Address.String()
		}
		return nil
	})
	return address, err
}

// fund sets aside the operator funds for a withdrawal, in the transaction that holds them. The chain is locked, so that
// neither another withdrawal nor the fee of a transaction uses the same funds. What a failed withdrawal returned is
// used first; it may have been lost in the meantime like any other operator funds.
func (s *Service) fund(ctx context.Context, tx *store.Tx, c bursar.Currency, w bursar.Withdrawal) error {
	need, err := w.Amount.Add(w.Fee)
	if err != nil {
		return err
	}
	has, err := tx.Ledger().Balance(ctx, ledger.Available(w.AccountID),
		w.Currency) // what a failed withdrawal returned
	if err != nil {
		return err
	}
	left, _ := has.Net(ledger.Liability)
	free, err := free(ctx, tx, c, left)
	if err != nil {
		return err
	}
	if free.Less(need) {
		return bursar.RefuseField(bursar.CodeInsufficientBalance, "amount",
			"%s %s of operator funds are free; this withdrawal needs %s %s with its fee",
			c.Exact(free), c.Code, c.Exact(need), c.Code)
	}
	if need = need.SubOrZero(left); need.IsZero() {
		return nil
	}
	err = tx.Ledger().Post(ctx, ledger.TreasuryFunded(w, need, tx.Now()))
	if errors.Is(err, store.ErrPosted) {
		return nil // a repeated commit whose answer was lost
	}
	return err
}

// free returns how much of a currency may be withdrawn: operator funds including back, which was drawn and returned,
// minus what pending transactions may cost, and limited so that custody covers what is owed to others.
func free(ctx context.Context, tx *store.Tx, c bursar.Currency, back bursar.Amount) (bursar.Amount, error) {
	own, err := tx.OperatorFunds().Get(ctx, c.Code)
	if err != nil {
		return bursar.Amount{}, err
	}
	free, err := own.Amount.Add(back)
	if err != nil {
		return bursar.Amount{}, err
	}
	free = free.SubOrZero(own.Short)
	if !c.IsToken() {
		fees, err := tx.OperatorFunds().Fees(ctx, c.Chain, bursar.ID{})
		if err != nil {
			return bursar.Amount{}, err
		}
		free = free.SubOrZero(fees)
	}
	held, _, err := tx.Ledger().Held(ctx, c.Code)
	if err != nil {
		return bursar.Amount{}, err
	}
	owed, err := tx.Custody().LiabilitySum(ctx, c.Code)
	if spare := held.SubOrZero(owed.SubOrZero(back)); spare.Less(free) {
		free = spare
	}
	return free, err
}

// Position is the treasury's state in one currency.
type Position struct {
	Currency       bursar.Currency
	DepositFees    bursar.Amount
	WithdrawalFees bursar.Amount
	OperatorFunds  bursar.Amount // operator funds
	NetworkFees    bursar.Amount // network fees paid
	Losses         bursar.Amount
	Drawings       bursar.Amount // withdrawn
	SetAside       bursar.Amount // balance of the treasury's account: about to be paid, or returned by a failed withdrawal
	Free           bursar.Amount // may be withdrawn now
	Short          bursar.Amount // by how much network fees and losses exceed operator funds
}

// Show returns the treasury's position in every currency.
func (s *Service) Show(ctx context.Context) (list []Position, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list = nil
		for _, currency := range s.Registry.All() {
			p, err := position(ctx, tx, currency)
			if err != nil {
				return fmt.Errorf("read the treasury's %s: %w", currency.Code, err)
			}
			list = append(list, p)
		}
		return nil
	})
	return list, err
}

func position(ctx context.Context, tx *store.Tx, c bursar.Currency) (p Position, err error) {
	p.Currency = c
	for _, of := range []struct {
		account ledger.Account
		to      *bursar.Amount
	}{{ledger.DepositFees, &p.DepositFees}, {ledger.WithdrawalFees, &p.WithdrawalFees}, {ledger.Capital, &p.OperatorFunds},
		{ledger.NetworkFees, &p.NetworkFees}, {ledger.Losses, &p.Losses}} {
		b, err := tx.Ledger().Balance(ctx, of.account, c.Code)
		if err != nil {
			return p, err
		}
		*of.to, _ = b.Net(of.account.Type())
	}
	drawn, err := tx.Ledger().Balance(ctx, ledger.Drawings, c.Code)
	if err != nil {
		return p, err
	}
	p.Drawings, _ = drawn.Net(ledger.Asset) // it increases by debits
	for _, account := range []ledger.Account{ledger.Available(Account), ledger.Held(Account)} {
		b, err := tx.Ledger().Balance(ctx, account, c.Code)
		if err != nil {
			return p, err
		}
		amount, _ := b.Net(ledger.Liability)
		if p.SetAside, err = p.SetAside.Add(amount); err != nil {
			return p, err
		}
	}
	own, err := tx.OperatorFunds().Get(ctx, c.Code)
	if err != nil {
		return p, err
	}
	p.Short = own.Short
	p.Free, err = free(ctx, tx, c, bursar.Amount{})
	return p, err
}
