// Package treasury shows what is the operator's own, and pays it out.
//
// It owns the treasury's account and the rule of how much may be taken. It pays nothing itself: a treasury withdrawal
// is a withdrawal of that account, and passes every check that a customer's does. Its invariants: never more is taken
// than is the operator's own and not set aside for the fees of what is under way, however many take at the same time;
// it goes to the account's listed destinations only; who took it and why is recorded with it.
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

// Account is the treasury's: an account like any other, and nobody has a key to it.
var Account = bursar.ID{0: 't', 1: 'r', 2: 'e', 3: 'a', 4: 's', 5: 'u', 6: 0x70, 7: 'r', 8: 0x80, 9: 'y', 15: 1}

// Order asks for some of the operator's own.
type Order struct {
	Currency bursar.CurrencyCode
	Amount   string // plain decimal
	To       string // an address of the list, or the label of one
	Reason   string
	Actor    string
}

// Pay takes an order of an account to pay, as withdrawals are taken; fund runs in the transaction that holds the money,
// and done behind it.
type Pay func(ctx context.Context, o Order, address string, fund,
	done func(context.Context, *store.Tx, bursar.Withdrawal) error) (bursar.Withdrawal, error)

// Service is the operator's purse. It is safe for concurrent use.
type Service struct {
	DB       *store.DB
	Registry *bursar.Registry
	Pay      Pay
}

// Open makes sure that the treasury's account is there, with its list of destinations switched on.
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

// Withdraw orders a payment of the operator's own. Errors: *bursar.Error for whatever is wrong with the order.
func (s *Service) Withdraw(ctx context.Context, o Order) (bursar.Withdrawal, error) {
	if strings.TrimSpace(o.Reason) == "" {
		return bursar.Withdrawal{}, bursar.Refuse(bursar.CodeInvalidRequest, "say why: a treasury withdrawal has a reason")
	}
	currency, err := s.Registry.Get(o.Currency)
	if err != nil {
		return bursar.Withdrawal{}, err
	}
	if err := s.Open(ctx); err != nil {
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
			return tx.TreasuryOrders().Insert(ctx, w.ID, o.Actor, o.Reason)
		})
}

// destination finds the address that a label stands for. It refuses while the list is switched off: then anything would
// go.
func (s *Service) destination(ctx context.Context, to string) (address string, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list, err := tx.DestinationLists().Get(ctx, Account)
		if err != nil {
			return err
		}
		if !list.Binds(tx.Now()) {
			return bursar.Refuse(bursar.CodeDestinationRefused,
				"the treasury's list of destinations is switched off: `bursar destination enable --account %s`", Account)
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

// fund sets aside what a withdrawal takes of the operator's own, in the transaction that holds it. The chain is
// locked, so that neither another withdrawal nor the fee of a transaction counts on the same. What an earlier
// withdrawal brought back is taken first; it may have been lost meanwhile like anything else of the operator's.
func (s *Service) fund(ctx context.Context, tx *store.Tx, c bursar.Currency, w bursar.Withdrawal) error {
	need, err := w.Amount.Add(w.Fee)
	if err != nil {
		return err
	}
	has, err := tx.Ledger().Balance(ctx, ledger.Available(w.AccountID),
		w.Currency) // what a withdrawal that failed brought back
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
			"%s %s are the operator's own and free to take; this needs %s %s with its fee",
			c.Exact(free), c.Code, c.Exact(need), c.Code)
	}
	if need = need.SubOrZero(left); need.IsZero() {
		return nil
	}
	err = tx.Ledger().Post(ctx, ledger.TreasuryFunded(w, need, tx.Now()))
	if errors.Is(err, store.ErrPosted) {
		return nil // a commit whose answer was lost
	}
	return err
}

// free is what may be taken of a currency: the operator's own with back, which was drawn and came back, less what the
// transactions under way may cost it, and never so much that less is held than is owed to others.
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
	custody, err := tx.Ledger().Balance(ctx, ledger.Custody, c.Code)
	if err != nil {
		return bursar.Amount{}, err
	}
	owed, err := tx.Custody().LiabilitySum(ctx, c.Code)
	held, _ := custody.Net(ledger.Asset)
	if spare := held.SubOrZero(owed.SubOrZero(back)); spare.Less(free) {
		free = spare
	}
	return free, err
}

// Position is what the treasury has of one currency.
type Position struct {
	Currency       bursar.Currency
	DepositFees    bursar.Amount
	WithdrawalFees bursar.Amount
	Capital        bursar.Amount // operator funds
	NetworkFees    bursar.Amount // that networks took
	Losses         bursar.Amount
	Drawings       bursar.Amount // taken out
	Aside          bursar.Amount // of the treasury's account: on its way out, or back from a withdrawal that failed
	Free           bursar.Amount // may be taken now
	Short          bursar.Amount // by how much networks and losses took more than there was
}

// Show returns what the treasury has of every currency.
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
	}{{ledger.DepositFees, &p.DepositFees}, {ledger.WithdrawalFees, &p.WithdrawalFees}, {ledger.Capital, &p.Capital},
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
	p.Drawings, _ = drawn.Net(ledger.Asset) // it grows by debits
	for _, account := range []ledger.Account{ledger.Available(Account), ledger.Held(Account)} {
		b, err := tx.Ledger().Balance(ctx, account, c.Code)
		if err != nil {
			return p, err
		}
		amount, _ := b.Net(ledger.Liability)
		if p.Aside, err = p.Aside.Add(amount); err != nil {
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
