package relay

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// keep keeps an approval in place of an earlier one by the same person: nobody's approvals take the room of others'.
func keep(ctx context.Context, tx *store.Tx, v roster.Vote, one store.Approval) error {
	list, err := tx.Approvals().Of(ctx, one.OrderID)
	if err != nil {
		return err
	}
	one.Person = v.Person
	for _, other := range list {
		if other.Person != one.Person {
			continue
		}
		before, err := approval.ParseApproval(other.Text)
		switch {
		case err != nil:
			return err
		case before.Created.After(v.Created):
			return fmt.Errorf("%w: %s has signed another since, at %s", ErrRefused, v.Person, approval.Moment(before.Created))
		case !v.Supersedes(before):
			return nil // of the same second, and it says no, or lasts longer
		}
		if err := tx.Approvals().Remove(ctx, other); err != nil {
			return err
		}
	}
	return tx.Approvals().Add(ctx, one)
}

// requester is who ordered a payment, as an order names them. A name that no person of a policy can have is left out: it
// excludes nobody.
func requester(by string) string {
	if !approval.IsName(by) {
		return ""
	}
	return by
}

// refunder returns who decided the refund that an outgoing transaction pays; "" if that is not known.
func refunder(ctx context.Context, tx *store.Tx, outgoing bursar.ID) (string, error) {
	n, err := tx.Resolutions().RefundPaidBy(ctx, outgoing)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return requester(n.RequestedBy), err
}
