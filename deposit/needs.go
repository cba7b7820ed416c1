package deposit

import (
	"context"
	"fmt"
	"math/big"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// weights are the amounts that thresholds are compared with: what one transaction brings of an asset to all addresses
// of ours, and what one block brings of it to one wallet. A large payment that is cut into many small ones, in one
// transaction or in many, is as large as their sum.
type weights map[weighed]bursar.Amount

// weighed names a sum: of a transaction, or of an address.
type weighed struct {
	txID, contract string
	address        bursar.Address
}

func weigh(transfers []chain.Transfer) weights {
	sums := weights{}
	for _, t := range transfers {
		for _, key := range keysOf(t) {
			sum, err := sums[key].Add(t.Amount)
			if err != nil {
				sum = mostThereIs() // of a token whose contract invents what it likes
			}
			sums[key] = sum
		}
	}
	return sums
}

func keysOf(t chain.Transfer) [2]weighed {
	return [2]weighed{{txID: t.TxID, contract: t.Contract}, {address: t.Address, contract: t.Contract}}
}

// mostThereIs stands for a sum that no Amount holds.
func mostThereIs() bursar.Amount {
	most, _ := bursar.AmountFromBig(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
	return most
}

// of returns the amount with which a transfer is judged.
func (w weights) of(t chain.Transfer) bursar.Amount {
	amount := t.Amount
	for _, key := range keysOf(t) {
		if amount.Less(w[key]) {
			amount = w[key]
		}
	}
	return amount
}

// needs says how many confirmations, and the reports of how many endpoints, an amount needs before it is credited.
func needs(currency bursar.Currency, amount bursar.Amount) (required uint32, opinions int) {
	if currency.CreditQuorum.Asks(amount) {
		opinions = currency.CreditQuorum.Endpoints
	}
	return uint32(max(currency.Confirmations.For(amount), 0)), opinions
}

// Begin judges pending deposits by the settings of now.
func (h *Handler) Begin(ctx context.Context, lease store.Lease) {
	if err := h.judgePending(ctx, lease); err != nil && ctx.Err() == nil {
		h.Log.Warn("pending deposits keep what they needed before the start", "chain", lease.Chain, "error", err)
	}
}

// judgePending judges every pending deposit by the settings of now: they may have been changed since it was recorded.
func (h *Handler) judgePending(ctx context.Context, lease store.Lease) error {
	above := int64(0)
	for {
		var page []bursar.Deposit
		err := h.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if _, err = tx.Leases().Fence(ctx, lease); err != nil {
				return err
			}
			if page, err = tx.Deposits().PendingOn(ctx, lease.Chain, above, creditsAtOnce); err != nil {
				return err
			}
			return h.judge(ctx, tx, page)
		})
		if err != nil {
			return fmt.Errorf("judge pending deposits: %w", err)
		}
		if len(page) < creditsAtOnce {
			return nil
		}
		above = page[len(page)-1].Number
	}
}

func (h *Handler) judge(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	blocks := map[uint64]weights{}
	for _, d := range deposits {
		currency, err := h.Registry.Get(d.Currency)
		if err != nil {
			continue // nothing of it is credited
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

// transferOf is what a chain reported of a deposit.
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
