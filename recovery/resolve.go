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

// Answer is what an operator says of an unclear external spend.
type Answer struct {
	Item        int64       // number of the external spend
	Withdrawals []bursar.ID // that it has paid
	Rest        store.ExternalUse
	Note        string // required where an address differs from the withdrawal's
	Actor       string
}

// ErrUnfit is returned for an answer that the payments of the external spend contradict.
var ErrUnfit = errors.New("the answer does not fit what the transaction paid")

// Resolve takes an operator's answer about an unclear external spend, in a transaction that has locked the chain: the
// withdrawals are paid by it from then on, and what is left is the operator's. An answer must explain every payment.
func (k Book) Resolve(ctx context.Context, tx *store.Tx, a Answer) error {
	x, err := tx.ExternalSpends().Get(ctx, a.Item)
	if err != nil {
		return err
	}
	if x.Status != store.ExternalUnclear || x.Chain != k.Capabilities.ID {
		return fmt.Errorf("%w: item %d is %s", ErrUnfit, x.Number, x.Status)
	}
	p, err := tx.Outgoing().Lock(ctx, x.SpendID)
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
		return fmt.Errorf("%w: %s is left: name the withdrawal, or say whose it is with --as loss or --as operator", ErrUnfit,
			k.Describe(left[0]))
	}
	if err := k.lowerAdopted(ctx, tx, x, p); err != nil {
		return err
	}
	x.Status, x.Booked, x.Note, x.Actor, x.Reason = store.ExternalAdopted, a.Rest, a.Note, a.Actor, "by an operator's word"
	return tx.ExternalSpends().Set(ctx, x)
}

// resolveOne has an adopted transaction pay one more withdrawal, which must fit one of its payments that nothing
// explains.
func (k Book) resolveOne(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, id bursar.ID, note string,
) error {
	w, err := tx.Withdrawals().Lock(ctx, id)
	if err != nil {
		return err
	}
	if !w.CompletedAt.IsZero() {
		return fmt.Errorf("%w: it is %s", ErrUnfit, w.Status)
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
		return fmt.Errorf("%w: no payment of it is %s", ErrUnfit, k.Describe(ordered))
	case !exact && note == "":
		return fmt.Errorf("%w: it was paid to another address than %s; say why it was this withdrawal all the same with "+
			"--note", ErrUnfit, w.Address)
	}
	if err := k.takeFrom(ctx, tx, x, w.OutgoingID); err != nil {
		return err
	}
	return k.assignWithdrawal(ctx, tx, id, p)
}

// takeFrom has an outgoing transaction pay a withdrawal no more, which an operator says the external spend has paid.
// One that is signed goes on to pay it, unless it needs what the external spend has used up: the answer waits until it
// has ended.
func (k Book) takeFrom(ctx context.Context, tx *store.Tx, x store.ExternalSpend, id bursar.ID) error {
	if id.IsZero() || id == x.SpendID {
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
		return fmt.Errorf("read the draft of spend %s: %w", id, err)
	}
	var used []string
	if err := unmarshal(x.Claims, &used); err != nil {
		return fmt.Errorf("read what external spend %s used up: %w", x.TxID, err)
	}
	if x.Height == 0 || !slices.ContainsFunc(unsigned.Reservations, func(resource string) bool {
		return slices.Contains(used, resource)
	}) {
		return fmt.Errorf("%w: transaction %s was signed and may still pay it: answer once `bursar outgoing show %s` says "+
			"that it has ended",
			ErrUnfit, other.TxID, id)
	}
	return nil
}

// Candidates returns the withdrawals that wait and that an unclear external spend may have paid: those to one of its
// addresses.
func (k Book) Candidates(ctx context.Context, tx *store.Tx, payments []chain.Payment) ([]bursar.Withdrawal, error) {
	var bases []string
	for _, p := range payments {
		bases = append(bases, p.Address.Base)
	}
	return tx.Withdrawals().UnfinishedTo(ctx, k.Capabilities.ID, bases)
}
