package recovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// want is a payment due in the database: a withdrawal, or a refund to a sender.
type want struct {
	payment    chain.Payment
	currency   bursar.CurrencyCode
	withdrawal *bursar.Withdrawal
	refund     *bursar.Resolution
	sent       bool // another transaction of ours is signed for it, and may be included until it expires
	journaled  bool // the journal says that the external spend pays it
}

func (w want) name() string {
	if w.withdrawal != nil {
		return "withdrawal " + w.withdrawal.ID.String()
	}
	return "refund " + w.refund.ID.String()
}

// account returns the account that pays; zero for a refund.
func (w want) account() bursar.ID {
	if w.withdrawal != nil {
		return w.withdrawal.AccountID
	}
	return bursar.ID{}
}

func (w want) id() bursar.ID {
	if w.withdrawal != nil {
		return w.withdrawal.ID
	}
	return w.refund.ID
}

func (w want) spend() bursar.ID {
	if w.withdrawal != nil {
		return w.withdrawal.OutgoingID
	}
	return w.refund.OutgoingID
}

func (w want) orderedAt() int64 {
	if w.withdrawal != nil {
		return w.withdrawal.CreatedAt.UnixMicro()
	}
	return w.refund.ResolvedAt.UnixMicro()
}

// fitted is the match of an external spend's payments with the payments due: a want for each of its payments to others,
// or none and the reason.
type fitted struct {
	wants []want
	why   string
	later bool // they match what another transaction of ours may still pay: unknown until that ends
}

func (a Assessor) fit(ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend) (f fitted, err error) {
	payments := a.toOthers(x)
	if !a.paysFromHot(x) || x.Failed || len(payments) == 0 {
		return fitted{why: "no withdrawal has an address that it pays"}, nil
	}
	wants, err := a.wants(ctx, tx, b, x, payments)
	if err != nil {
		return f, err
	}
	known, err := a.paidByJournal(ctx, tx, x)
	if err != nil {
		return f, err
	}
	for i, w := range wants {
		wants[i].journaled = slices.ContainsFunc(known, func(j journaled) bool { return j.ID == w.id() })
	}
	f.wants, f.why = match(payments, wants)
	if f.why != "" {
		return fitted{why: a.inUnits(f.why, payments)}, nil
	}
	for _, w := range f.wants {
		if w.sent {
			why := fmt.Sprintf("it pays what outgoing transaction %s may still pay: it is assessed again once that is in a "+
				"block or expired", w.spend())
			return fitted{why: a.inUnits(why, payments), later: true}, nil
		}
	}
	return f, nil
}

// match assigns each payment to a different want: of equal wants to those that the journal names; otherwise to one for
// which nothing else is signed, and of those to the oldest. What is signed for another want may still be included, and
// would then pay that one a second time, and the waiting one not at all. If there are more equal wants than payments,
// and they belong to several accounts, the recipient is ambiguous. why says which payment matches nothing; "" if all
// match.
func match(payments []chain.Payment, wants []want) (fitting []want, why string) {
	left := map[chain.Payment][]want{}
	for _, w := range wants {
		left[w.payment] = append(left[w.payment], w)
	}
	count := map[chain.Payment]int{}
	for _, p := range payments {
		count[p]++
	}
	for _, p := range payments {
		n, equals := count[p], left[p]
		if n == 0 {
			continue // matched with the first of its kind
		}
		if named := slices.DeleteFunc(slices.Clone(equals), func(w want) bool { return !w.journaled }); len(named) == n {
			equals = named
		}
		count[p] = 0
		if len(equals) < n {
			return nil, fmt.Sprintf("%d payments to %s match %d waiting withdrawals", n, p.Address, len(equals))
		}
		if len(equals) > n && severalAccounts(equals) {
			return nil, fmt.Sprintf("%d payments to %s match %d withdrawals of several accounts", n, p.Address, len(equals))
		}
		slices.SortStableFunc(equals, func(a, b want) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.orderedAt(), b.orderedAt()))
		})
		fitting = append(fitting, equals[:n]...)
	}
	return fitting, ""
}

func rank(w want) int {
	if w.sent {
		return 1
	}
	return 0
}

func severalAccounts(wants []want) bool {
	return slices.ContainsFunc(wants, func(w want) bool { return w.account() != wants[0].account() })
}

// inUnits appends the payments in whole units to a reason.
func (a Assessor) inUnits(why string, payments []chain.Payment) string {
	for _, p := range payments {
		why += "; it paid " + a.Describe(p)
	}
	return why
}

// Describe formats a payment in whole units: "0.6 BTC to bc1…".
func (a Assessor) Describe(p chain.Payment) string {
	return fmt.Sprintf("%s to %s", a.Registry.AssetText(a.Capabilities.ID, p.Contract, p.Amount), p.Address)
}

// wants returns the payments due to the addresses that were paid.
func (a Assessor) wants(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, payments []chain.Payment,
) ([]want, error) {
	bases := make([]string, len(payments))
	for i, p := range payments {
		bases[i] = p.Address.Base
	}
	slices.Sort(bases)
	bases = slices.Compact(bases)
	withdrawals, err := tx.Withdrawals().UnfinishedTo(ctx, a.Capabilities.ID, bases)
	if err != nil {
		return nil, err
	}
	refunds, err := tx.Resolutions().RefundsTo(ctx, a.Capabilities.ID, bases)
	if err != nil {
		return nil, err
	}
	var wants []want
	for _, w := range withdrawals {
		if currency, err := a.Registry.Get(w.Currency); err == nil {
			wants = append(wants, want{chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount},
				w.Currency, &w, nil, false, false})
		}
	}
	for _, n := range refunds {
		if currency, err := a.Registry.Get(n.Currency); err == nil {
			wants = append(wants, want{chain.Payment{Address: n.Address, Contract: currency.Contract, Amount: n.Amount},
				n.Currency, nil, &n, false, false})
		}
	}
	return a.payable(ctx, tx, b, x, wants)
}

// payable leaves out what another transaction of ours pays or may still pay: one that is in a block, or one that is
// signed, does not expire, and uses nothing that the external spend used. What is signed and expires is marked as sent.
func (a Assessor) payable(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, wants []want,
) (list []want, err error) {
	owners, err := tx.Reservations().Owners(ctx, a.Capabilities.ID, x.Reservations)
	if err != nil {
		return nil, err
	}
	beaten := map[bursar.ID]bool{}
	for _, id := range owners {
		beaten[id] = true
	}
	for _, w := range wants {
		if id := w.spend(); !id.IsZero() && !beaten[id] {
			p, err := tx.Outgoing().Get(ctx, id)
			if err != nil {
				return nil, err
			}
			w.sent = p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved
			if w.sent && (a.Capabilities.Lifetime.IsZero() || p.Height > 0 || includes(b, p.TxID)) {
				continue
			}
		}
		list = append(list, w)
	}
	return list, nil
}

// includes reports whether a block, whose transactions of ours may not be recorded yet, contains one of them.
func includes(b chain.Block, txID string) bool {
	return slices.ContainsFunc(b.Included, func(in chain.Inclusion) bool { return in.TxID == txID })
}
