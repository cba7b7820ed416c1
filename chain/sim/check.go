package sim

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Check checks that the balances of each asset add up to its supply, that nothing is in flight, and that each base's
// UTXOs add up to its balance. It returns the first difference as an error.
func (c *Chain) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	sums, amounts := map[string]bursar.Amount{}, map[string]bursar.Amount{}
	for h, amount := range c.ledger.balances {
		sums[h.contract] = must(sums[h.contract].Add(amount))
	}
	for contract, sum := range sums {
		if sum != c.ledger.supply {
			return fmt.Errorf("balances of asset %q add up to %s, the supply is %s", contract, sum, c.ledger.supply)
		}
	}
	if left := c.ledger.balances[holding{"", flight}]; !left.IsZero() {
		return fmt.Errorf("%s units are in flight between transactions", left)
	}
	if c.config.Spending == chain.AccountModel {
		return nil
	}
	for _, unspent := range c.ledger.utxos {
		amounts[unspent.base] = must(amounts[unspent.base].Add(unspent.amount))
	}
	for h, amount := range c.ledger.balances {
		outside := h.base == faucet || h.base == miner
		if !outside && amounts[h.base] != amount {
			return fmt.Errorf("UTXOs of %s add up to %s, its balance is %s", h.base, amounts[h.base], amount)
		}
	}
	return nil
}
