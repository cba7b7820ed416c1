package unattributed

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// AssignToWallet credits the value as a deposit of a wallet or a charge, which must be of the value's currency.
func (s *Service) AssignToWallet(
	ctx context.Context, id, wallet bursar.ID, note string, done ...Done,
) (bursar.Resolution, error) {
	return s.assign(ctx, id, note, done, func(tx *store.Tx, d bursar.Deposit) (bursar.Deposit, int64, error) {
		w, err := tx.Wallets().ByID(ctx, wallet)
		if errors.Is(err, store.ErrNotFound) {
			return d, 0, fmt.Errorf("%w: there is no wallet %s", ErrTarget, wallet)
		}
		if err == nil && w.Currency != d.Currency {
			err = fmt.Errorf("%w: wallet %s is of %s and the deposit of %s; the account needs a wallet of %s", ErrTarget, wallet,
				w.Currency, d.Currency, d.Currency)
		}
		d.Purpose, d.AccountID, d.WalletID, d.Webhook, d.Metadata = bursar.ForWallet, w.AccountID, w.ID, w.Webhook, w.Metadata
		switch {
		case w.ForInvoice:
			d.Purpose = bursar.ForInvoice
		case w.ForCharge:
			d.Purpose = bursar.ForCharge
		}
		return d, w.Number, err
	})
}

// AssignToAccount credits the value as a deposit of an account, without a wallet.
func (s *Service) AssignToAccount(
	ctx context.Context, id, account bursar.ID, note string, done ...Done,
) (bursar.Resolution, error) {
	return s.assign(ctx, id, note, done, func(tx *store.Tx, d bursar.Deposit) (bursar.Deposit, int64, error) {
		_, err := tx.Accounts().Get(ctx, account)
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w: there is no account %s", ErrTarget, account)
		}
		d.Purpose, d.AccountID = bursar.ForAccount, account
		return d, 0, err
	})
}

// assign credits a deposit to the customer that owner names; owner also returns the number of the wallet.
func (s *Service) assign(ctx context.Context, id bursar.ID, note string, done []Done,
	owner func(*store.Tx, bursar.Deposit) (bursar.Deposit, int64, error)) (bursar.Resolution, error) {
	if err := s.Behind.Refuse(ctx, "the deposit"); err != nil {
		return bursar.Resolution{}, err
	}
	f := func(tx *store.Tx, d bursar.Deposit, n bursar.Resolution) (bursar.Resolution, error) {
		at, err := s.chain(d.Chain)
		if err != nil {
			return n, err
		}
		if err := tx.Recoveries().Refuse(ctx, d.Chain); err != nil {
			return n, err
		}
		if err := notRefunded(ctx, tx, n, d, at); err != nil {
			return n, err
		}
		d, wallet, err := owner(tx, d)
		if err != nil {
			return n, err
		}
		n.Kind, n.Status, n.CompletedAt = bursar.ResolutionAssign, bursar.ResolutionDone, tx.Now()
		n.AccountID, n.WalletID = d.AccountID, d.WalletID
		return n, at.Creditor.Assign(ctx, tx, d, wallet)
	}
	return s.decide(ctx, id, note, done, f)
}

func (s *Service) chain(id bursar.ChainID) (ChainContext, error) {
	at, on := s.Chains[id]
	if !on {
		return at, fmt.Errorf("chain %s of this deposit is not configured: configure it first", id)
	}
	return at, nil
}
