package sim

import (
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// ExternalSpend makes an external spend: payments by somebody else with the key of one of our addresses. It replaces
// waiting transactions that use the same outpoints or nonce and is included in the next block at any rate. Payments
// beyond the balance fail for tokens, and panic on the UTXO model.
func (c *Chain) ExternalSpend(base string, payments ...chain.Payment) string {
	return c.externalSpend(base, transaction{payments: payments})
}

// ExternalExpiring is ExternalSpend with the last height at which a block can include it. Without one it never expires,
// as a transaction that others sign need not.
func (c *Chain) ExternalExpiring(base string, last uint64, payments ...chain.Payment) string {
	return c.externalSpend(base, transaction{payments: payments, expires: last})
}

// ExternalFailed is ExternalSpend on a chain that uses the account model, with a transaction that fails in its block.
func (c *Chain) ExternalFailed(base string, payments ...chain.Payment) string {
	return c.externalSpend(base, transaction{payments: payments, fails: true})
}

// ExternalDelegation is ExternalSpend on a chain that uses the account model, with an authorization that the key of the
// address signed. It may fail in its block.
func (c *Chain) ExternalDelegation(base string, fails bool, payments ...chain.Payment) string {
	return c.externalSpend(base, transaction{payments: payments, fails: fails, delegates: true})
}

func (c *Chain) externalSpend(base string, of transaction) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tx := &of
	tx.payments = slices.Clone(of.payments)
	if c.config.Spending == chain.UTXOModel {
		c.takeUTXOs(tx, base)
	} else {
		tx.payer, tx.nonce, tx.unnumbered = base, c.ledger.nonces[base], c.config.Unnumbered
		tx.weight = c.weight(0, tx.payments)
		tx.fee = c.ledger.balance(holding{"", base}).SubOrZero(total(tx.payments, ""))
	}
	c.name(tx, "foreign")
	c.evict(tx.withReservations().resources)
	c.waiting = append(c.waiting, tx)
	return tx.id
}

// takeUTXOs lets an external transaction spend UTXOs of a base, in the order of their outpoints, and pay the rest back
// to it.
func (c *Chain) takeUTXOs(tx *transaction, base string) {
	var resources []string
	for resource, unspent := range c.ledger.utxos {
		if unspent.base == base {
			resources = append(resources, resource)
		}
	}
	slices.Sort(resources)
	tx.makesUTXOs = true
	var in bursar.Amount
	for _, resource := range resources {
		unspent := c.ledger.utxos[resource]
		tx.inputs = append(tx.inputs, input{Resource: resource, Source: chain.Source{Base: base}, Amount: unspent.amount})
		in = must(in.Add(unspent.amount))
		tx.weight = c.weight(len(tx.inputs), tx.payments)
		tx.fee = cost(tx.weight, c.going)
		if need := must(total(tx.payments, "").Add(tx.fee)); !in.Less(need) {
			if rest := must(in.Sub(need)); !rest.IsZero() {
				tx.payments = append(tx.payments, chain.Payment{Address: bursar.Address{Base: base}, Amount: rest})
			}
			return
		}
	}
	panic(fmt.Sprintf("sim: %s has too little for an external spend", base))
}

// external returns an entry as an external spend of each watched address that it spends from.
func (e *entry) external(watch chain.Watch) (found []chain.ExternalSpend) {
	for _, base := range e.tx.payers() {
		if !watch.Pays(base) {
			continue
		}
		f := chain.ExternalSpend{TxID: e.tx.id, Base: base, Payments: e.evidence(), Failed: e.failed, Fee: e.fee,
			Delegates: e.tx.delegates}
		if !e.tx.unnumbered {
			f.Reservations, f.LastHeight = slices.Clone(e.tx.resources), e.tx.expires
		}
		found = append(found, f)
	}
	return found
}

// DoubleSpend makes an outsider spend again, in the next block, the inputs of a payment that a reorg dropped: that
// payment can never come back. Expired does not show it, as no real node does: the blocks' Funding and Spent do.
func (c *Chain) DoubleSpend(txID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.dropped[txID]
	if !known || !old.outside {
		panic("sim: no reorganisation dropped a payment " + txID)
	}
	if !old.makesUTXOs {
		panic("sim: DoubleSpend needs a chain of the UTXO model")
	}
	again := &transaction{outside: true, makesUTXOs: true, resources: old.resources}
	c.name(again, "double spend")
	c.waiting = append(c.waiting, again)
	return again.id
}

// replaced reports whether the final chain proves that a transaction with these reservations can never be included,
// because another has used one of them. This is for the account model; on the UTXO model the core reads it from the
// blocks.
func (c *Chain) replaced(resources []string) bool {
	return c.config.Spending == chain.AccountModel && slices.ContainsFunc(resources, func(resource string) bool {
		at, used := c.used[resource]
		return used && c.final(at)
	})
}
