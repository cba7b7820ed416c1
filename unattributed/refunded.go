package unattributed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// blockTimeAhead is more than how far ahead of the time a block's may be: on Bitcoin two hours.
const blockTimeAhead = 3 * time.Hour

// Refunded returns why the deposit of a resolution, which pays it out, may have been refunded already; "" if nothing
// says so. By the journal it has, whatever an operator has explained of that refund. And a refund that was final when
// an older database was restored is in no journal: it is an external spend that could be one, and that halted the
// chain, or that an operator booked as a loss or as a payment of theirs, or that nothing explains any more, unless the
// resolution's note names it, as another payment, or it is later. One that makes exactly the payment of the resolution
// may also be an earlier version of that, in whatever block. ours are the hot wallets.
func Refunded(
	ctx context.Context, tx *store.Tx, n bursar.Resolution, d bursar.Deposit, ours []string,
) (why string, byJournal bool, err error) {
	x, err := tx.ForgottenPayments().RefundedAs(ctx, d)
	if err == nil && (n.OutgoingID.IsZero() || x.OutgoingID != n.OutgoingID) {
		return fmt.Sprintf("the journal says that transaction %s refunded deposit %s", x.TxID, d.ID), true, nil
	}
	if store.IgnoreNotFound(err) != nil {
		return "", false, err
	}
	list, err := tx.ExternalSpends().NotExplained(ctx, d.Chain, d.Height)
	if err != nil {
		return "", false, err
	}
	may, err := makers(ctx, tx, n, d)
	if err != nil {
		return "", false, err
	}
	for _, x := range list {
		if strings.Contains(n.Note, x.TxID) || slices.Contains(may, x.TxID) {
			continue
		}
		could, err := couldRefund(ctx, tx, n, d, x, ours)
		if err != nil {
			return "", false, err
		}
		if could {
			may = append(may, x.TxID)
		}
	}
	return mayHaveRefunded(d, may), false, nil
}

// makers returns the external spends that made exactly the payment of a refund, which neither a withdrawal nor another
// refund explains and which the refund's note does not name.
func makers(
	ctx context.Context, tx *store.Tx, n bursar.Resolution, d bursar.Deposit,
) (may []string, err error) {
	if n.Address.Base == "" {
		return nil, nil
	}
	pays := chain.Payment{Address: n.Address, Contract: d.Contract, Amount: n.Amount}
	for x, err := range tx.ExternalSpends().Paying(ctx, d.Chain, n.Address.Base, n.Amount, time.Time{}) {
		if err != nil {
			return nil, err
		}
		if x.Failed || strings.Contains(n.Note, x.TxID) {
			continue
		}
		paid, err := paymentsIn(x)
		if err != nil {
			return nil, err
		}
		left := len(slices.DeleteFunc(paid, func(p chain.Payment) bool { return p != pays }))
		if left > 0 && !x.OutgoingID.IsZero() {
			orders, err := tx.Outgoing().OrdersPaid(ctx, x.OutgoingID)
			if err != nil {
				return nil, err
			}
			left -= len(slices.DeleteFunc(orders, func(o store.PaidOrder) bool {
				return o.To != n.Address || o.Amount != n.Amount || o.Currency != d.Currency
			}))
		}
		if left > 0 {
			may = append(may, x.TxID)
		}
	}
	return may, nil
}

func paymentsIn(x store.ExternalSpend) (paid []chain.Payment, err error) {
	if err := json.Unmarshal(x.Payments, &paid); err != nil {
		return nil, fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	return paid, nil
}

// mostNamed is how many external spends a refusal names: one note can name them all at once.
const mostNamed = 10

// mayHaveRefunded says that one of some external spends may have refunded a deposit; "" if there are none.
func mayHaveRefunded(d bursar.Deposit, spends []string) string {
	switch named := strings.Join(spends[:min(len(spends), mostNamed)], ", "); {
	case len(spends) == 0:
		return ""
	case len(spends) == 1:
		return fmt.Sprintf("transaction %s, which nobody is known to have requested, may have refunded deposit %s; if it "+
			"paid something else, a note that names it says so", named, d.ID)
	default:
		if more := len(spends) - mostNamed; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		return fmt.Sprintf("one of transactions %s, which nobody is known to have requested, may have refunded deposit %s; "+
			"if they paid something else, a note that names each says so", named, d.ID)
	}
}

// couldRefund reports whether an external spend could be the refund of a deposit before the one that a resolution
// requests, and is not known to have paid something else.
func couldRefund(
	ctx context.Context, tx *store.Tx, n bursar.Resolution, d bursar.Deposit, x store.ExternalSpend, ours []string,
) (bool, error) {
	paid, err := paymentsIn(x)
	if err != nil {
		return false, err
	}
	paid = slices.DeleteFunc(paid, func(p chain.Payment) bool { return slices.Contains(ours, p.Address.Base) })
	if could, err := isRefundOf(d, paid); err != nil || !could || isLater(n, x, paid) {
		return false, err
	}
	if x.OutgoingID.IsZero() {
		return true, nil
	}
	orders, err := tx.Outgoing().OrdersPaid(ctx, x.OutgoingID)
	return len(orders) == 0, err
}

// isLater reports whether an external spend is no earlier refund because it was made after the resolution was
// requested. Only one that halted the chain counts, also once it was resumed: a database that had forgotten something
// may lack the resolution's end too, and a second request for the same deposit. Nor does one that pays the
// resolution's address.
func isLater(n bursar.Resolution, x store.ExternalSpend, paid []chain.Payment) bool {
	return (x.Status == store.ExternalHalted || x.Status == store.ExternalSettled) &&
		n.ResolvedAt.Add(blockTimeAhead).Before(x.MadeAt) &&
		!slices.ContainsFunc(paid, func(p chain.Payment) bool { return p.Address.Base == n.Address.Base })
}

// isRefundOf reports whether payments to others could be one refund of a deposit: of its asset, and of no more than
// came. A token is refunded in full, and may keep a part for somebody else; of the native asset there is one payment.
func isRefundOf(d bursar.Deposit, paid []chain.Payment) (bool, error) {
	var sum bursar.Amount
	for _, p := range paid {
		var err error
		if sum, err = sum.Add(p.Amount); err != nil || p.Contract != d.Contract {
			return false, err
		}
	}
	if d.Contract != "" {
		return sum == d.Amount, nil
	}
	return len(paid) == 1 && !d.Amount.Less(sum), nil
}

// notRefunded refuses to pay out a deposit that a transaction has refunded, or may have. To keep it makes up for what
// was booked.
func notRefunded(ctx context.Context, tx *store.Tx, n bursar.Resolution, d bursar.Deposit, at ChainContext) error {
	why, _, err := Refunded(ctx, tx, n, d, append([]string{at.Hot}, at.Old...))
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s: keep the deposit, which makes up for what was booked of that transaction", ErrTooLate,
			why)
	}
	return err
}
