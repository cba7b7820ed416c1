package recovery

import (
	"context"
	"encoding/json"
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
// To one that was explained before, withdrawals can be added.
func (a Assessor) Resolve(ctx context.Context, tx *store.Tx, answer Answer) error {
	x, err := tx.ExternalSpends().Get(ctx, answer.Item)
	if err != nil {
		return err
	}
	switch {
	case x.Chain != a.Capabilities.ID || x.Status == store.ExternalHalted:
		return fmt.Errorf("%w: item %d is %s", ErrUnfit, x.Number, x.Status)
	case x.Status != store.ExternalUnclear:
		return a.amend(ctx, tx, x, answer)
	}
	if err := a.answersJournal(ctx, tx, x, answer); err != nil {
		return err
	}
	p, err := tx.Outgoing().Lock(ctx, x.OutgoingID)
	if err != nil {
		return err
	}
	for _, id := range answer.Withdrawals {
		if err := a.resolveOne(ctx, tx, x, p, id, answer.Note); err != nil {
			return fmt.Errorf("withdrawal %s: %w", id, err)
		}
		if p, err = tx.Outgoing().Lock(ctx, x.OutgoingID); err != nil { // it may have been asked for more
			return err
		}
	}
	left, err := Unexplained(ctx, tx, a.Registry, p)
	if err != nil {
		return err
	}
	if IsTaken(x) && answer.Rest == "" && !slices.ContainsFunc(left, a.toOther) {
		answer.Rest = x.Booked // as the operator said when the chain was resumed
	}
	if len(left) > 0 && answer.Rest == "" {
		return fmt.Errorf("%w: %s is unexplained: name the withdrawal, or say how to book it with --as loss or --as operator",
			ErrUnfit,
			a.Describe(left[0]))
	}
	if len(left) > 0 { // it may be what a withdrawal asked for before somebody changed that in the database
		if err := tx.Withdrawals().NoneAltered(ctx); err != nil {
			return fmt.Errorf("%s may be what was ordered; repair that first: %w", a.Describe(left[0]), err)
		}
	}
	if err := a.lowerAdopted(ctx, tx, x, p); err != nil {
		return err
	}
	status := store.ExternalAdopted
	if IsTaken(x) {
		status = store.ExternalSettled // what came back from it is recorded as a deposit
	}
	x.Status, x.Booked, x.Reason = status, answer.Rest, "explained by an operator"
	x.Note, x.Actor = answer.Note, answer.Actor
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, AlarmUnclear, x.TxID)
}

// resolveOne lets an adopted transaction pay one more withdrawal, which must fit one of its unexplained payments.
func (a Assessor) resolveOne(
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
	currency, err := a.Registry.Get(w.Currency)
	if err != nil {
		return err
	}
	left, err := Unexplained(ctx, tx, a.Registry, p)
	if err != nil {
		return err
	}
	ordered, fits, exact := chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}, false, false
	for _, paid := range left {
		fits = fits || paid.Contract == ordered.Contract && paid.Amount == ordered.Amount
		exact = exact || paid == ordered
	}
	less := slices.IndexFunc(left, func(paid chain.Payment) bool { return isLess(paid, ordered) })
	switch {
	case !fits && less < 0 || currency.Chain != a.Capabilities.ID:
		return fmt.Errorf("%w: the transaction contains no payment of %s", ErrUnfit, a.Describe(ordered))
	case !fits && note == "":
		return fmt.Errorf("%w: the transaction delivered %s; if its token kept the rest of this withdrawal, say so with "+
			"--note", ErrUnfit, a.Describe(left[less]))
	case !exact && note == "":
		return fmt.Errorf("%w: the transaction paid another address than %s; if it paid this withdrawal all the same, say "+
			"why with --note", ErrUnfit, w.Address)
	}
	if err := a.takeFrom(ctx, tx, x, w.OutgoingID); err != nil {
		return err
	}
	if !fits {
		if err := a.askedMore(ctx, tx, x, p, w, left, less, ordered); err != nil {
			return err
		}
	}
	return a.Payouts.Adopted(ctx, tx, id, p)
}

// isLess reports whether a transaction delivered a part of a payment of tokens: a token may keep a fee.
func isLess(delivered, ordered chain.Payment) bool {
	return ordered.Contract != "" && delivered.Contract == ordered.Contract && delivered.Address == ordered.Address &&
		!delivered.Amount.IsZero() && delivered.Amount.Less(ordered.Amount)
}

// askedMore notes that an adopted transaction was to make a payment of which its token delivered a part, one of those
// that nothing explains: it is settled like one of ours that fell short. What the token has paid others, who are owed
// nothing, is what it kept: all that the order lacks.
func (a Assessor) askedMore(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, w bursar.Withdrawal,
	left []chain.Payment, at int, ordered chain.Payment,
) error {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	owed, err := a.Candidates(ctx, tx, left)
	if err != nil {
		return err
	}
	kept := ordered.Amount.SubOrZero(left[at].Amount)
	for i, paid := range left {
		is := slices.Index(request.Payments, paid)
		switch {
		case is < 0:
			return fmt.Errorf("%w: the transaction was not asked for %s", ErrUnfit, a.Describe(paid))
		case i == at:
			request.Payments[is] = ordered
		case paid.Contract == ordered.Contract && !slices.ContainsFunc(owed, func(o bursar.Withdrawal) bool {
			return o.ID != w.ID && o.Address == paid.Address
		}):
			part := paid.Amount.Min(kept)
			kept = kept.SubOrZero(part)
			request.Payments[is].Amount = paid.Amount.SubOrZero(part)
		}
	}
	if !kept.IsZero() {
		return fmt.Errorf("%w: the transaction moved %s less than %s to those who are owed nothing else", ErrUnfit,
			a.Registry.Text(w.Currency, kept), a.Describe(ordered))
	}
	request.Payments = slices.DeleteFunc(request.Payments, func(p chain.Payment) bool { return p.Amount.IsZero() })
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode transaction request: %w", err)
	}
	if err := tx.Outgoing().SetRequest(ctx, p.ID, text); err != nil || len(p.Delivered) > 0 {
		return err
	}
	return tx.Outgoing().SetDelivered(ctx, p.ID, x.Payments)
}

// takeFrom releases a withdrawal from the outgoing transaction that pays it, because an operator says that the external
// spend paid it. A signed outgoing transaction keeps it, unless it needs what the external spend used, or the final
// blocks prove otherwise that it can never be included: the operator has to wait until it has ended.
func (a Assessor) takeFrom(ctx context.Context, tx *store.Tx, x store.ExternalSpend, id bursar.ID) error {
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
		return a.giveUp(ctx, tx, id, chain.ExternalSpend{})
	}
	differs, err := tx.Alarms().IsOpen(ctx, AlarmDiffers, id.String())
	switch {
	case err != nil:
		return err
	case differs:
		return fmt.Errorf("%w: outgoing transaction %s may be included as the journal has it: see the alarm `%s`", ErrUnfit,
			id, AlarmDiffers)
	}
	versions, err := tx.Outgoing().Versions(ctx, id)
	if err != nil {
		return err
	}
	if needs, err := needsWhatItUsed(x, other); err != nil || needs {
		return err
	}
	state, err := tx.Chains().State(ctx, a.Capabilities.ID)
	if err != nil {
		return err
	}
	if lost, err := Lost(ctx, tx, other, versions, state.Final); err != nil || lost != "" {
		return err
	}
	return fmt.Errorf("%w: transaction %s was signed and may still pay it: explain it once `bursar outgoing show %s` "+
		"says that it has ended", ErrUnfit, other.TxID, id)
}

// needsWhatItUsed reports whether an outgoing transaction needs what an external spend has used in a block.
func needsWhatItUsed(x store.ExternalSpend, other bursar.OutgoingTx) (bool, error) {
	needs, err := usedBy(store.Version{TxID: other.TxID, Unsigned: other.Unsigned})
	if err != nil {
		return false, err
	}
	var used []string
	if err := unmarshal(x.Reservations, &used); err != nil {
		return false, fmt.Errorf("read what external spend %s used: %w", x.TxID, err)
	}
	return x.Height > 0 && intersect(needs, used), nil
}

// Candidates returns the waiting withdrawals that an unclear external spend may have paid: those to one of its
// addresses.
func (a Assessor) Candidates(ctx context.Context, tx *store.Tx, payments []chain.Payment) ([]bursar.Withdrawal, error) {
	var bases []string
	for _, p := range payments {
		bases = append(bases, p.Address.Base)
	}
	return tx.Withdrawals().UnfinishedTo(ctx, a.Capabilities.ID, bases)
}
