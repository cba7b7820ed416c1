package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// whyNotAgain returns why there can be no other version of an adopted transaction, or "" if there can be one.
// A version is possible only if the books know everything that the transaction pays to others.
func (s *Sender) whyNotAgain(ctx context.Context, p bursar.OutgoingTx) (why string, err error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return "", err
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		x, err := tx.ExternalSpends().Behind(ctx, p.ID)
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		case x.Status == store.ExternalUnclear:
			why = "no operator has resolved what it paid: see `bursar recovery status`"
		case x.Status == store.ExternalSettled || x.Booked != "":
			why = "it pays something that no request asked for"
		case len(request.Payments) == 0:
			why = "it pays nobody"
		}
		if why != "" || request.Kind != chain.KindWithdrawal {
			return nil
		}
		orders, err := tx.Outgoing().OrdersPaid(ctx, p.ID)
		if err != nil {
			return err
		}
		owed, err := s.paymentsOf(orders)
		if err != nil {
			return err
		}
		if !samePayments(owed, request.Payments) {
			why = "its payments differ from those that were requested"
		}
		return nil
	})
	return why, err
}

// paymentsOf returns the payments that are due for withdrawals or a refund.
func (s *Sender) paymentsOf(orders []store.PaidOrder) ([]chain.Payment, error) {
	owed := make([]chain.Payment, 0, len(orders))
	for _, o := range orders {
		currency, err := s.Registry.Get(o.Currency)
		if err != nil {
			return nil, err
		}
		owed = append(owed, chain.Payment{Address: o.To, Contract: currency.Contract, Amount: o.Amount})
	}
	return owed, nil
}

// samePayments reports whether two lists hold the same payments, in any order.
func samePayments(a, b []chain.Payment) bool {
	count := map[chain.Payment]int{}
	for _, p := range a {
		count[p]++
	}
	for _, p := range b {
		count[p]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// makeAgain builds, signs, stores and sends the first version of an adopted transaction whose bytes are known, with the
// reservations of the adopted version. Transactions that were built on the adopted version's change cannot be included
// beside this version, and end when it is final.
func (s *Sender) makeAgain(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, request chain.TxRequest,
) error {
	request, unsigned, err := s.bumpFor(ctx, lease, state, p, request)
	if gas := (*chain.NeedsGasError)(nil); errors.As(err, &gas) {
		return s.topUp(ctx, lease, p, gas)
	}
	if err != nil {
		return err
	}
	if len(unsigned.Reservations) == 0 {
		return &WaitError{Reason: "its block was reorged out and its bytes are not known; another version is built once " +
			"the transactions with lower nonces are included"}
	}
	proven, err := s.evidence(ctx, p, request, unsigned)
	if err != nil {
		return fmt.Errorf("build another version: %w", err)
	}
	p, err = s.reserveAgain(ctx, attempt{outgoingTx: p, request: request, step: stepBump, lease: lease}, unsigned)
	if err != nil || p.Height > 0 {
		return err
	}
	discarded, err := s.countSignature(ctx, lease, p)
	if err != nil {
		return err
	}
	signed, err := s.Signer.Sign(ctx, p.Chain, withoutChoices(request), proven)
	discards := err != nil
	if err == nil {
		p, err = s.storeVersion(ctx, attempt{outgoingTx: p, request: request, step: stepBump, lease: lease},
			signedVersion{unsigned: unsigned, signed: signed, at: state.Latest}, p.Status)
		discards = isDiscarded(err)
	}
	if discards {
		discarded()
	}
	if err != nil {
		return fmt.Errorf("build another version: %w", err)
	}
	if p.TxID != signed.TxID {
		return nil // it was included again while this version was signed
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.Alarms().Resolve(ctx, recovery.AlarmBytesUnknown, p.ID.String())
	})
	if err != nil {
		return err
	}
	s.Log.Warn("adopted transaction was reorged out: another version is sent", "outgoing", p.ID, "chain", p.Chain, "hash",
		signed.TxID, "fee", s.nativeText(unsigned.Fee))
	return s.Chain.Broadcast(ctx, signed)
}

// reserveAgain records the next version of an adopted transaction and reserves its resources, before it is signed.
func (s *Sender) reserveAgain(ctx context.Context, a attempt, unsigned chain.UnsignedTx) (bursar.OutgoingTx, error) {
	text, err := encodeUnsigned(unsigned)
	if err != nil {
		return a.outgoingTx, err
	}
	completed, err := json.Marshal(withoutChoices(a.request))
	if err != nil {
		return a.outgoingTx, fmt.Errorf("encode transaction request: %w", err)
	}
	return s.change(ctx, a.lease, a.outgoingTx, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if now.Height > 0 {
			return nil
		}
		if err := s.gate(ctx, tx, attempt{outgoingTx: now, request: a.request, step: a.step, lease: a.lease}); err != nil {
			return err
		}
		if err := s.budget(ctx, tx, now, a.request, unsigned.Fee); err != nil {
			return err
		}
		if err := tx.Reservations().Reserve(ctx, now, unsigned.Reservations); err != nil {
			return err
		}
		if err := tx.Outgoing().SetRequest(ctx, now.ID, completed); err != nil {
			return err
		}
		// The error stays until the version is stored: only a step that ends otherwise records another one.
		now.Unsigned = text
		return tx.Outgoing().SetStatus(ctx, now, now.Status)
	})
}
