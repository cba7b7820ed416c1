package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// checkUnattributed completes the resolution of an unattributed deposit.
func (s *Service) checkUnattributed(ctx context.Context, p store.Proposal) (store.Proposal, error) {
	id, err := objectOf(p)
	if err != nil {
		return p, err
	}
	if p.Verb == proposeReturn && strings.TrimSpace(p.Destination) == "" {
		return p, bursar.RefuseField(bursar.CodeInvalidAddress, "to", "name the address to which it is paid back")
	}
	if p.Detail != "" && p.Detail != fromFunds {
		return p, bursar.RefuseField(bursar.CodeInvalidRequest, "detail", "the fee is taken from the amount, or %q",
			fromFunds)
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		d, err := tx.Deposits().ByID(ctx, id)
		if err != nil {
			return store.AsRefusal(err)
		}
		if d.Purpose != bursar.ForUnattributed || d.Status != bursar.DepositConfirmed {
			return bursar.Refuse(bursar.CodeInvalidRequest, "the deposit is %s for %s: only an unattributed one that is final "+
				"is resolved", d.Status, d.Purpose)
		}
		p.Object, p.Currency, p.Amount = id.String(), d.Currency, d.Amount
		return nil
	})
	return p, err
}

// checkAssign completes an assignment, to a wallet or else to an account.
func (s *Service) checkAssign(ctx context.Context, p store.Proposal) (store.Proposal, error) {
	if _, _, err := receiver(p); err != nil {
		return p, err
	}
	return s.checkUnattributed(ctx, p)
}

// receiver reads whom a deposit is assigned to: "wallet ID" or "account ID".
func receiver(p store.Proposal) (id bursar.ID, wallet bool, err error) {
	kind, text, _ := strings.Cut(p.Destination, " ")
	if id, err = bursar.ParseID(text); err != nil || kind != "wallet" && kind != "account" {
		return id, false, bursar.RefuseField(bursar.CodeInvalidRequest, "to", "name a wallet or an account by its ID")
	}
	return id, kind == "wallet", nil
}

func (s *Service) doAssign(ctx context.Context, p store.Proposal, done proposal.Done) error {
	id, err := objectOf(p)
	if err != nil {
		return err
	}
	to, wallet, err := receiver(p)
	if err != nil {
		return err
	}
	assign := s.Unattributed.AssignToAccount
	if wallet {
		assign = s.Unattributed.AssignToWallet
	}
	_, err = assign(ctx, id, to, p.Reason, resolved(p, done))
	return unresolvable(err)
}

func (s *Service) doReturn(ctx context.Context, p store.Proposal, done proposal.Done) error {
	id, err := objectOf(p)
	if err != nil {
		return err
	}
	_, err = s.Unattributed.Refund(ctx, unattributed.RefundRequest{
		Deposit:           id,
		To:                p.Destination,
		FromOperatorFunds: p.Detail == fromFunds,
		Note:              p.Reason,
		By:                p.Person,
		Done:              []unattributed.Done{resolved(p, done)},
	})
	return unresolvable(err)
}

func (s *Service) doKeep(ctx context.Context, p store.Proposal, done proposal.Done) error {
	id, err := objectOf(p)
	if err == nil {
		_, err = s.Unattributed.Keep(ctx, id, p.Reason, resolved(p, done))
	}
	return unresolvable(err)
}

// resolved records the resolution of the deposit that was approved, and undoes one of another value: a reorganisation
// may have brought the deposit back with another amount.
func resolved(p store.Proposal, done proposal.Done) unattributed.Done {
	return func(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
		d, err := tx.Deposits().ByID(ctx, n.DepositID)
		if err != nil {
			return err
		}
		if d.Currency != p.Currency || d.Amount != p.Amount {
			return fmt.Errorf("%w: the deposit is not of the amount that was approved", proposal.ErrVoid)
		}
		return done(ctx, tx, "resolution "+n.ID.String())
	}
}

func unresolvable(err error) error {
	return voided(err, unattributed.ErrNotUnattributed, unattributed.ErrNotFinal, unattributed.ErrTarget,
		unattributed.ErrDestination, unattributed.ErrTooLate, unattributed.ErrNote, store.ErrResolved, store.ErrAltered)
}
