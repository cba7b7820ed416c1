package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// keep keeps an approval that is the last by its person: nobody's approvals take the room of others'.
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
	}
	return tx.Approvals().Add(ctx, one)
}

// latest returns the last yes and the last no of each payment by each person. The signer takes the later one, and the
// no where it sees that a copied passkey said yes since.
func latest(list []store.Approval) (last []store.Approval) {
	for _, one := range list {
		a, err := approval.ParseApproval(one.Text)
		i := slices.IndexFunc(last, func(other store.Approval) bool {
			if one.Person == "" || other.Person != one.Person || other.OrderID != one.OrderID {
				return false
			}
			before, failed := approval.ParseApproval(other.Text)
			return err == nil && failed == nil && before.Decision == a.Decision
		})
		if i < 0 {
			last = append(last, one)
			continue
		}
		before, failed := approval.ParseApproval(last[i].Text)
		if failed == nil && (roster.Vote{Approval: a}).Supersedes(before) {
			last[i] = one
		}
	}
	return last
}

// requester is who ordered a payment, as an order names them. A name that no person of a policy can have is left out:
// it excludes nobody.
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
