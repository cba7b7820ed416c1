package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bursar/bursar/chain"
)

// Outside is a transaction of outsiders, who have enough of every asset and pay no fee.
type Outside struct {
	Payments []chain.Payment
	Failed   bool   // it is included in a block and delivers nothing
	Inferred bool   // its transfers are seen only as differences of balances
	Maturity uint64 // after so many blocks the value counts and can be spent, as with a coinbase
}

// Pay puts a transaction of outsiders into the mempool and returns its id.
func (c *Chain) Pay(payments ...chain.Payment) string { return c.Send(Outside{Payments: payments}) }

// PayFailed is Pay with a transaction that fails in its block.
func (c *Chain) PayFailed(payments ...chain.Payment) string {
	return c.Send(Outside{Payments: payments, Failed: true})
}

// Send puts a transaction of outsiders into the mempool and returns its id.
func (c *Chain) Send(out Outside) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, payment := range out.Payments {
		if err := c.payable(payment); err != nil {
			panic("sim: " + err.Error())
		}
	}
	tx := &transaction{
		payments: slices.Clone(out.Payments), outside: true, fails: out.Failed,
		inferred: out.Inferred, maturity: out.Maturity, makesUTXOs: c.config.Spending == chain.UTXOModel,
	}
	c.name(tx, "outside")
	if tx.makesUTXOs {
		tx.resources = []string{"outsider's/" + tx.id}
	}
	c.waiting = append(c.waiting, tx)
	return tx.id
}

// Close makes every payment to a base fail from now on, on a chain that uses the account model.
func (c *Chain) Close(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.closed[base] = true
}

// Open reverts Close.
func (c *Chain) Open(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ledger.closed, base)
}

// RequireMemo makes Quote and Build refuse payments to a base without a memo.
func (c *Chain) RequireMemo(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wantsMemo[base] = true
}

func (c *Chain) nextID(kind string) string {
	c.made++
	hash := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", kind, c.config.ID, c.config.Seed, c.made))
	return hex.EncodeToString(hash[:])
}
