package people

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// approvers are the persons who approved an order, by role, and the kinds of their keys.
type approvers struct {
	yes  map[string][]string
	with map[string]roster.KeyKind
}

// rule returns an allow by its ID.
func (e *evaluating) rule(id string) roster.Rule {
	for _, r := range e.policy.Rules {
		if r.ID == id && !r.Deny {
			return r
		}
	}
	return roster.Rule{}
}

// refused returns the refusal of an order, with the reasons why approvals of it do not count.
func (e *evaluating) refused(
	o approval.Order, a roster.Answer, digest memory.Digest, payment int64, by approvers, problems []error,
) error {
	r := &Refusal{Rule: Rule(a.Lacks), Detail: fmt.Sprintf("order %s: %s", o.ID, a.Detail)}
	if a.Lacks == roster.Approved {
		if payment > 1 {
			r.Detail += fmt.Sprintf("; this would be payment %d of the order, which needs approvals of that number", payment)
		}
		for _, p := range problems {
			r.Detail += "; " + p.Error()
		}
	}
	for _, id := range a.Holds {
		rule := e.rule(id)
		r.Holds = append(r.Holds, Held{digest, e.heldAs(id, payment), rule.Counted(by.yes[rule.Role], by.with)})
	}
	return r
}

// heldAs names a rule of this version as it is tightened, and a payment: another version may demand other people, those
// whose approvals began the hold may be gone, and each payment of an order has a hold of its own.
func (e *evaluating) heldAs(rule string, payment int64) string {
	return fmt.Sprintf("%s/%s/%d", e.policy.By(), rule, payment)
}

// listed reports whether an order pays a destination that was signed and whose waiting period is over.
func (e *evaluating) listed(ctx context.Context, o approval.Order) (bool, error) {
	list, err := e.tx.Destinations(ctx, o.Chain, o.To.Base)
	if err != nil {
		return false, err
	}
	for _, one := range list {
		d, err := approval.ParseDestination(one.Text)
		if err != nil {
			return false, err
		}
		if d.Covers(o) && !e.Now.Before(one.From) && e.Now.Before(one.Until) {
			return true, nil
		}
	}
	return false, nil
}

// own evaluates a transfer between our own addresses.
func (e *evaluating) own(ctx context.Context, g *Grants) error {
	p, digest := e.Request.Payments[0], e.ownDigest()
	if again, err := e.again(ctx, digest); err != nil || again {
		return err
	}
	a, err := e.ask(ctx, digest, 0, bursar.ID{}, roster.Question{Kind: string(e.Request.Kind), Chain: e.Chain,
		Contract: p.Contract, To: p.Address, Units: p.Amount})
	if err != nil {
		return err
	}
	if !a.Allowed {
		return refuse(Rule(a.Lacks), "%s", a.Detail)
	}
	g.List = append(g.List, Granted{Order: digest, ID: e.Request.ID, Rule: a.Rule, Worth: a.Worth})
	return nil
}

// ownDigest is the name under which a movement of our own money is allowed.
func (q Question) ownDigest() memory.Digest {
	p := q.Request.Payments[0]
	return memory.Digest(sha256.Sum256(fmt.Appendf(nil, "own %s %s %s %s %s", q.Request.Kind, q.Chain, p.Contract,
		p.Amount, p.Address)))
}

// Moved is what a compromise order in force allows of a movement of our own money, whatever the policy's rules say:
// like theirs it holds for the other transactions of its flow too, also after the thaw, since payments may wait behind
// it. It uses up no rule.
func Moved(ctx context.Context, tx memory.Tx, q Question, o CompromiseOrder) (g Grants, err error) {
	digest := q.ownDigest()
	flows, err := tx.Granted(ctx, digest)
	if err != nil || q.Flow != 0 && slices.Contains(flows, q.Flow) {
		return g, err
	}
	return Grants{List: []Granted{{Order: digest, ID: q.Request.ID, Rule: usedName(o.ID)}}, Policy: o.Version}, nil
}

// ask evaluates the policy with what the state remembers, and counts what it allows. account is whose order it is,
// where a client said so.
func (e *evaluating) ask(
	ctx context.Context, digest memory.Digest, payment int64, account bursar.ID, q roster.Question,
) (a roster.Answer, err error) {
	q.Now, q.Fee, q.Ordered = e.Now, e.fee, !account.IsZero()
	q.Since = func(rule string) time.Time {
		since, failed := e.tx.HeldSince(ctx, digest, e.heldAs(rule, payment))
		err = errors.Join(err, failed)
		return since
	}
	q.Used = func(measure roster.Measure, rule string, from time.Time) bursar.Amount {
		used, failed := e.used(ctx, measure, ofRule{rule, account}, from, e.cost)
		err = errors.Join(err, failed)
		return used
	}
	if a = e.policy.Evaluate(q); a.Allowed && err == nil {
		e.add(ofRule{a.Rule, account}, sums{a.Worth, 1, e.cost})
	}
	return a, err
}
