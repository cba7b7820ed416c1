package deposit

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// weights are the amounts that are compared with the thresholds: the sum that one transaction brings of an asset to all
// addresses of the service, and the sum that one block brings of it to one wallet. So a large payment that is split
// into many small ones, in one transaction or in many, needs as much as their sum.
type weights map[weighed]bursar.Amount

// weighed identifies a sum: of a transaction, or of an address.
type weighed struct {
	txID, contract string
	address        bursar.Address
}

func weigh(transfers []chain.Transfer) weights {
	sums := weights{}
	for _, t := range transfers {
		for _, key := range keysOf(t) {
			sums[key] = sums[key].AddCapped(t.Amount) // a token's contract may report any amount
		}
	}
	return sums
}

func keysOf(t chain.Transfer) [2]weighed {
	return [2]weighed{{txID: t.TxID, contract: t.Contract}, {address: t.Address, contract: t.Contract}}
}

// of returns the amount by which a transfer is evaluated.
func (w weights) of(t chain.Transfer) bursar.Amount {
	amount := t.Amount
	for _, key := range keysOf(t) {
		if amount.Less(w[key]) {
			amount = w[key]
		}
	}
	return amount
}

// needs returns how many confirmations an amount needs before it is credited, and the reports of how many endpoints.
func needs(currency bursar.Currency, amount bursar.Amount) (required uint32, opinions int) {
	if currency.CreditQuorum.Asks(amount) {
		opinions = currency.CreditQuorum.Endpoints
	}
	return uint32(max(currency.Confirmations.For(amount), 0)), opinions
}

// Begin re-evaluates pending deposits with the current settings when the chain lease is acquired.
func (h *Handler) Begin(ctx context.Context, lease store.Lease) {
	if err := h.evaluatePending(ctx, lease); err != nil && ctx.Err() == nil {
		h.Log.Warn("pending deposits not re-evaluated at the start", "chain", lease.Chain, "error", err)
	}
}

// evaluatePending re-evaluates every pending deposit with the current settings, which may have changed since it was
// recorded.
func (h *Handler) evaluatePending(ctx context.Context, lease store.Lease) error {
	above := int64(0)
	for {
		var page []bursar.Deposit
		err := h.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if _, err = tx.Leases().Fence(ctx, lease); err != nil {
				return err
			}
			if page, err = tx.Deposits().PendingOn(ctx, lease.Chain, above, evaluatedAtOnce); err != nil {
				return err
			}
			return h.evaluate(ctx, tx, page)
		})
		if err != nil {
			return fmt.Errorf("evaluate pending deposits: %w", err)
		}
		if len(page) < evaluatedAtOnce {
			return nil
		}
		above = page[len(page)-1].Number
	}
}

func (h *Handler) evaluate(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	blocks := map[uint64]weights{}
	for _, d := range deposits {
		currency, err := h.Registry.Get(d.Currency)
		if err != nil {
			continue // its currency is not configured: never credit it
		}
		if blocks[d.Height] == nil {
			recorded, err := tx.Deposits().InBlock(ctx, d.Chain, d.Height)
			if err != nil {
				return err
			}
			blocks[d.Height] = weigh(transfersOf(recorded))
		}
		required, opinions := needs(currency, blocks[d.Height].of(transferOf(d)))
		d.Required = required
		if _, err := tx.Deposits().SetNeeds(ctx, d, opinions); err != nil {
			return err
		}
	}
	return nil
}

// transferOf rebuilds the transfer that a chain reported for a deposit.
func transferOf(d bursar.Deposit) chain.Transfer {
	return chain.Transfer{TxID: d.TxID, Output: d.Output, Address: d.Address, Contract: d.Contract, Amount: d.Amount}
}

func transfersOf(deposits []bursar.Deposit) []chain.Transfer {
	list := make([]chain.Transfer, len(deposits))
	for i, d := range deposits {
		list[i] = transferOf(d)
	}
	return list
}
