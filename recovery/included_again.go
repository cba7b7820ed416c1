package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// IncludedAgain records the block that has a transaction of ours which was an external spend, and what it did there:
// where contracts run, it may fail in one block and pay in another one. One that had paid nobody, and pays somebody
// whom it was not asked to pay, is unclear from then on, and begins a recovery: what it paid may wait to be paid.
// The caller has locked the chain.
func (a Assessor) IncludedAgain(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, height uint64, in chain.Inclusion,
) error {
	before := x
	x.Height = height
	if a.Capabilities.Model == chain.UTXOModel { // its bytes say what it pays
		return tx.ExternalSpends().Move(ctx, x)
	}
	var request chain.TxRequest
	if err := unmarshal(p.Request, &request); err != nil {
		return fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	paid, asks, err := a.paidAgain(ctx, tx, before, p, in, request.Payments)
	if err != nil {
		return err
	}
	if x.Payments, err = json.Marshal(paid); err != nil {
		return fmt.Errorf("encode what external spend %s paid: %w", x.TxID, err)
	}
	x.Failed, x.Fee = in.Failed, in.Fee
	if err := tx.ExternalSpends().Move(ctx, x); err != nil || !asks {
		return err
	}
	return a.askAgain(ctx, tx, x, p, request, paid)
}

// paidAgain returns what a transaction of ours paid that was an external spend before, and whether an operator has to
// say what that was: it had paid nobody, and pays somebody whom it was not asked to pay, or nobody knows whom.
func (a Assessor) paidAgain(ctx context.Context, tx *store.Tx, before store.ExternalSpend, p bursar.OutgoingTx,
	in chain.Inclusion, asked []chain.Payment) (paid []chain.Payment, asks bool, err error) {
	was, err := paymentsIn(before)
	if err != nil {
		return nil, false, err
	}
	paid, known := paidIn(in, was, asked)
	if in.Failed || p.Status == bursar.OutgoingAbandoned || before.Status == store.ExternalHalted ||
		!before.Failed && len(a.toOthers(chain.ExternalSpend{Payments: was})) > 0 {
		return paid, false, nil
	}
	others, err := a.notAsked(ctx, tx, in.Delivered, asked)
	if len(others) > 0 {
		paid = in.Delivered
	}
	return paid, len(others) > 0 || !known, err
}

// paidIn returns what a transaction paid in its block, and whether that is known. A block shows one sum for each
// receiver and asset, which may be less than was paid where a token keeps a part: where it shows no more than the
// payments that are known, those stay. Where it shows none, a transaction that succeeded has made those payments.
func paidIn(in chain.Inclusion, was, asked []chain.Payment) (paid []chain.Payment, known bool) {
	if in.Failed {
		return []chain.Payment{}, true
	}
	for _, payments := range [][]chain.Payment{was, asked} {
		if len(payments) > 0 && (in.Delivered == nil || agree(payments, in.Delivered)) {
			return payments, true
		}
	}
	return append([]chain.Payment{}, in.Delivered...), in.Delivered != nil
}

// receiver is an address that is paid an asset.
type receiver struct {
	address  bursar.Address
	contract string
}

// agree reports whether everybody who should have been paid was delivered something, and no more than that.
func agree(payments, delivered []chain.Payment) bool {
	should, ok := sums(payments)
	got, also := sums(delivered)
	for to, sum := range should {
		if got[to].IsZero() || sum.Less(got[to]) {
			return false
		}
	}
	return ok && also
}

func sums(payments []chain.Payment) (map[receiver]bursar.Amount, bool) {
	sums := map[receiver]bursar.Amount{}
	for _, p := range payments {
		sum, err := sums[receiver{p.Address, p.Contract}].Add(p.Amount)
		if err != nil {
			return nil, false
		}
		sums[receiver{p.Address, p.Contract}] = sum
	}
	return sums, true
}

// notAsked returns the payments to others that were not asked for: to another address, or of another asset. An address
// that the service has issued is none of others.
func (a Assessor) notAsked(
	ctx context.Context, tx *store.Tx, paid, asked []chain.Payment,
) (others []chain.Payment, err error) {
	for _, p := range paid {
		if !a.toOther(p) || slices.ContainsFunc(asked, func(one chain.Payment) bool {
			return one.Address == p.Address && one.Contract == p.Contract
		}) {
			continue
		}
		ours, err := a.depositSource(ctx, tx, p.Address.Base)
		if err != nil {
			return nil, err
		}
		if ours.Base == "" {
			others = append(others, p)
		}
	}
	return others, nil
}

// askAgain makes an external spend unclear that had paid nobody before, has a recovery begin, and adopts it at once if
// it makes payments that are due.
func (a Assessor) askAgain(ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx,
	request chain.TxRequest, paid []chain.Payment) error {
	if request.Kind == chain.KindWithdrawal {
		request.Payments = a.toOthers(chain.ExternalSpend{Payments: paid})
		text, err := json.Marshal(request)
		if err != nil {
			return fmt.Errorf("encode transaction request: %w", err)
		}
		if err := tx.Outgoing().SetRequest(ctx, p.ID, text); err != nil {
			return err
		}
	}
	x.Status, x.Booked = store.ExternalUnclear, ""
	x.Reason = a.inUnits(fmt.Sprintf("it paid nobody before its block was reorged out, and succeeded in block %d",
		x.Height), paid)
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return err
	}
	open, err := tx.Recoveries().IsOpen(ctx, x.Chain)
	if err == nil && !open {
		err = Begin(ctx, tx, x.Chain, fmt.Sprintf("transaction %s, which this database did not make, had paid nobody, and "+
			"pays in block %d", x.TxID, x.Height))
	}
	if err != nil {
		return err
	}
	if err := tx.Alarms().Raise(ctx, store.Alarm{Chain: x.Chain, Kind: AlarmUnclear, Ref: x.TxID, Message: fmt.Sprintf(
		"transaction %s is from our address %s: %s; resolve it with `bursar recovery status` and `bursar recovery adopt`",
		x.TxID, x.Base, x.Reason)}); err != nil {
		return err
	}
	_, err = a.assessAgain(ctx, tx, x)
	return err
}

// paymentsIn returns the payments of an external spend.
func paymentsIn(x store.ExternalSpend) (payments []chain.Payment, err error) {
	if err := unmarshal(x.Payments, &payments); err != nil {
		return nil, fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	return payments, nil
}
