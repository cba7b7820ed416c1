package people

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// approvals returns every rejection of the order and every unused approval of this payment, and the latest decision of
// each person among these. It prevents an attack in which a compromised service presents a different part of the
// approvals for each transaction.
func (e *evaluating) approvals(
	ctx context.Context, o approval.Order, evidence chain.Order, payment int64,
) (verified, approvals []roster.VerifiedApproval, problems []error, err error) {
	if len(evidence.Approvals) > MaxApprovals {
		return nil, nil, nil, refuse(RulePaysOrder,
			"order %s comes with %d approvals, and each person has one of a kind: at most %d are read",
			o.ID, len(evidence.Approvals), MaxApprovals)
	}
	list, copied, err := e.genuine(ctx, o, evidence)
	if err != nil {
		return nil, nil, nil, err
	}
	all, problems := e.policy.Verified(o, list, e.Now)
	if i := slices.IndexFunc(problems, func(err error) bool { return errors.Is(err, roster.ErrForged) }); i >= 0 {
		return nil, nil, nil, refuse(RuleForged, "order %s: %v", o.ID, problems[i])
	}
	problems = append(problems, copied...)
	for _, v := range all {
		switch err := e.usable(ctx, v, payment); {
		case errors.Is(err, ErrUsed):
			problems = append(problems, err)
		case err != nil:
			return nil, nil, nil, err
		default:
			verified = append(verified, v)
		}
	}
	approvals, overruled := roster.LatestDecisions(verified)
	for _, v := range approvals {
		if touches(v) {
			e.touched = append(e.touched, touchOf(v))
		}
	}
	return verified, approvals, append(problems, overruled...), nil
}

// usable refuses a yes to another payment of the order, or one that allowed another flow.
func (e *evaluating) usable(ctx context.Context, v roster.VerifiedApproval, payment int64) error {
	flow, found, err := e.tx.Nonce(ctx, v.Nonce.String())
	switch {
	case err != nil:
		return err
	case v.Decision == approval.Yes && v.Payment != payment:
		return fmt.Errorf("%w: the approval by %s, of payment %d of the order", ErrUsed, v.Person, v.Payment)
	case found && (e.Flow == 0 || flow != e.Flow):
		return fmt.Errorf("%w: the approval by %s, for another transaction", ErrUsed, v.Person)
	}
	return nil
}

// denied refuses an order that somebody has rejected, now or before, and has not approved since with a kind of key that
// lifts the rejection. The rejection of a person whom the policy does not name any more has no effect.
//
// It prevents two attacks: a compromised service withholds a rejection, or shows it only until it has expired; or it
// has a passkey sign an approval whose owner was shown something else.
func (e *evaluating) denied(
	ctx context.Context, o approval.Order, digest memory.Digest, verified []roster.VerifiedApproval,
) error {
	before, err := e.tx.Denials(ctx, digest)
	if err != nil {
		return err
	}
	r, said := &Refusal{Rule: Rule(roster.Approved)}, before
	for _, v := range verified {
		if v.Decision != approval.No {
			continue
		}
		made := memory.Denial{Person: v.Person, With: string(v.With), At: v.Created}
		said = append(said, made)
		i := slices.IndexFunc(before, func(d memory.Denial) bool { return d.Person == made.Person && d.With == made.With })
		if i < 0 || before[i].At.Before(made.At) {
			r.Denied = append(r.Denied, Denied{digest, made, i >= 0})
		}
	}
	var names, how []string
	for _, d := range said {
		one, there := e.policy.Person(d.Person)
		with := kindOf(d, one)
		if !there || !e.Now.Before(one.Until) || roster.Lifted(d.Person, with, d.At, verified) {
			continue
		}
		names = append(names, d.Person)
		if yes := roster.Lifted(d.Person, roster.KeyPasskey, d.At, verified); yes {
			how = append(how, fmt.Sprintf("; %s lifts it only by SSH, as it was said", d.Person))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	r.Detail = fmt.Sprintf("order %s: %s said no%s", o.ID, strings.Join(slices.Compact(names), " and "),
		strings.Join(slices.Compact(how), ""))
	return r
}

// kindOf returns the kind of key of a rejection; if it was not recorded, the strongest kind that its person has.
func kindOf(d memory.Denial, one roster.Person) roster.KeyKind {
	switch {
	case d.With != "":
		return roster.KeyKind(d.With)
	case len(one.Keys) > 0:
		return roster.KeySSH
	}
	return roster.KeyPasskey
}

// share refuses payments of tokens that cost too much, by the policy's own prices.
func (e *evaluating) share(orders []approval.Order) error {
	if e.FeePercent == 0 || !e.SmallFee.Less(e.Fee) {
		return nil
	}
	fee, priced := e.policy.Worth(e.Chain, "", e.Fee)
	total, tokens := new(big.Int), false
	for _, o := range orders {
		worth, known := e.policy.Worth(o.Chain, o.Contract, o.Units)
		total.Add(total, worth.Big())
		priced, tokens = priced && known, tokens || o.Contract != ""
	}
	total.Mul(total, new(big.Int).SetUint64(e.FeePercent))
	if !priced || !tokens || total.Cmp(new(big.Int).Mul(fee.Big(), big.NewInt(100))) >= 0 {
		return nil // what is paid in the native asset alone was compared before
	}
	return refuse(RuleShare, "it may cost %s, by the policy's prices more than %d%% of what it pays", e.Fee, e.FeePercent)
}
