package people

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// ofRule is a part of what counts by a rule: that of one account, or of payments of which no client said whose they
// are.
type ofRule struct {
	rule    string
	account bursar.ID
}

// sums is what the transaction that is evaluated counts, without what earlier ones of its flow did.
type sums struct {
	worth    bursar.Amount // of the orders that are allowed now
	payments uint64        // how many these are
	cost     bursar.Amount // the shares of its orders in what it can cost, also of those that were allowed before
}

// shareOf returns the part of a fee that each of a number of payments has, rounded up.
func shareOf(fee bursar.Amount, payments int) bursar.Amount {
	share, rest := fee.Div(uint64(max(payments, 1)))
	if rest > 0 {
		share = share.AddCapped(bursar.Units(1))
	}
	return share
}

// begin reads what the flow counts so far, and says what each payment costs.
func (e *evaluating) begin(ctx context.Context) (err error) {
	e.fee = shareOf(e.Fee, len(e.Request.Payments))
	e.cost, _ = e.policy.Worth(e.Chain, "", e.fee)
	if e.Flow != 0 {
		e.before, err = e.tx.RuleFeesIn(ctx, e.Flow)
	}
	return err
}

// again counts the share of an order that was allowed in this flow, and reports whether it was.
func (e *evaluating) again(ctx context.Context, digest memory.Digest) (bool, error) {
	if e.Flow == 0 {
		return false, nil
	}
	grant, found, err := e.tx.GrantIn(ctx, digest, e.Flow)
	if err != nil || !found {
		return false, err
	}
	of := ofRule{grant.Rule, grant.Account}
	e.add(of, sums{cost: e.cost})
	if !slices.Contains(e.replaced, of) {
		e.replaced = append(e.replaced, of)
	}
	return true, nil
}

func (e *evaluating) add(of ofRule, more sums) {
	now := e.sums[of]
	e.sums[of] = sums{now.worth.AddCapped(more.worth), now.payments + more.payments, now.cost.AddCapped(more.cost)}
}

// replacements refuses a transaction that costs more than one before it, where a rule that allowed its orders has no
// room for that.
//
// The attack: anyone who controls the service has one payment replaced again and again, each time at a higher fee.
func (e *evaluating) replacements(ctx context.Context) (err error) {
	for _, of := range e.replaced {
		more := e.sums[of].cost.SubOrZero(e.counted(of).Worth)
		q := roster.Question{Chain: e.Chain, Fee: e.fee, Now: e.Now}
		q.Used = func(measure roster.Measure, _ string, from time.Time) bursar.Amount {
			used, failed := e.used(ctx, measure, of, from, bursar.Amount{})
			err = errors.Join(err, failed)
			if measure == roster.MeasurePayments || used == bursar.LargestAmount() {
				return used
			}
			return used.SubOrZero(more)
		}
		a := e.policy.Replace(of.rule, q, more)
		if err != nil {
			return err
		}
		if !a.Allowed {
			return refuse(Rule(a.Lacks), "a replacement: %s", a.Detail)
		}
	}
	return nil
}

// counted returns what earlier transactions of the flow can cost, as far as it is of a rule and an account.
func (e *evaluating) counted(of ofRule) memory.RuleFee {
	for _, f := range e.before {
		if f.Rule == of.rule && f.Account == of.account {
			return f
		}
	}
	return memory.RuleFee{}
}

// costs returns what is to be remembered of what the transaction can cost. Of a flow the most counts, from when it was
// signed on.
func (e *evaluating) costs() (list []memory.RuleFee) {
	for of, s := range e.sums {
		if e.counted(of).Worth.Less(s.cost) {
			list = append(list, memory.RuleFee{Rule: of.rule, Account: of.account, Worth: s.cost})
		}
	}
	slices.SortFunc(list, func(a, b memory.RuleFee) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.Account.String(), b.Account.String()))
	})
	return list
}

// used returns how much of a measure counts by a rule from a time on: what is remembered, and what this transaction
// counts so far. more is the share of the order that is evaluated: a replacement counts the higher of the flow's cost
// before and with it, so used returns that less more, and the caller adds more. After a cold start a window counts as
// full until its length has passed.
func (e *evaluating) used(
	ctx context.Context, measure roster.Measure, of ofRule, from time.Time, more bursar.Amount,
) (total bursar.Amount, err error) {
	if from.Before(e.State.ColdSince) {
		return bursar.LargestAmount(), nil
	}
	by := memory.RuleUse{Rule: of.rule}
	if measure == roster.MeasureAccount {
		by.OneAccount, by.Account = true, of.account
	}
	if measure != roster.MeasureFees {
		if total, err = e.stored(ctx, measure, by, from); err != nil {
			return total, err
		}
		for other, s := range e.sums {
			switch {
			case !by.Counts(other.rule, other.account):
			case measure == roster.MeasurePayments:
				total = total.AddCapped(bursar.Units(s.payments))
			default:
				total = total.AddCapped(s.worth)
			}
		}
	}
	if measure == roster.MeasurePayments {
		return total, nil
	}
	fees, err := e.fees(ctx, by, of, from, more)
	return total.AddCapped(fees), err
}

// fees returns the part of used that is what transactions can cost; its parameters are those of used.
func (e *evaluating) fees(
	ctx context.Context, by memory.RuleUse, of ofRule, from time.Time, more bursar.Amount,
) (total bursar.Amount, err error) {
	if total, err = e.stored(ctx, roster.MeasureFees, by, from); err != nil || total == bursar.LargestAmount() {
		return total, err
	}
	parts := map[ofRule]bursar.Amount{of: more}
	for _, f := range e.before {
		part := ofRule{f.Rule, f.Account}
		if _, there := parts[part]; !there {
			parts[part] = bursar.Amount{}
		}
		if by.Counts(part.rule, part.account) && !f.At.Before(from) {
			total = total.SubOrZero(f.Worth)
		}
	}
	for part, s := range e.sums {
		parts[part] = parts[part].AddCapped(s.cost)
	}
	for part, cost := range parts {
		before := e.counted(part)
		switch {
		case !by.Counts(part.rule, part.account):
		case before.Worth.Less(cost):
			total = total.AddCapped(cost)
		case !before.At.Before(from):
			total = total.AddCapped(before.Worth)
		}
	}
	if total == bursar.LargestAmount() {
		return total, nil
	}
	return total.SubOrZero(more), nil
}

// look is one look-up in the memory, which is the same for all orders of a transaction.
type look struct {
	measure roster.Measure
	by      memory.RuleUse
	from    int64
}

// stored returns what the memory has of a measure from a time on. Of MeasureWorth and MeasureAccount that is what was
// paid, without fees.
func (e *evaluating) stored(
	ctx context.Context, measure roster.Measure, by memory.RuleUse, from time.Time,
) (total bursar.Amount, err error) {
	if measure == roster.MeasureAccount {
		measure = roster.MeasureWorth // of by
	}
	key := look{measure, by, from.UnixMilli()}
	if known, found := e.looked[key]; found {
		return known, nil
	}
	switch measure {
	case roster.MeasureFees:
		total, err = e.tx.RuleFeesSince(ctx, by, from)
	case roster.MeasurePayments:
		var n uint64
		n, err = e.tx.GrantsSince(ctx, by, from)
		total = bursar.Units(n)
	default:
		total, err = e.tx.WorthSince(ctx, by, from)
	}
	if err == nil {
		e.looked[key] = total
	}
	return total, err
}
