package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// ErrNotFinal is returned if an external spend may still be reorged out: it is settled only once it is final.
var ErrNotFinal = errors.New("an external spend is not final yet")

// takeAtOnce bounds how many external spends one resume settles.
const takeAtOnce = 1000

// Halting returns the unsettled external spends that halted the chain, oldest first.
func (a Assessor) Halting(ctx context.Context, tx *store.Tx) ([]store.ExternalSpend, error) {
	return tx.ExternalSpends().List(ctx, a.Capabilities.ID, store.ExternalHalted, takeAtOnce)
}

// TakeAll settles every external spend that halted the chain, in a transaction that has locked it: the nonces and UTXOs
// that they used are marked used, so that the next transaction of ours fits the chain, and the operator bears what they
// took, as a loss or as a payment of theirs. The sender books it when it settles them, immediately if they are final,
// and a reorg unsettles it like everything else. One that the journal has stays unclear: what it paid is known once it
// is put back, which the halt prevents. The error is ErrNotFinal, and then nothing has changed.
func (a Assessor) TakeAll(
	ctx context.Context, tx *store.Tx, final uint64, answer Answer,
) (taken []store.ExternalSpend, err error) {
	halting, err := a.Halting(ctx, tx)
	if err != nil || len(halting) == 0 {
		return nil, err
	}
	included := slices.DeleteFunc(slices.Clone(halting), func(x store.ExternalSpend) bool { return x.Height == 0 })
	if len(included) > 0 { // one of them may have paid an order as it was before somebody changed it
		if err := tx.Withdrawals().NoneAltered(ctx); err != nil {
			return nil, fmt.Errorf("what halted the chain may be what was ordered; repair that first: %w", err)
		}
	}
	for _, x := range halting {
		switch {
		case x.Height == 0:
			continue // reorged out: it used nothing, and is assessed again if it is included again
		case x.Height > final:
			return nil, fmt.Errorf("%w: transaction %s is in block %d, and the chain is final up to %d", ErrNotFinal, x.TxID,
				x.Height, final)
		}
		if x, err = a.take(ctx, tx, x, answer); err != nil {
			return nil, fmt.Errorf("settle external spend %s: %w", x.TxID, err)
		}
		taken = append(taken, x)
	}
	return taken, nil
}

// take turns an external spend into an outgoing transaction: one that pays no withdrawal, or, where the journal has it,
// one whose payments are unclear until it is put back.
func (a Assessor) take(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, answer Answer,
) (store.ExternalSpend, error) {
	journaled, err := a.recordedPaidByJournal(ctx, tx, x)
	if err != nil {
		return x, err
	}
	spent, err := a.took(ctx, tx, x, journaled)
	if err != nil {
		return x, err
	}
	m := made{request: chain.TxRequest{Kind: chain.KindWithdrawal, Payments: spent.Payments}, currency: a.currency(spent)}
	if a.Capabilities.Model == chain.UTXOModel {
		m.request.Change = a.home(spent)
	} else if m.request.From, err = a.payer(ctx, tx, x.Base); err != nil {
		return x, err
	}
	block := chain.Block{Ref: chain.BlockRef{Height: x.Height}}
	if x.OutgoingID, err = a.adopt(ctx, tx, block, spent, m); err != nil {
		return x, err
	}
	x.Status, x.Booked, x.Reason = store.ExternalSettled, answer.Rest, "by an operator's word"
	x.Note, x.Actor = answer.Note, answer.Actor
	if len(journaled) > 0 {
		return a.leaveToJournal(ctx, tx, x, journaled)
	}
	return x, tx.ExternalSpends().Set(ctx, x)
}

// leaveToJournal makes an external spend that was taken unclear until the transaction that the journal has is put back,
// which says what it paid. It belongs to a recovery.
func (a Assessor) leaveToJournal(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, paid []journaled,
) (store.ExternalSpend, error) {
	names := make([]string, len(paid))
	for i, j := range paid {
		names[i] = a.nameUnknown(j)
	}
	x.Status = store.ExternalUnclear
	x.Reason = "the journal says that it pays " + strings.Join(names, "; ") + ": that is recorded once it is put back"
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return x, err
	}
	open, err := tx.Recoveries().IsOpen(ctx, x.Chain)
	if err == nil && !open {
		err = Begin(ctx, tx, x.Chain, fmt.Sprintf("the journal has transaction %s, and this database does not know it: the "+
			"database is older than the chain", x.TxID))
	}
	if err != nil {
		return x, err
	}
	return x, tx.Alarms().Raise(ctx, store.Alarm{Chain: x.Chain, Kind: AlarmUnclear, Ref: x.TxID, Message: fmt.Sprintf(
		"transaction %s halted the chain and was resumed: %s; if it is not, explain it with `bursar recovery status` and "+
			"`bursar recovery adopt`",
		x.TxID, x.Reason)})
}

// IsTaken reports whether an external spend was booked by an operator's word when its chain was resumed: also while the
// journal has to say what it paid. The value of our UTXOs in it is booked as gone, its fee included, and what it
// brought back to us is a deposit.
func IsTaken(x store.ExternalSpend) bool {
	return x.Status == store.ExternalSettled || x.Status == store.ExternalUnclear && x.Booked != ""
}

// took returns an external spend with what it took from us. For a transaction with UTXOs that is the value of our
// UTXOs, no matter who else took part, and what it paid by the journal apart from the rest: what came back to us is
// recorded as a transfer. On the account model it is every payment, because what another address of ours received is
// recorded as a transfer.
func (a Assessor) took(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, paid []journaled,
) (spent chain.ExternalSpend, err error) {
	spent = chain.ExternalSpend{TxID: x.TxID, Base: x.Base, Failed: x.Failed, Fee: x.Fee}
	err = errors.Join(unmarshal(x.Reservations, &spent.Reservations), unmarshal(x.Payments, &spent.Payments))
	if err != nil {
		return spent, fmt.Errorf("read what it did: %w", err)
	}
	if a.Capabilities.Model != chain.UTXOModel {
		if len(paid) > 0 {
			return spent, nil // Resolve lowers what is known of the address
		}
		return spent, a.lower(ctx, tx, spent)
	}
	rest, err := tx.UTXOs().Worth(ctx, a.Capabilities.ID, spent.Reservations)
	spent.Fee, spent.Payments = bursar.Amount{}, nil
	for _, j := range paid {
		if left, subErr := rest.Sub(j.Amount); subErr == nil { // otherwise others paid it too
			spent.Payments, rest = append(spent.Payments, chain.Payment{Address: j.Address, Amount: j.Amount}), left
		}
	}
	if !rest.IsZero() {
		spent.Payments = append(spent.Payments, chain.Payment{Amount: rest})
	}
	return spent, err
}

// lowerAdopted applies lower to an external spend that was unclear and that no sweep explains, whose settlement would
// do it.
func (a Assessor) lowerAdopted(ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx) error {
	if a.Capabilities.Model == chain.UTXOModel || p.Kind == string(chain.KindSweep) {
		return nil
	}
	spent := chain.ExternalSpend{Base: x.Base, Fee: x.Fee}
	if err := unmarshal(x.Payments, &spent.Payments); err != nil {
		return fmt.Errorf("read what it did: %w", err)
	}
	return a.lower(ctx, tx, spent)
}

// lower subtracts what a deposit address lost from its known balance to sweep.
func (a Assessor) lower(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) error {
	if x.Base == a.Hot.Base {
		return nil
	}
	gone := map[string]bursar.Amount{"": x.Fee}
	for _, p := range x.Payments {
		sum, err := gone[p.Contract].Add(p.Amount)
		if err != nil {
			return err
		}
		gone[p.Contract] = sum
	}
	for contract, amount := range gone {
		h, err := tx.Holdings().Get(ctx, a.Capabilities.ID, x.Base, contract)
		if err != nil || h.Amount.IsZero() || amount.IsZero() {
			if err != nil {
				return err
			}
			continue
		}
		h.Amount = h.Amount.SubOrZero(amount)
		if err := tx.Holdings().Put(ctx, a.Capabilities.ID, h); err != nil {
			return err
		}
	}
	return nil
}

// payer returns the source behind an address of ours.
func (a Assessor) payer(ctx context.Context, tx *store.Tx, base string) (chain.Source, error) {
	if hot, is := a.hotAt(base); is {
		return hot, nil
	}
	from, err := a.depositSource(ctx, tx, base)
	if from.Base == "" {
		from.Base = base
	}
	return from, err
}

func unmarshal(text []byte, into any) error {
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, into)
}
