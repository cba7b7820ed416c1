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

// want is a payment that the database is to make: a withdrawal, or a refund to a sender.
type want struct {
	payment    chain.Payment
	currency   bursar.CurrencyCode
	withdrawal *bursar.Withdrawal
	refund     *bursar.Resolution
	sent       bool // another transaction of ours is signed for it, and may enter a block until it expires
}

func (w want) name() string {
	if w.withdrawal != nil {
		return "withdrawal " + w.withdrawal.ID.String()
	}
	return "refund " + w.refund.ID.String()
}

// account is whose money is paid; zero for a refund.
func (w want) account() bursar.ID {
	if w.withdrawal != nil {
		return w.withdrawal.AccountID
	}
	return bursar.ID{}
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
	return w.refund.DecidedAt.UnixMicro()
}

// fitted is what an external spend has paid by what the database wants: a want for each of its payments to others, or
// none and why not all of them fit.
type fitted struct {
	wants []want
	why   string
	later bool // they fit what another transaction of ours may still pay: nobody can tell before that is in a block or expired
}

func (k Book) fit(ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend) (f fitted, err error) {
	payments := k.toOthers(x)
	if !k.paysFromHot(x) || x.Failed || len(payments) == 0 {
		return fitted{why: "it pays nobody whom a withdrawal names"}, nil
	}
	wants, err := k.wants(ctx, tx, b, x, payments)
	if err != nil {
		return f, err
	}
	f.wants, f.why = match(payments, wants)
	if f.why != "" {
		return fitted{why: k.inUnits(f.why, payments)}, nil
	}
	for _, w := range f.wants {
		if w.sent {
			why := fmt.Sprintf("it pays what outgoing transaction %s may still pay: it is judged again once that is in a "+
				"block or expired", w.spend())
			return fitted{why: k.inUnits(why, payments), later: true}, nil
		}
	}
	return f, nil
}

// match takes each payment for a different want: of equals one for which nothing else is signed, and of those the
// oldest. What is signed for another may still be included, and would then be a second payment of it, and none of the
// one that waits. Where there are more equals than payments, and they belong to several accounts, it cannot be told who
// was paid. why says which payment fits nothing; "" where all fit.
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
			continue // decided with the first of its kind
		}
		count[p] = 0
		if len(equals) < n {
			return nil, fmt.Sprintf("%d payments to %s fit %d withdrawals that wait", n, p.Address, len(equals))
		}
		if len(equals) > n && severalAccounts(equals) {
			return nil, fmt.Sprintf("%d payments to %s fit %d withdrawals of several accounts", n, p.Address, len(equals))
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

// inUnits adds to a reason what the payments were in whole units.
func (k Book) inUnits(why string, payments []chain.Payment) string {
	for _, p := range payments {
		why += "; it paid " + k.Describe(p)
	}
	return why
}

// Describe says what a payment is in whole units: "0.6 BTC to bc1…".
func (k Book) Describe(p chain.Payment) string {
	currency, configured := k.Registry.Asset(k.Capabilities.ID, p.Contract)
	if !configured {
		return fmt.Sprintf("%s units of %q to %s", p.Amount, p.Contract, p.Address)
	}
	return fmt.Sprintf("%s %s to %s", currency.Exact(p.Amount), currency.Code, p.Address)
}

// wants returns what the database is to pay to the addresses that were paid.
func (k Book) wants(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, payments []chain.Payment,
) ([]want, error) {
	bases := make([]string, len(payments))
	for i, p := range payments {
		bases[i] = p.Address.Base
	}
	slices.Sort(bases)
	bases = slices.Compact(bases)
	withdrawals, err := tx.Withdrawals().UnfinishedTo(ctx, k.Capabilities.ID, bases)
	if err != nil {
		return nil, err
	}
	refunds, err := tx.Resolutions().RefundsTo(ctx, k.Capabilities.ID, bases)
	if err != nil {
		return nil, err
	}
	var wants []want
	for _, w := range withdrawals {
		if currency, err := k.Registry.Get(w.Currency); err == nil {
			wants = append(wants, want{chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount},
				w.Currency, &w, nil, false})
		}
	}
	for _, n := range refunds {
		if currency, err := k.Registry.Get(n.Currency); err == nil {
			wants = append(wants, want{chain.Payment{Address: n.Address, Contract: currency.Contract, Amount: n.Amount},
				n.Currency, nil, &n, false})
		}
	}
	return k.payable(ctx, tx, b, x, wants)
}

// payable leaves out what another transaction of ours pays or may still pay: one that is in a block, or that is signed,
// does not expire, and uses up nothing of what the external spend has used up. What is signed and expires is marked as
// sent.
func (k Book) payable(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, wants []want,
) (list []want, err error) {
	owners, err := tx.Reservations().Owners(ctx, k.Capabilities.ID, x.Reservations)
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
			if w.sent && (k.Capabilities.Lifetime.IsZero() || p.Height > 0 || includes(b, p.TxID)) {
				continue
			}
		}
		list = append(list, w)
	}
	return list, nil
}

// includes reports whether a block, whose transactions of ours may not be recorded yet, holds one of them.
func includes(b chain.Block, txID string) bool {
	return slices.ContainsFunc(b.Included, func(in chain.Inclusion) bool { return in.TxID == txID })
}
