package outgoing

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// Insert records an order as a new outgoing transaction, in the transaction of anyone who asks for it. currency is what
// it moves.
func Insert(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, order chain.TxRequest, currency bursar.CurrencyCode,
) error {
	_, err := insert(ctx, tx, bursar.OutgoingTx{Chain: id, Currency: currency, Share: recovery.ShareOf(order.Kind)}, order)
	return err
}

// InsertSweep is Insert for a sweep of an address. It reports false, and records nothing, while another sweep of the
// same asset of that address is open.
func InsertSweep(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, order chain.TxRequest, currency bursar.CurrencyCode,
) (bool, error) {
	once := "sweep/" + order.From.Base + "/" + order.Payments[0].Contract
	return insert(ctx, tx, bursar.OutgoingTx{Chain: id, Currency: currency, Share: bursar.ShareSweep, Once: once}, order)
}

// insert records an order as an outgoing transaction, for which the address that pays is worked out, and reports
// whether it did.
func insert(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, order chain.TxRequest) (bool, error) {
	text, err := json.Marshal(order)
	if err != nil {
		return false, fmt.Errorf("write order: %w", err)
	}
	p.ID, p.Kind, p.Order = order.ID, string(order.Kind), text
	p.Base = cmp.Or(order.From.Base, order.Change.Base)
	return tx.Outgoing().Insert(ctx, p)
}

// Order reads an outgoing transaction's order.
func Order(p bursar.OutgoingTx) (chain.TxRequest, error) {
	var order chain.TxRequest
	if err := json.Unmarshal(p.Order, &order); err != nil {
		return order, fmt.Errorf("read the order of spend %s: %w", p.ID, err)
	}
	return order, nil
}

func readUnsigned(p bursar.OutgoingTx) (chain.UnsignedTx, error) {
	var unsigned chain.UnsignedTx
	if err := json.Unmarshal(p.Unsigned, &unsigned); err != nil {
		return unsigned, fmt.Errorf("read the draft of spend %s: %w", p.ID, err)
	}
	return unsigned, nil
}

// complete adds to an order what may be used for it now: UTXOs, or the next nonce and what is spoken for; and to a
// sweep what is there to collect.
func (s *Sender) complete(ctx context.Context, state store.ChainState, order chain.TxRequest) (chain.TxRequest, error) {
	capabilities := s.Chain.Capabilities()
	order.MaxFee = s.MaxFee // as it is configured now: what waits for a higher limit goes on once there is one
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		if capabilities.Model == chain.AccountModel {
			next, known, err := tx.Nonces().Next(ctx, capabilities.ID, order.From.Base)
			if known {
				order.Nonce = &next
			}
			if err != nil {
				return err
			}
			order.Reserved, err = s.reserved(ctx, tx, order)
			return err
		}
		utxos, err := tx.UTXOs().Spendable(ctx, capabilities.ID, state.Final, state.Latest, order.ID, maxUTXOs)
		for _, c := range utxos {
			key := chain.KeyRef{Family: capabilities.Family, Branch: c.Branch, Index: c.Index}
			order.UTXOs = append(order.UTXOs, chain.UTXO{
				Outpoint:    c.Claim,
				Amount:      c.Amount,
				Unconfirmed: c.Height == 0,
				Source:      chain.Source{Key: key, Base: c.Base},
			})
		}
		return err
	})
	if err == nil && order.Kind == chain.KindSweep {
		err = s.completeSweep(ctx, &order)
	}
	return order, err
}

// maxCoins bounds how many UTXOs one draft chooses from.
const maxUTXOs = 2000

// completeSweep has a sweep collect what the final chain holds: a deposit that is not final may be reorged out again,
// and the sweep of it could then enter no block until somebody pays there again. An adapter takes what is left of it by
// now.
func (s *Sender) completeSweep(ctx context.Context, order *chain.TxRequest) error {
	order.Payments = slices.Clone(order.Payments) // the order as it was recorded stays what it is
	sweep := &order.Payments[0]
	var known store.Holding
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		known, err = tx.Holdings().Current(ctx, s.Chain.Capabilities().ID, order.From.Base, sweep.Contract)
		return err
	})
	if err != nil {
		return err
	}
	if !known.Amount.IsZero() {
		sweep.Amount = known.Amount // what final deposits brought, by the books
	}
	head, err := s.Chain.Head(ctx)
	if err != nil || head.Final.Hash == "" {
		return err
	}
	held, err := s.Chain.Holdings(ctx, []string{order.From.Base}, sweep.Contract, head.Final)
	if err == nil && len(held) == 1 && !held[0].IsZero() {
		sweep.Amount = held[0] // with what is no deposit, such as gas that an earlier sweep left
	}
	return nil // a node need not keep the state of the final block
}
