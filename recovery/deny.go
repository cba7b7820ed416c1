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

// Denial is an operator's word that an external spend, named by its whole hash, did not pay a withdrawal that is held
// for it.
type Denial struct {
	Withdrawal bursar.ID
	TxID       string
	Note       string
	Actor      string
}

// Deny records an operator's word that an external spend, which makes the same payment as a withdrawal that waits or
// whose transaction can never be included, was another payment: the withdrawal is paid by another transaction then, if
// nothing else holds it. The caller has locked the chain. It refuses what the journal or the chain contradict, and what
// has another answer.
func (a Assessor) Deny(ctx context.Context, tx *store.Tx, d Denial) error {
	if err := tx.Recoveries().Refuse(ctx, a.Capabilities.ID); err != nil { // the journal may not have said everything
		return err
	}
	x, err := tx.ExternalSpends().ByTx(ctx, a.Capabilities.ID, d.TxID)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: no payment %s is known that this database did not make; name it by its whole hash", ErrUnfit,
			d.TxID)
	}
	if err != nil {
		return err
	}
	w, err := tx.Withdrawals().Lock(ctx, d.Withdrawal)
	if err != nil {
		return err
	}
	if err := a.mayDeny(ctx, tx, x, w); err != nil {
		return err
	}
	if err := tx.ExternalSpends().Deny(ctx, store.Denial{Withdrawal: w.ID, External: x.Number, Note: d.Note,
		Actor: d.Actor}); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, AlarmUnclear, x.TxID)
}

// Answers names the commands by which an operator says whether an external spend paid a withdrawal that is held for it.
// The withdrawal's transaction can never be included.
func (a Assessor) Answers(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, withdrawal bursar.ID,
) (string, error) {
	w, err := tx.Withdrawals().ByID(ctx, withdrawal)
	if err != nil {
		return "", err
	}
	var answers []string
	if x.Status == store.ExternalUnclear || x.Height > 0 && x.Status != store.ExternalHalted {
		answers = append(answers, fmt.Sprintf("if it paid that, `bursar recovery adopt %d --withdrawal %s` says so", x.Number,
			w.ID))
	}
	switch err := a.mayDeny(ctx, tx, x, w); {
	case err == nil:
		answers = append(answers, fmt.Sprintf("if it was another payment, `bursar recovery deny %s %s --reason TEXT` "+
			"says so", w.ID, x.TxID))
	case !errors.Is(err, ErrUnfit):
		return "", err
	case x.Status == store.ExternalHalted && x.Height > 0:
		answers = append(answers, "end the halt of the chain with `bursar chain resume`, which settles it, and ask again")
	case len(answers) == 0 && w.OutgoingID.IsZero():
		answers = append(answers, "wait until a block has it again, or what it used is used up")
	case len(answers) == 0:
		answers = append(answers, fmt.Sprintf("if no block has it, `bursar outgoing abandon %s` uses up what both need",
			w.OutgoingID))
	}
	return strings.Join(answers, "; "), nil
}

func (a Assessor) mayDeny(ctx context.Context, tx *store.Tx, x store.ExternalSpend, w bursar.Withdrawal) error {
	switch {
	case x.Status == store.ExternalUnclear: // it may be explained without anybody's word
		return fmt.Errorf("%w: what transaction %s paid is not explained: `bursar recovery adopt %d` says it", ErrUnfit,
			x.TxID, x.Number)
	case !w.CompletedAt.IsZero():
		return fmt.Errorf("%w: withdrawal %s is %s", ErrUnfit, w.ID, w.Status)
	case w.OutgoingID == x.OutgoingID && !w.OutgoingID.IsZero():
		return fmt.Errorf("%w: transaction %s is known to pay withdrawal %s", ErrUnfit, x.TxID, w.ID)
	}
	currency, err := a.Registry.Get(w.Currency)
	if err != nil {
		return err
	}
	left, err := a.left(ctx, tx, x)
	if err != nil {
		return err
	}
	due := chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}
	if currency.Chain != a.Capabilities.ID || !slices.Contains(left, due) {
		return fmt.Errorf("%w: transaction %s makes no such payment as withdrawal %s: nothing holds it for that", ErrUnfit,
			x.TxID, w.ID)
	}
	return a.uncontradicted(ctx, tx, x, w)
}

// uncontradicted refuses a denial that the journal, or what the two transactions use, contradicts.
func (a Assessor) uncontradicted(ctx context.Context, tx *store.Tx, x store.ExternalSpend, w bursar.Withdrawal) error {
	if err := a.notByJournal(ctx, tx, x, w); err != nil {
		return err
	}
	return a.isNoVersion(ctx, tx, x, w)
}

// notByJournal refuses a denial of what the journal says that an external spend paid.
func (a Assessor) notByJournal(ctx context.Context, tx *store.Tx, x store.ExternalSpend, w bursar.Withdrawal) error {
	says, err := a.recordedPaidByJournal(ctx, tx, x)
	if err != nil {
		return err
	}
	if !x.OutgoingID.IsZero() {
		known, err := tx.ForgottenPayments().Behind(ctx, x.Chain, x.OutgoingID)
		if err != nil {
			return err
		}
		for _, f := range known {
			c, err := contentOf(f)
			if err != nil {
				return err
			}
			says = append(says, c.pays()...)
		}
	}
	if slices.ContainsFunc(says, func(j journaled) bool { return j.ID == w.ID }) {
		return fmt.Errorf("%w: the journal says that transaction %s pays withdrawal %s: `bursar recovery adopt %d "+
			"--withdrawal %s` records that", ErrUnfit, x.TxID, w.ID, x.Number, w.ID)
	}
	return nil
}

// isNoVersion refuses a denial if the external spend used what the withdrawal's transaction needs: then it is the same
// payment.
func (a Assessor) isNoVersion(ctx context.Context, tx *store.Tx, x store.ExternalSpend, w bursar.Withdrawal) error {
	var used []string
	if err := unmarshal(x.Reservations, &used); err != nil {
		return fmt.Errorf("read what external spend %s used: %w", x.TxID, err)
	}
	if w.OutgoingID.IsZero() {
		return nil // nothing pays it now
	}
	versions, err := tx.Outgoing().Versions(ctx, w.OutgoingID)
	if err != nil {
		return err
	}
	p, err := tx.Outgoing().Get(ctx, w.OutgoingID)
	if err != nil {
		return err
	}
	if len(p.Unsigned) > 0 { // the commit that stored its first version may be lost
		versions = append(versions, store.Version{TxID: p.TxID, Unsigned: p.Unsigned})
	}
	for _, v := range versions {
		needs, err := usedBy(v)
		if err != nil {
			return err
		}
		if intersect(used, needs) {
			return fmt.Errorf("%w: transaction %s used what transaction %s needs, and makes the same payment: it is another "+
				"version of it, and `bursar recovery adopt %d --withdrawal %s` records that", ErrUnfit, x.TxID, v.TxID, x.Number,
				w.ID)
		}
	}
	return nil
}
