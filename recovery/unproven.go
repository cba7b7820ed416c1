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

// The signer demands what made the UTXOs that a transaction spends. Where the block that made one was replaced, and
// another transaction has spent what it was paid from, no node has it any more; a restored database may not have it
// either, nor know what that was. A forgotten transaction that needs the UTXO cannot be signed again then, and nothing
// proves that it can never be included. If it pays nobody but us, that harms nobody, and the recovery does not wait for
// it. Otherwise an operator gives it up.

// paysOthers reports whether a forgotten transaction pays anyone but us. One that somebody else wrote counts as such.
func paysOthers(f store.ForgottenPayment) (bool, error) {
	c, err := contentOf(f)
	return f.Altered || c.Kind == string(chain.KindWithdrawal), err
}

// AnyToWaitFor reports whether a recovery waits for a forgotten transaction to be put back.
func AnyToWaitFor(ctx context.Context, tx *store.Tx, id bursar.ChainID) (bool, error) {
	waiting, err := tx.ForgottenPayments().List(ctx, id, takeAtOnce)
	if err != nil || len(waiting) == takeAtOnce {
		return true, err
	}
	for _, f := range waiting {
		if others, err := paysOthers(f); err != nil || others {
			return true, err
		}
		if unproven, err := tx.Alarms().IsOpen(ctx, AlarmUnproven, f.OutgoingID.String()); err != nil || !unproven {
			return true, err
		}
	}
	return false, nil
}

// NoteUnproven raises the alarm about a forgotten transaction that cannot be signed again, because no node has what made
// one of its UTXOs; or closes it, where cause is another error. Before the chain has been followed to its end, that may
// only not be found yet.
func (k Assessor) NoteUnproven(ctx context.Context, tx *store.Tx, f store.ForgottenPayment, cause error) error {
	r, err := tx.Recoveries().Get(ctx, f.Chain)
	if store.IgnoreNotFound(err) != nil {
		return err
	}
	if follows := err == nil && r.From < 0; follows || f.Altered || !errors.Is(cause, chain.ErrNoPrevious) {
		return tx.Alarms().Resolve(ctx, AlarmUnproven, f.OutgoingID.String())
	}
	c, err := contentOf(f)
	if err != nil {
		return err
	}
	what := "It pays nobody but you, and nothing waits for it"
	if pays := k.paysWhom(c); pays != "" {
		what = "The chain pays nothing until then. It pays " + pays
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: f.Chain, Kind: AlarmUnproven, Ref: f.OutgoingID.String(),
		Message: fmt.Sprintf("outgoing transaction %s was signed before the database was restored, may have been sent, and "+
			"cannot be signed again: %v. %s. Add a node to the configuration that has it; or, if another final transaction has "+
			"spent what it was paid from, so that it can never exist, run `bursar recovery give-up %s`",
			f.OutgoingID, cause, what, f.OutgoingID)})
}

// paysWhom lists what a transaction in the journal pays to others; "" if that is nothing.
func (k Assessor) paysWhom(c content) string {
	var list []string
	for _, j := range c.pays() {
		list = append(list, k.name(j))
	}
	return strings.Join(list, "; ")
}

// GiveUpForgotten ends the wait for a forgotten transaction that cannot be signed again, because an operator says that
// it can never be included: what it should have paid is paid by another one. The caller has locked the chain.
func (k Assessor) GiveUpForgotten(ctx context.Context, tx *store.Tx, id bursar.ID, reason string) error {
	waiting, err := tx.ForgottenPayments().List(ctx, k.Capabilities.ID, takeAtOnce)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(waiting, func(f store.ForgottenPayment) bool { return f.OutgoingID == id })
	if at < 0 {
		return fmt.Errorf("forgotten transaction %s: %w", id, store.ErrNotFound)
	}
	f := waiting[at]
	if f.Altered {
		return fmt.Errorf("forgotten transaction %s: %w", id, store.ErrAltered)
	}
	switch unproven, err := tx.Alarms().IsOpen(ctx, AlarmUnproven, id.String()); {
	case err != nil:
		return err
	case !unproven:
		return fmt.Errorf("%w: outgoing transaction %s can still be signed again", ErrUnfit, id)
	}
	p, err := tx.Outgoing().Lock(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound): // the database has forgotten it
	case err != nil:
		return err
	case p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved:
		return fmt.Errorf("%w: outgoing transaction %s is %s", ErrUnfit, id, p.Status)
	default:
		if err := k.giveUp(ctx, tx, id, chain.ExternalSpend{}); err != nil {
			return err
		}
	}
	c, err := contentOf(f)
	if err != nil {
		return err
	}
	if k.paysWhom(c) != "" {
		err = k.alarmPaidElse(ctx, tx, f, c, "of outgoing transaction "+id.String(),
			fmt.Errorf("an operator gave it up: %s", reason))
	}
	return errors.Join(err, tx.Alarms().Resolve(ctx, AlarmUnproven, id.String()), tx.ForgottenPayments().PutBack(ctx, f))
}
