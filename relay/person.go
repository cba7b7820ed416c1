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

// saveApproval saves an approval if it is the latest decision of its person and none of their other ones outweighs it.
// Only the latest of each person are kept, so one person cannot crowd out others.
func saveApproval(ctx context.Context, tx *store.Tx, v roster.VerifiedApproval, one store.Approval) error {
	list, err := tx.Approvals().Of(ctx, one.OrderID)
	if err != nil {
		return err
	}
	one.Person = v.Person
	if v.With != roster.KeyPasskey {
		v.With = roster.KeySSH
	}
	said := []roster.VerifiedApproval{v}
	for _, other := range list {
		if other.Person != one.Person {
			continue
		}
		before, err := approvalOf(other)
		if err != nil {
			return err
		}
		said = append(said, before)
		switch {
		case v.Decision == approval.No && before.With != v.With:
			continue // a no is remembered for each kind of key
		case before.Created.After(v.Created):
			return fmt.Errorf("%w: %s has signed another since, at %s", ErrRefused, v.Person, approval.Moment(before.Created))
		case !v.Supersedes(before.Approval):
			return nil // made in the same second, and it says no, or is valid for longer
		}
	}
	if _, overruled := roster.LatestDecisions(said); v.Decision == approval.Yes && len(overruled) > 0 {
		return fmt.Errorf("%w: %w: use bursar-approve", ErrRefused, overruled[0])
	}
	return tx.Approvals().Add(ctx, one)
}

// approvalOf reads a saved approval. It does not distinguish kinds of SSH keys: each lifts a rejection with any other.
func approvalOf(a store.Approval) (v roster.VerifiedApproval, err error) {
	v.Person, v.With = a.Person, roster.KindOf(a.Signature)
	v.Approval, err = approval.ParseApproval(a.Text)
	return v, err
}

// latest returns the last yes and the last no of each payment by each person with each kind of key. The signer takes
// the later one, and the no where a copied passkey said yes since, or a passkey where the no was signed by SSH.
func latest(list []store.Approval) (last []store.Approval) {
	var said []roster.VerifiedApproval // of last
	for _, one := range list {
		v, err := approvalOf(one)
		i := -1
		if err == nil && one.Person != "" {
			i = slices.IndexFunc(said, func(other roster.VerifiedApproval) bool {
				return other.Person == v.Person && other.Order == v.Order && other.Decision == v.Decision && other.With == v.With
			})
		}
		switch {
		case i < 0:
			last, said = append(last, one), append(said, v)
		case v.Supersedes(said[i].Approval):
			last[i], said[i] = one, v
		}
	}
	return last
}

// requester returns the name of the person who ordered a payment. A name that no person of a policy can have is left
// out, since it excludes nobody.
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
