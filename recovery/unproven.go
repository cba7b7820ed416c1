package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A forgotten transaction is sometimes not signed again. The signer demands what made the UTXOs that it spends: where
// the block that made one was replaced, and another transaction has spent what it was paid from, no node has it any
// more; a restored database may not have it either, nor know what that was. Or an epoch has begun, and the signer does
// not remember what it signed before. Nothing proves then that the transaction can never be included. If it spends
// UTXOs and pays nobody but us, that harms nobody, and the recovery does not wait for it. Otherwise an operator may
// have to give it up.

// paysOthers reports whether a forgotten transaction pays anyone but us, or a cold wallet, by which it would not be
// recognised in a block. One that somebody else wrote counts as such.
func paysOthers(f store.ForgottenPayment) (bool, error) {
	c, err := contentOf(f)
	return f.Altered || c.Kind == string(chain.KindWithdrawal) || c.Kind == string(chain.KindToCold), err
}

// AnyToWaitFor reports whether a recovery waits for a forgotten transaction to be put back.
func AnyToWaitFor(ctx context.Context, tx *store.Tx, capabilities chain.Capabilities) (bool, error) {
	if capabilities.Model != chain.UTXOModel {
		return tx.ForgottenPayments().Any(ctx, capabilities.ID) // its nonce is not to be given to another one
	}
	waiting, err := tx.ForgottenPayments().All(ctx, capabilities.ID)
	if err != nil {
		return true, err
	}
	for _, f := range waiting {
		if others, err := paysOthers(f); err != nil || others {
			return true, err
		}
		if not, err := isNotSigned(ctx, tx, f.OutgoingID); err != nil || !not {
			return true, err
		}
	}
	return false, nil
}

// isNotSigned reports whether an alarm says that a forgotten transaction cannot be signed again.
func isNotSigned(ctx context.Context, tx *store.Tx, id bursar.ID) (bool, error) {
	for _, kind := range []string{AlarmUnproven, AlarmMayBeOut} {
		if open, err := tx.Alarms().IsOpen(ctx, kind, id.String()); err != nil || open {
			return open, err
		}
	}
	return false, nil
}

// NoteNotSigned raises the alarm about a forgotten transaction that cannot be signed again: AlarmUnproven if no node
// has what made one of its UTXOs, AlarmMayBeOut if the signer refuses what is of an earlier epoch. It closes the alarms
// where kind is "". Before the chain has been followed to its end, what made a UTXO may only not be found yet.
func (a Assessor) NoteNotSigned(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, kind string, cause error,
) error {
	r, err := tx.Recoveries().Get(ctx, f.Chain)
	if store.IgnoreNotFound(err) != nil {
		return err
	}
	if follows := err == nil && r.From < 0; follows || f.Altered || kind == "" {
		return closeNotSigned(ctx, tx, f.OutgoingID)
	}
	c, err := contentOf(f)
	if err != nil {
		return err
	}
	alarm := store.Alarm{Chain: f.Chain, Kind: AlarmUnproven, Ref: f.OutgoingID.String(),
		Message: fmt.Sprintf("outgoing transaction %s was signed before the database was restored, may have been sent, and "+
			"is not signed again: %v. %s", f.OutgoingID, cause, a.remedy(f, c, kind))}
	if kind == AlarmMayBeOut {
		alarm.Kind = AlarmMayBeOut
	}
	return tx.Alarms().Raise(ctx, alarm)
}

// remedy says what may be done about a forgotten transaction that is not signed again.
func (a Assessor) remedy(f store.ForgottenPayment, c content, kind string) string {
	giveUp := fmt.Sprintf("run `bursar recovery give-up %s`", f.OutgoingID)
	pays := a.paysWhom(c)
	switch {
	case pays != "" && kind == AlarmMayBeOut:
		return "The chain pays nothing before it is: start the process whose signer signed it. It pays " + pays
	case pays != "":
		return "The chain pays nothing before it is. If another final transaction has spent what it spends, or what that " +
			"was paid from, " + giveUp + ". It pays " + pays
	case a.Capabilities.Model == chain.UTXOModel:
		return "It pays nobody but you, and nothing waits for it. If no block has it, " + giveUp
	}
	return "It pays nobody but you, and the chain pays nothing before it is. If no block has it, " + giveUp
}

func closeNotSigned(ctx context.Context, tx *store.Tx, id bursar.ID) error {
	return errors.Join(tx.Alarms().Resolve(ctx, AlarmUnproven, id.String()),
		tx.Alarms().Resolve(ctx, AlarmMayBeOut, id.String()))
}

// usesForgotten reports whether an external spend uses exactly the UTXOs of a forgotten transaction that pays nobody
// but us, and that a recovery has not waited for, and all of their value came back to us or is the fee: a thief's may
// have an output that no address stands for.
func (a Assessor) usesForgotten(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (bool, error) {
	if a.Capabilities.Model != chain.UTXOModel {
		return false, nil
	}
	waiting, err := tx.ForgottenPayments().All(ctx, a.Capabilities.ID)
	if err != nil || len(waiting) == 0 {
		return false, err
	}
	if whole, err := cameBack(ctx, tx, a.Capabilities.ID, x); err != nil || !whole {
		return false, err
	}
	used := slices.Sorted(slices.Values(x.Reservations))
	for _, f := range waiting {
		if others, err := paysOthers(f); err != nil {
			return false, err
		} else if others {
			continue
		}
		_, unsigned, err := SignAgainInputs(f)
		if err != nil {
			return false, err
		}
		if slices.Equal(slices.Sorted(slices.Values(unsigned.Reservations)), used) {
			return true, nil
		}
	}
	return false, nil
}

// cameBack reports whether the payments and the fee of an external spend are worth what it spent.
func cameBack(ctx context.Context, tx *store.Tx, id bursar.ChainID, x chain.ExternalSpend) (bool, error) {
	worth, err := tx.UTXOs().Worth(ctx, id, x.Reservations)
	sum := x.Fee
	for _, p := range x.Payments {
		if err == nil {
			sum, err = sum.Add(p.Amount)
		}
	}
	return err == nil && !x.Inferred && worth == sum, err
}

// paysWhom lists what a transaction in the journal pays to others; "" if that is nothing.
func (a Assessor) paysWhom(c content) string {
	var list []string
	for _, j := range c.pays() {
		list = append(list, a.name(j))
	}
	return strings.Join(list, "; ")
}

// GiveUpForgotten ends the wait for a forgotten transaction that cannot be signed again, because an operator says that
// it can never be included: what it should have paid is paid by another one. The caller has locked the chain.
func (a Assessor) GiveUpForgotten(ctx context.Context, tx *store.Tx, id bursar.ID, reason string) error {
	waiting, err := tx.ForgottenPayments().All(ctx, a.Capabilities.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(waiting, func(f store.ForgottenPayment) bool { return f.OutgoingID == id })
	if at < 0 {
		return fmt.Errorf("forgotten transaction %s: %w", id, store.ErrNotFound)
	}
	f := waiting[at]
	others, err := a.mayBeGivenUp(ctx, tx, f)
	if err != nil {
		return err
	}
	p, err := tx.Outgoing().Lock(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound): // the database has forgotten it
	case err != nil:
		return err
	case p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved:
		return fmt.Errorf("%w: outgoing transaction %s is %s", ErrUnfit, id, p.Status)
	default:
		if err := a.giveUp(ctx, tx, id, chain.ExternalSpend{}); err != nil {
			return err
		}
	}
	if others {
		c, err := contentOf(f)
		if err != nil {
			return err
		}
		if err := a.alarmPaidElse(ctx, tx, f, c, "of outgoing transaction "+id.String(),
			fmt.Errorf("an operator gave it up: %s", reason)); err != nil {
			return err
		}
	}
	return errors.Join(closeNotSigned(ctx, tx, id), tx.ForgottenPayments().PutBack(ctx, f))
}

// mayBeGivenUp returns ErrUnfit unless an operator may give a forgotten transaction up, and reports whether it pays
// others. One that pays others and that only its signer refuses may be in a mempool, and valid: its payments would be
// made twice.
func (a Assessor) mayBeGivenUp(ctx context.Context, tx *store.Tx, f store.ForgottenPayment) (others bool, err error) {
	if f.Altered {
		return false, fmt.Errorf("forgotten transaction %s: %w", f.OutgoingID, store.ErrAltered)
	}
	if others, err = paysOthers(f); err != nil {
		return others, err
	}
	unproven, err := tx.Alarms().IsOpen(ctx, AlarmUnproven, f.OutgoingID.String())
	if err != nil || unproven {
		return others, err
	}
	refused, err := tx.Alarms().IsOpen(ctx, AlarmMayBeOut, f.OutgoingID.String())
	switch {
	case err != nil:
		return others, err
	case !refused:
		return others, fmt.Errorf("%w: outgoing transaction %s can still be signed again", ErrUnfit, f.OutgoingID)
	case others:
		return others, fmt.Errorf("%w: outgoing transaction %s pays others, and may be included", ErrUnfit, f.OutgoingID)
	}
	return others, nil
}
