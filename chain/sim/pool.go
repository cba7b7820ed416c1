package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Broadcast takes a transaction into the mempool, where it replaces those that use the same outpoints or nonce for a
// lower fee.
func (c *Chain) Broadcast(ctx context.Context, sent chain.SignedTx) error {
	if err := c.enter(ctx, Broadcast); err != nil {
		return err
	}
	defer c.mu.Unlock()
	tx, err := c.open(sent)
	if err != nil {
		return fmt.Errorf("broadcast %s: %w: %w", sent.TxID, chain.ErrRejected, err)
	}
	if c.knows(tx.id) {
		return nil
	}
	if err := c.admissible(tx); err != nil {
		return fmt.Errorf("broadcast %s: %w", tx.id, err)
	}
	outcome := c.nextOutcome()
	if outcome == "" || outcome == TakenUnknown {
		c.evict(tx.resources)
		c.waiting = append(c.waiting, tx)
		c.seen[tx.id] = tx
	}
	if outcome == TakenUnknown || outcome == LostUnknown {
		return fmt.Errorf("broadcast %s: %w", tx.id, ErrNode)
	}
	return nil
}

// open decodes a sent transaction and checks it as every node does, no matter which adapter assembled it.
func (c *Chain) open(sent chain.SignedTx) (*transaction, error) {
	var parts signed
	decoder := json.NewDecoder(bytes.NewReader(sent.Raw))
	if err := decoder.Decode(&parts); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if id := idOf(parts.Unsigned); id != sent.TxID {
		return nil, fmt.Errorf("the bytes are those of %s", id)
	}
	u, err := c.decode(parts.Unsigned)
	if err != nil {
		return nil, err
	}
	tx := c.transaction(u, parts.Unsigned)
	if c.knows(tx.id) {
		return tx, nil
	}
	return tx, c.verify(u, parts.Unsigned, parts.Signatures)
}

func (c *Chain) knows(txID string) bool {
	_, included := c.where[txID]
	return included || c.waits(txID) != nil
}

func (c *Chain) waits(txID string) *transaction {
	for _, tx := range c.waiting {
		if tx.id == txID {
			return tx
		}
	}
	return nil
}

// admissible decides whether a transaction may enter the mempool, where it replaces those that conflict with it.
func (c *Chain) admissible(tx *transaction) error {
	height := c.finalHeight()
	if tx.expires != 0 && height >= int(tx.expires) {
		return fmt.Errorf("%w: the transaction expired at %d", chain.ErrRejected, tx.expires)
	}
	if tx.expires != 0 && len(c.blocks) > int(tx.expires) {
		return fmt.Errorf("the transaction expires at %d", tx.expires)
	}
	for _, resource := range tx.resources {
		if at, used := c.used[resource]; used && c.final(at) {
			return fmt.Errorf("%w: %s was used at %d", chain.ErrRejected, resource, at)
		} else if used {
			return fmt.Errorf("%s was used at %d", resource, at)
		}
	}
	if err := c.covered(tx); err != nil {
		return err
	}
	if tx.fee.Less(cost(tx.weight, c.floor)) {
		return fmt.Errorf("%w: fee %s for weight %d", chain.ErrUnderpriced, tx.fee, tx.weight)
	}
	for _, other := range c.conflicts(tx.resources) {
		if tx.fee.Less(bumping(other.fee)) {
			return fmt.Errorf("%w: fee %s does not replace %s", chain.ErrUnderpriced, tx.fee, other.fee)
		}
	}
	return nil
}

// bumping returns the lowest fee that replaces another: an eighth and one unit more.
func bumping(fee bursar.Amount) bursar.Amount {
	eighth, _ := fee.Div(8)
	return must(must(fee.Add(eighth)).Add(bursar.Units(1)))
}

// covered checks that the inputs' UTXOs exist with their amounts and owners, or that the payer can pay.
func (c *Chain) covered(tx *transaction) error {
	for _, in := range tx.inputs {
		known, exists := c.utxo(in.Resource)
		if !exists {
			return fmt.Errorf("the UTXO %s is missing", in.Resource)
		}
		if known.base != in.Source.Base || known.amount != in.Amount {
			return fmt.Errorf("%w: the UTXO %s has another amount or owner", chain.ErrRejected, in.Resource)
		}
	}
	if !tx.numbered() {
		return nil
	}
	if own := c.ledger.balance(holding{"", tx.payer}); own.Less(must(tx.total("").Add(tx.fee))) {
		return errors.New("insufficient funds for value and fee")
	}
	return nil
}

// utxo returns an unspent output of a block or of a waiting transaction.
func (c *Chain) utxo(resource string) (utxo, bool) {
	if known, exists := c.ledger.utxos[resource]; exists {
		return known, true
	}
	parent, output, _ := cutOutput(resource)
	if tx := c.waits(parent); tx != nil {
		for i, payment := range tx.payments {
			if fmt.Sprint(i) == output {
				return utxo{base: payment.Address.Base, amount: payment.Amount}, true
			}
		}
	}
	return utxo{}, false
}

// cutOutput returns the transaction and the output of an outpoint.
func cutOutput(resource string) (txID, output string, is bool) { return strings.Cut(resource, ":") }

// conflicts returns the waiting transactions that use one of the outpoints or nonces.
func (c *Chain) conflicts(resources []string) []*transaction {
	if len(c.waiting) == 0 {
		return nil
	}
	wanted := make(map[string]bool, len(resources))
	for _, resource := range resources {
		wanted[resource] = true
	}
	var found []*transaction
	for _, tx := range c.waiting {
		if slices.ContainsFunc(tx.resources, func(resource string) bool { return wanted[resource] }) {
			found = append(found, tx)
		}
	}
	return found
}

// evict removes the transactions that use the outpoints or nonces from the mempool, and those that spend their
// outputs.
func (c *Chain) evict(resources []string) {
	for len(resources) > 0 {
		gone := c.conflicts(resources)
		resources = nil
		for _, tx := range gone {
			c.waiting = slices.DeleteFunc(c.waiting, func(other *transaction) bool { return other == tx })
			resources = append(resources, tx.outputs()...)
		}
	}
}

// Waiting returns the ids of the transactions in the mempool, in the order in which they came.
func (c *Chain) Waiting() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]string, len(c.waiting))
	for i, tx := range c.waiting {
		ids[i] = tx.id
	}
	return ids
}

// Forget empties the mempool, as a node does that restarts, and returns the transactions' ids. Restore brings back
// those of outsiders and external spends; ours are broadcast again.
func (c *Chain) Forget() (dropped []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tx := range c.waiting {
		c.dropped[tx.id] = tx
		dropped = append(dropped, tx.id)
	}
	c.waiting = nil
	return dropped
}
