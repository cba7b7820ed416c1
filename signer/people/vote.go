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

// votes returns the approvals that count: of this payment of the order, and not used for another flow. A no is heeded
// of whichever payment it is.
//
// The attack: the service shows some of the approvals of an order at a time, each time for another transaction.
func (j *judging) votes(
	ctx context.Context, o approval.Order, evidence chain.Order, payment int64,
) (votes []roster.Vote, problems []error, err error) {
	if len(evidence.Approvals) > MaxApprovals {
		return nil, nil, refuse(RulePaysOrder,
			"order %s comes with %d approvals, and each person has one: at most %d are read",
			o.ID, len(evidence.Approvals), MaxApprovals)
	}
	list, copied, err := j.genuine(ctx, o, evidence)
	if err != nil {
		return nil, nil, err
	}
	all, problems := j.policy.Votes(o, list, j.Now)
	if i := slices.IndexFunc(problems, func(err error) bool { return errors.Is(err, roster.ErrForged) }); i >= 0 {
		return nil, nil, refuse(RuleForged, "order %s: %v", o.ID, problems[i])
	}
	problems = append(problems, copied...)
	for _, v := range all {
		flow, found, err := j.tx.Nonce(ctx, v.Nonce.String())
		switch {
		case err != nil:
			return nil, nil, err
		case v.Decision == approval.Yes && v.Payment != payment:
			problems = append(problems, fmt.Errorf("%w: the approval by %s, of payment %d of the order", ErrUsed, v.Person,
				v.Payment))
		case found && (j.Flow == 0 || flow != j.Flow):
			problems = append(problems, fmt.Errorf("%w: the approval by %s, for another transaction", ErrUsed, v.Person))
		default:
			votes = append(votes, v)
			if touches(v) {
				j.touched = append(j.touched, touchOf(v))
			}
		}
	}
	return votes, problems, nil
}

// denied refuses an order to which somebody said no, now or before, and did not say yes since. The no of a person whom
// the policy does not have any more ends.
//
// The attack: the service shows a no until it has expired, or not a second time.
func (j *judging) denied(ctx context.Context, o approval.Order, digest memory.Digest, votes []roster.Vote) error {
	r := &Refusal{Rule: Rule(roster.Approved)}
	stands := map[string]bool{}
	before, err := j.tx.Denials(ctx, digest)
	for _, d := range before {
		one, there := j.policy.Person(d.Person)
		stands[d.Person] = there && len(one.Keys)+len(one.Passkeys) > 0 && j.Now.Before(one.Until)
	}
	for _, v := range votes {
		made := memory.Denial{Person: v.Person, At: v.Created}
		i := slices.IndexFunc(before, func(d memory.Denial) bool { return d.Person == v.Person })
		switch {
		case v.Decision == approval.No:
			stands[v.Person] = true
			if i < 0 || before[i].At.Before(v.Created) {
				r.Denied = append(r.Denied, Denied{digest, made, i >= 0})
			}
		case i >= 0 && v.Created.After(before[i].At):
			stands[v.Person] = false
		}
	}
	var names []string
	for name, stands := range stands {
		if stands {
			names = append(names, name)
		}
	}
	if err != nil || len(names) == 0 {
		return err
	}
	slices.Sort(names)
	r.Detail = fmt.Sprintf("order %s: %s said no", o.ID, strings.Join(names, " and "))
	return r
}

// share refuses payments of tokens that cost too much, by the policy's own prices.
func (j *judging) share(orders []approval.Order) error {
	if j.FeePercent == 0 || !j.SmallFee.Less(j.Fee) {
		return nil
	}
	fee, priced := j.policy.Worth(j.Chain, "", j.Fee)
	total, tokens := new(big.Int), false
	for _, o := range orders {
		worth, known := j.policy.Worth(o.Chain, o.Contract, o.Units)
		total.Add(total, worth.Big())
		priced, tokens = priced && known, tokens || o.Contract != ""
	}
	total.Mul(total, new(big.Int).SetUint64(j.FeePercent))
	if !priced || !tokens || total.Cmp(new(big.Int).Mul(fee.Big(), big.NewInt(100))) >= 0 {
		return nil // what is paid in the native asset alone was compared before
	}
	return refuse(RuleShare, "it may cost %s, by the policy's prices more than %d%% of what it pays", j.Fee, j.FeePercent)
}
