package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// ErrNotFinal is returned where an external spend may still be reorged out: what it used up is not settled before.
var ErrNotFinal = errors.New("an external spend is not final yet")

// takeAtOnce bounds how many external spends one resume settles.
const takeAtOnce = 1000

// Halting returns the external spends that halted the chain and that nobody has settled, oldest first.
func (k Book) Halting(ctx context.Context, tx *store.Tx) ([]store.ExternalSpend, error) {
	return tx.ExternalSpends().List(ctx, k.Capabilities.ID, store.ExternalHalted, takeAtOnce)
}

// TakeAll settles every external spend that halted the chain, in a transaction that has locked it: what they used up is
// used, so that the next transaction of ours fits the chain, and what left is borne by the operator, as a loss or as a
// payment of theirs. The books follow when the spender settles them, at once for what is final, and are unsettled by a
// reorg like everything else. The error is ErrNotFinal, and nothing has changed then.
func (k Book) TakeAll(
	ctx context.Context, tx *store.Tx, final uint64, a Answer,
) (taken []store.ExternalSpend, err error) {
	halting, err := k.Halting(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, x := range halting {
		switch {
		case x.Height == 0:
			continue // reorged out: it has used up nothing, and is looked at again where it comes back
		case x.Height > final:
			return nil, fmt.Errorf("%w: transaction %s is in block %d, and the chain is final up to %d", ErrNotFinal, x.TxID,
				x.Height, final)
		}
		if err := k.take(ctx, tx, x, a); err != nil {
			return nil, fmt.Errorf("settle external spend %s: %w", x.TxID, err)
		}
		taken = append(taken, x)
	}
	return taken, nil
}

// take makes an external spend an outgoing transaction that pays no withdrawal.
func (k Book) take(ctx context.Context, tx *store.Tx, x store.ExternalSpend, a Answer) error {
	spent, err := k.took(ctx, tx, x)
	if err != nil {
		return err
	}
	m := made{order: chain.TxRequest{Kind: chain.KindWithdrawal, Payments: spent.Payments}, currency: k.currency(spent)}
	if k.Capabilities.Model == chain.UTXOModel {
		m.order.Change = k.Hot
	} else if m.order.From, err = k.payer(ctx, tx, x.Base); err != nil {
		return err
	}
	block := chain.Block{Ref: chain.BlockRef{Height: x.Height}}
	if x.SpendID, err = k.adopt(ctx, tx, block, spent, m); err != nil {
		return err
	}
	x.Status, x.Booked, x.Note, x.Actor, x.Reason = store.ExternalSettled, a.Rest, a.Note, a.Actor, "by an operator's word"
	return tx.ExternalSpends().Set(ctx, x)
}

// took returns an external spend with what it took from us. Of a transaction with UTXOs that is what our UTXOs were
// worth, whoever else was in it: what returned to us has arrived as a transfer of its own. On the account model it is
// every payment, since what reached another address of ours has arrived there.
func (k Book) took(ctx context.Context, tx *store.Tx, x store.ExternalSpend) (spent chain.ExternalSpend, err error) {
	spent = chain.ExternalSpend{TxID: x.TxID, Base: x.Base, Failed: x.Failed, Fee: x.Fee}
	err = errors.Join(unmarshal(x.Claims, &spent.Reservations), unmarshal(x.Payments, &spent.Payments))
	if err != nil {
		return spent, fmt.Errorf("read what it did: %w", err)
	}
	if k.Capabilities.Model != chain.UTXOModel {
		return spent, k.lower(ctx, tx, spent)
	}
	worth, err := tx.UTXOs().Worth(ctx, k.Capabilities.ID, spent.Reservations)
	spent.Fee, spent.Payments = bursar.Amount{}, nil
	if !worth.IsZero() {
		spent.Payments = []chain.Payment{{Amount: worth}}
	}
	return spent, err
}

// lowerAdopted is lower for an external spend that was unclear and that no sweep explains, whose settlement would do
// it.
func (k Book) lowerAdopted(ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx) error {
	if k.Capabilities.Model == chain.UTXOModel || p.Kind == string(chain.KindSweep) {
		return nil
	}
	spent := chain.ExternalSpend{Base: x.Base, Fee: x.Fee}
	if err := unmarshal(x.Payments, &spent.Payments); err != nil {
		return fmt.Errorf("read what it did: %w", err)
	}
	return k.lower(ctx, tx, spent)
}

// lower takes what a deposit address lost off what is known to be there to sweep.
func (k Book) lower(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) error {
	if x.Base == k.Hot.Base {
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
		h, err := tx.Holdings().Get(ctx, k.Capabilities.ID, x.Base, contract)
		if err != nil || h.Amount.IsZero() || amount.IsZero() {
			if err != nil {
				return err
			}
			continue
		}
		h.Amount = h.Amount.SubOrZero(amount)
		if err := tx.Holdings().Put(ctx, k.Capabilities.ID, h); err != nil {
			return err
		}
	}
	return nil
}

// payer returns the source behind an address of ours.
func (k Book) payer(ctx context.Context, tx *store.Tx, base string) (chain.Source, error) {
	if base == k.Hot.Base {
		return k.Hot, nil
	}
	from, err := k.depositSource(ctx, tx, base)
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
