package screening

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The alarms about screening. Ref is the chain.
const (
	alarmReview     = "screening_review"     // an operator must decide
	alarmUnanswered = "screening_unanswered" // the service gives no answer that counts; it is asked again
)

// NoteOpen raises the alarms of a chain about what waits, and closes those whose cause has ended.
func NoteOpen(ctx context.Context, tx *store.Tx, id bursar.ChainID) error {
	open, err := tx.Screenings().Open(ctx, id)
	if err != nil {
		return err
	}
	err = note(ctx, tx, open.Review, store.Alarm{Chain: id, Kind: alarmReview, Ref: string(id), Message: fmt.Sprintf(
		"%d deposits and payouts on %s wait for a decision after screening: see `bursar screening list`, then "+
			"`bursar screening release` or `bursar screening reject`", open.Review, id)})
	if err != nil {
		return err
	}
	return note(ctx, tx, open.Unanswered, store.Alarm{Chain: id, Kind: alarmUnanswered, Ref: string(id),
		Message: fmt.Sprintf("the screening service gives no answer that counts: %d deposits and payouts on %s wait, and "+
			"go on by themselves once it does; `bursar screening list` says why", open.Unanswered, id)})
}

func note(ctx context.Context, tx *store.Tx, waiting int64, alarm store.Alarm) error {
	if waiting == 0 {
		return tx.Alarms().Resolve(ctx, alarm.Kind, alarm.Ref)
	}
	return tx.Alarms().Raise(ctx, alarm)
}

// End notes that nothing is screened from now on, with who ended it and why, and closes the alarms about a service that
// does not answer: nothing waits for it any more.
func End(ctx context.Context, tx *store.Tx, actor, reason string) error {
	if err := tx.Settings().EndScreened(ctx, actor, reason); err != nil {
		return err
	}
	open, err := tx.Alarms().OfKind(ctx, alarmUnanswered)
	if err != nil {
		return err
	}
	refs := make([]string, len(open))
	for i, a := range open {
		refs[i] = a.Ref
	}
	return tx.Alarms().ResolveAll(ctx, alarmUnanswered, refs)
}

// isNoted reports whether the alarms of a chain are open exactly where something waits.
func isNoted(ctx context.Context, tx *store.Tx, id bursar.ChainID) (bool, error) {
	open, err := tx.Screenings().Open(ctx, id)
	if err != nil {
		return false, err
	}
	review, err := tx.Alarms().IsOpen(ctx, alarmReview, string(id))
	if err != nil {
		return false, err
	}
	unanswered, err := tx.Alarms().IsOpen(ctx, alarmUnanswered, string(id))
	return review == (open.Review > 0) && unanswered == (open.Unanswered > 0), err
}
