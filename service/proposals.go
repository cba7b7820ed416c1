package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
	"github.com/bursar/bursar/withdrawal"
)

// The verbs that several persons do together.
const (
	proposeRefund   = "charge.refund"       // object: deposit, detail: charge
	proposeTreasury = "treasury.withdraw"   // object: what the payment is for, named by its form
	proposeAssign   = "unattributed.assign" // object: deposit, destination: wallet or account
	proposeReturn   = "unattributed.refund" // object: deposit
	proposeKeep     = "unattributed.keep"   // object: deposit
	proposeApprove  = "withdrawal.approve"  // object: withdrawal
	proposeResume   = "resume.all"          // object: "all"
	proposePart     = "resume"              // object: "chain:NAME" or "currency:CODE"
	proposeUnfreeze = "account.unfreeze"    // object: account
	proposeLimit    = "limits.loosen"       // object: "all" or account, then currency and kind; no amount removes it
	fromFunds       = "fee from operator funds"
)

// rightsOf says which verbs people need to propose and to approve each.
var rightsOf = map[string]struct{ propose, approve string }{
	proposeRefund:   {"refund.propose", "withdrawal.approve"},
	proposeTreasury: {"treasury.propose", "withdrawal.approve"},
	proposeAssign:   {"unattributed.resolve", "withdrawal.approve"},
	proposeReturn:   {"unattributed.resolve", "withdrawal.approve"},
	proposeKeep:     {"unattributed.resolve", "withdrawal.approve"},
	proposeApprove:  {"withdrawal.approve", "withdrawal.approve"},
	proposeResume:   {"chain.resume", "chain.resume"},
	proposePart:     {"chain.resume", "chain.resume"},
	proposeUnfreeze: {"account.freeze", "account.freeze"},
	proposeLimit:    {"limits.change", "withdrawal.approve"},
}

// proposals returns the life of proposals over this service's acts; the caller adds who may do what.
func (s *Service) proposals() *proposal.Service {
	kinds := map[string]proposal.Kind{
		proposeRefund:   kind(proposeRefund, s.checkRefund, s.doRefund),
		proposeTreasury: kind(proposeTreasury, s.checkTreasury, s.doTreasury),
		proposeAssign:   kind(proposeAssign, s.checkAssign, s.doAssign),
		proposeReturn:   kind(proposeReturn, s.checkUnattributed, s.doReturn),
		proposeKeep:     kind(proposeKeep, s.checkUnattributed, s.doKeep),
		proposeApprove:  kind(proposeApprove, s.checkApprove, s.doApprove),
		proposeResume:   kind(proposeResume, s.checkResume, s.doEndHalts),
		proposePart:     kind(proposePart, s.checkPart, s.doEndHalts),
		proposeUnfreeze: kind(proposeUnfreeze, s.checkUnfreeze, s.doEndHalts),
	}
	limit := kind(proposeLimit, s.checkLimit, s.doLimit)
	limit.Weight = s.weightOf
	kinds[proposeLimit] = limit
	resolutions := []string{proposeAssign, proposeReturn, proposeKeep} // of one kind of money, whatever becomes of it
	for _, verb := range resolutions {
		k := kinds[verb]
		k.Beside = slices.DeleteFunc(slices.Clone(resolutions), func(other string) bool { return other == verb })
		kinds[verb] = k
	}
	return &proposal.Service{DB: s.DB, IDs: s.IDs, Log: s.log, Need: s.parts.Approvers, Kinds: kinds}
}

type (
	check   = func(context.Context, store.Proposal) (store.Proposal, error)
	execute = func(context.Context, store.Proposal, proposal.Done) error
)

func kind(verb string, c check, e execute) proposal.Kind {
	needs := rightsOf[verb]
	return proposal.Kind{Propose: needs.propose, Approve: needs.approve, Check: c, Execute: e}
}

// objectOf returns the object of a proposal, which is an ID. A check writes it back, so that two spellings of an ID are
// one object.
func objectOf(p store.Proposal) (bursar.ID, error) {
	id, err := bursar.ParseID(p.Object)
	if err != nil {
		return id, bursar.ErrNotFound
	}
	return id, nil
}

// payable checks that a proposal's amount is one of its currency, above zero.
func (s *Service) payable(p store.Proposal) error {
	currency, err := s.Registry.Get(p.Currency)
	if err != nil {
		return err
	}
	if p.Amount.IsZero() {
		return bursar.RefuseField(bursar.CodeInvalidAmount, "amount", "the amount must be above zero")
	}
	_, err = currency.Parse(currency.Exact(p.Amount))
	return err
}

// whole writes a proposal's amount in whole units.
func (s *Service) whole(p store.Proposal) (string, error) {
	currency, err := s.Registry.Get(p.Currency)
	if err != nil {
		return "", err
	}
	return currency.Exact(p.Amount), nil
}

// checkRefund completes the refund of a charge's payment: the account and the currency are those of the deposit.
func (s *Service) checkRefund(ctx context.Context, p store.Proposal) (store.Proposal, error) {
	id, err := objectOf(p)
	if err != nil {
		return p, err
	}
	of, err := bursar.ParseID(p.Detail)
	if err != nil {
		return p, bursar.ErrNotFound
	}
	p.Object, p.Detail = id.String(), of.String()
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		d, err := tx.Deposits().ByID(ctx, id)
		if err != nil {
			return store.AsRefusal(err)
		}
		if p.Currency != d.Currency { // an amount in units of another currency is another amount
			return bursar.RefuseField(bursar.CodeInvalidRequest, "currency", "the deposit is of %s", d.Currency)
		}
		p.AccountID = d.AccountID
		_, err = tx.Invoices().Get(ctx, d.AccountID, of)
		return store.AsRefusal(err)
	})
	if err != nil {
		return p, err
	}
	to, err := s.Withdrawals.Destination(p.Currency, p.Destination)
	if err != nil {
		return p, err
	}
	p.Destination = to.String()
	return p, s.payable(p)
}

func (s *Service) doRefund(ctx context.Context, p store.Proposal, done proposal.Done) error {
	id, err := objectOf(p)
	if err != nil {
		return err
	}
	of, err := bursar.ParseID(p.Detail)
	if err != nil {
		return err
	}
	amount, err := s.whole(p)
	if err != nil {
		return err
	}
	_, _, err = s.Charges.Refund(ctx, charge.Refund{
		Account: p.AccountID,
		Charge:  of,
		Deposit: id,
		Amount:  amount,
		Address: p.Destination,
		By:      p.Person,
		Done: func(ctx context.Context, tx *store.Tx, _ bursar.InvoiceDetail, w bursar.Withdrawal) error {
			return done(ctx, tx, "withdrawal "+w.ID.String())
		},
	})
	return err
}

// checkTreasury completes a withdrawal of operator funds. Whether they suffice is evaluated when it is made.
// The label of a destination becomes its address: a label that is given to another one later moves nothing there.
func (s *Service) checkTreasury(ctx context.Context, p store.Proposal) (_ store.Proposal, err error) {
	p.AccountID = treasury.Account
	if p.Object = p.Token.String(); strings.TrimSpace(p.Destination) == "" {
		return p, bursar.RefuseField(bursar.CodeInvalidAddress, "to", "name a destination of the treasury's list")
	}
	if p.Destination, err = s.Treasury.Address(ctx, p.Destination); err != nil {
		return p, err
	}
	return p, s.payable(p)
}

func (s *Service) doTreasury(ctx context.Context, p store.Proposal, done proposal.Done) error {
	amount, err := s.whole(p)
	if err != nil {
		return err
	}
	_, err = s.Treasury.Withdraw(ctx, treasury.Request{
		Currency: p.Currency,
		Amount:   amount,
		To:       p.Destination,
		Reason:   p.Reason,
		Actor:    p.Person,
		Done: func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
			return done(ctx, tx, "withdrawal "+w.ID.String())
		},
	})
	return err
}

// checkApprove completes the approval of a withdrawal that waits for one: what is approved is the withdrawal as it is.
func (s *Service) checkApprove(ctx context.Context, p store.Proposal) (store.Proposal, error) {
	id, err := objectOf(p)
	if err != nil {
		return p, err
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		found, err := tx.Withdrawals().Recorded(ctx, []bursar.ID{id})
		w, there := found[id]
		switch {
		case err != nil:
			return err
		case !there:
			return bursar.ErrNotFound
		case w.Status != bursar.WithdrawalPendingApproval:
			return bursar.Refuse(bursar.CodeInvalidRequest, "the withdrawal is %s: it waits for no approval", w.Status)
		}
		p.Object = id.String()
		p.AccountID, p.Currency, p.Amount = w.AccountID, w.Currency, w.Amount
		p.Destination, p.Detail = w.Address.String(), "fee "+w.Fee.String()
		return nil
	})
	return p, err
}

func (s *Service) doApprove(ctx context.Context, p store.Proposal, done proposal.Done) error {
	id, err := objectOf(p)
	if err != nil {
		return err
	}
	_, err = s.Withdrawals.Approve(ctx, id, func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
		if w.AccountID != p.AccountID || w.Currency != p.Currency || w.Amount != p.Amount ||
			w.Address.String() != p.Destination || "fee "+w.Fee.String() != p.Detail {
			return fmt.Errorf("%w: the withdrawal is not the one that was approved", proposal.ErrVoid)
		}
		return done(ctx, tx, "withdrawal "+string(w.Status))
	})
	return voided(err, withdrawal.ErrTooLate)
}

// voided makes a proposal's end of a refusal that will not pass.
func voided(err error, refusals ...error) error {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) && !errors.Is(err, proposal.ErrVoid) {
			return fmt.Errorf("%w: %w", proposal.ErrVoid, err)
		}
	}
	return err
}
