package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Answer is an operator's explanation of an unclear external spend.
type Answer struct {
	Item        int64       // number of the external spend
	Withdrawals []bursar.ID // withdrawals that it paid
	Rest        store.ExternalUse
	Note        string // required where an address differs from the withdrawal's
	Actor       string
}

// ErrUnfit is returned for an explanation that contradicts the payments of the external spend.
var ErrUnfit = errors.New("the explanation does not fit what the transaction paid")

// Resolve applies an operator's explanation of an unclear external spend, in a transaction that has locked the chain:
// from then on it pays the named withdrawals, and the operator bears the rest. An explanation must cover every payment.
func (k Book) Resolve(ctx context.Context, tx *store.Tx, a Answer) error {
	x, err := tx.ExternalSpends().Get(ctx, a.Item)
	if err != nil {
		return err
	}
	if x.Status != store.ExternalUnclear || x.Chain != k.Capabilities.ID {
		return fmt.Errorf("%w: item %d is %s", ErrUnfit, x.Number, x.Status)
	}
	if err := k.answersJournal(ctx, tx, x, a); err != nil {
		return err
	}
	p, err := tx.Outgoing().Lock(ctx, x.OutgoingID)
	if err != nil {
		return err
	}
	for _, id := range a.Withdrawals {
		if err := k.resolveOne(ctx, tx, x, p, id, a.Note); err != nil {
			return fmt.Errorf("withdrawal %s: %w", id, err)
		}
	}
	left, err := Unexplained(ctx, tx, k.Registry, p)
	if err != nil {
		return err
	}
	if len(left) > 0 && a.Rest == "" {
		return fmt.Errorf("%w: %s is unexplained: name the withdrawal, or say how to book it with --as loss or --as operator",
			ErrUnfit,
			k.Describe(left[0]))
	}
	if err := k.lowerAdopted(ctx, tx, x, p); err != nil {
		return err
	}
	x.Status, x.Booked, x.Note, x.Actor, x.Reason = store.ExternalAdopted, a.Rest, a.Note, a.Actor,
		"explained by an operator"
	return tx.ExternalSpends().Set(ctx, x)
}

// answersJournal refuses an explanation that leaves out a withdrawal which the external spend paid as the journal says:
// the database may have been altered, so that the withdrawal has another destination now, and would be paid again once
// that is mended.
func (k Book) answersJournal(ctx context.Context, tx *store.Tx, x store.ExternalSpend, a Answer) error {
	journaled, err := k.Journaled(ctx, tx, x)
	if err != nil {
		return err
	}
	for _, w := range journaled {
		if !slices.Contains(a.Withdrawals, w.ID) {
			return fmt.Errorf("%w: the journal says that it pays withdrawal %s, whose destination is %s in the database: wait "+
				"until the forgotten transaction is put back, or name the withdrawal, with --note if its destination differs",
				ErrUnfit, w.ID, w.Address)
		}
	}
	return nil
}

// Journaled returns the unfinished withdrawals that an external spend paid by the journal: a forgotten transaction that
// is not put back yet used the same UTXO or nonce, was made for them, and made the same payments. Their destinations in
// the database may be others.
func (k Book) Journaled(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend,
) (list []bursar.Withdrawal, err error) {
	var used []string
	var paid []chain.Payment
	if err := errors.Join(unmarshal(x.Reservations, &used), unmarshal(x.Payments, &paid)); err != nil {
		return nil, fmt.Errorf("read external spend %s: %w", x.TxID, err)
	}
	forgotten, err := tx.ForgottenPayments().List(ctx, k.Capabilities.ID, takeAtOnce)
	if err != nil || x.Failed {
		return nil, err
	}
	for _, f := range forgotten {
		if f.Altered {
			continue // somebody without the key of the books wrote it
		}
		c, err := contentOf(f)
		if err != nil {
			return nil, err
		}
		var unsigned chain.UnsignedTx
		if err := unmarshal(c.Unsigned, &unsigned); err != nil {
			return nil, fmt.Errorf("read the unsigned transaction of forgotten transaction %s: %w", f.OutgoingID, err)
		}
		if !slices.ContainsFunc(unsigned.Reservations, func(r string) bool { return slices.Contains(used, r) }) {
			continue
		}
		for _, j := range c.Withdrawals {
			if !slices.ContainsFunc(paid, func(p chain.Payment) bool { return k.isFor(p, j) }) {
				continue
			}
			w, err := tx.Withdrawals().ByID(ctx, j.ID)
			if err == nil && w.CompletedAt.IsZero() {
				list = append(list, w)
			} else if err != nil && !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
		}
	}
	return list, nil
}

// resolveOne lets an adopted transaction pay one more withdrawal, which must fit one of its unexplained payments.
func (k Book) resolveOne(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, id bursar.ID, note string,
) error {
	w, err := tx.Withdrawals().Lock(ctx, id)
	switch {
	case err != nil:
		return err
	case w.OutgoingID == p.ID: // the database knew it when the transaction was put back
		return nil
	case !w.CompletedAt.IsZero():
		return fmt.Errorf("%w: the withdrawal is %s", ErrUnfit, w.Status)
	}
	currency, err := k.Registry.Get(w.Currency)
	if err != nil {
		return err
	}
	left, err := Unexplained(ctx, tx, k.Registry, p)
	if err != nil {
		return err
	}
	ordered, fits, exact := chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}, false, false
	for _, paid := range left {
		fits = fits || paid.Contract == ordered.Contract && paid.Amount == ordered.Amount
		exact = exact || paid == ordered
	}
	switch {
	case !fits || currency.Chain != k.Capabilities.ID:
		return fmt.Errorf("%w: the transaction contains no payment of %s", ErrUnfit, k.Describe(ordered))
	case !exact && note == "":
		return fmt.Errorf("%w: the transaction paid another address than %s; if it paid this withdrawal all the same, say "+
			"why with --note", ErrUnfit, w.Address)
	}
	if err := k.takeFrom(ctx, tx, x, w.OutgoingID); err != nil {
		return err
	}
	return k.Payouts.Adopted(ctx, tx, id, p)
}

// takeFrom releases a withdrawal from the outgoing transaction that pays it, because an operator says that the external
// spend paid it. A signed outgoing transaction keeps it, unless it needs what the external spend used: the operator has
// to wait until it has ended.
func (k Book) takeFrom(ctx context.Context, tx *store.Tx, x store.ExternalSpend, id bursar.ID) error {
	if id.IsZero() || id == x.OutgoingID {
		return nil
	}
	other, err := tx.Outgoing().Lock(ctx, id)
	switch {
	case err != nil:
		return err
	case other.Height > 0:
		return fmt.Errorf("%w: transaction %s in block %d pays it", ErrUnfit, other.TxID, other.Height)
	case other.Status == bursar.OutgoingNew || other.Status == bursar.OutgoingReserved:
		return k.giveUp(ctx, tx, id, chain.ExternalSpend{})
	}
	var unsigned chain.UnsignedTx
	if err := unmarshal(other.Unsigned, &unsigned); err != nil {
		return fmt.Errorf("read the unsigned transaction %s: %w", id, err)
	}
	var used []string
	if err := unmarshal(x.Reservations, &used); err != nil {
		return fmt.Errorf("read what external spend %s used: %w", x.TxID, err)
	}
	if x.Height == 0 || !slices.ContainsFunc(unsigned.Reservations, func(resource string) bool {
		return slices.Contains(used, resource)
	}) {
		return fmt.Errorf("%w: transaction %s was signed and may still pay it: explain it once `bursar outgoing show %s` "+
			"says that it has ended",
			ErrUnfit, other.TxID, id)
	}
	return nil
}

// Candidates returns the waiting withdrawals that an unclear external spend may have paid: those to one of its
// addresses.
func (k Book) Candidates(ctx context.Context, tx *store.Tx, payments []chain.Payment) ([]bursar.Withdrawal, error) {
	var bases []string
	for _, p := range payments {
		bases = append(bases, p.Address.Base)
	}
	return tx.Withdrawals().UnfinishedTo(ctx, k.Capabilities.ID, bases)
}
