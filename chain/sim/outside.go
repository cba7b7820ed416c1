package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Outside is a transaction of outsiders, who hold enough of every asset and pay no fee.
type Outside struct {
	Payments []chain.Payment
	Failed   bool   // it will stand in a block and deliver nothing
	Unproven bool   // its transfers are seen as differences of balances only
	Maturity uint64 // so many blocks later the value counts and can be spent, as with a coinbase
}

// Pay makes a transaction of outsiders wait for the next block and returns its id.
func (c *Chain) Pay(payments ...chain.Payment) string { return c.Send(Outside{Payments: payments}) }

// PayFailed is Pay with a transaction that fails in its block.
func (c *Chain) PayFailed(payments ...chain.Payment) string {
	return c.Send(Outside{Payments: payments, Failed: true})
}

// Send makes a transaction of outsiders wait for the next block and returns its id.
func (c *Chain) Send(out Outside) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, payment := range out.Payments {
		if err := c.payable(payment); err != nil {
			panic("sim: " + err.Error())
		}
	}
	tx := &transaction{
		id: c.nextID("outside"), payments: slices.Clone(out.Payments), outside: true, fails: out.Failed,
		unproven: out.Unproven, maturity: out.Maturity, makesCoins: c.config.Spending == chain.ByCoins,
	}
	c.waiting = append(c.waiting, tx)
	return tx.id
}

// ForeignSpend is a payment by somebody else with the key of one of our addresses. It replaces whatever waits with the
// same claims and enters the next block at any rate.
func (c *Chain) ForeignSpend(base string, payment chain.Payment) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tx := &transaction{id: c.nextID("foreign"), payments: []chain.Payment{payment}}
	if c.config.Spending == chain.ByCoins {
		c.takeCoins(tx, base)
	} else {
		tx.payer, tx.nonce = base, c.ledger.nonces[base]
		tx.weight = c.weight(0, tx.payments)
		tx.fee = c.ledger.balance(holding{"", base}).SubOrZero(total(tx.payments, ""))
	}
	c.evict(tx.withClaims().claims)
	c.waiting = append(c.waiting, tx)
	return tx.id
}

// takeCoins lets a foreign transaction use coins of a base, in the order of their names, and return the rest to it.
func (c *Chain) takeCoins(tx *transaction, base string) {
	var claims []string
	for claim, unspent := range c.ledger.coins {
		if unspent.base == base {
			claims = append(claims, claim)
		}
	}
	slices.Sort(claims)
	tx.makesCoins = true
	var in bursar.Amount
	for _, claim := range claims {
		unspent := c.ledger.coins[claim]
		tx.inputs = append(tx.inputs, input{Claim: claim, Source: chain.Source{Base: base}, Amount: unspent.amount})
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
	panic(fmt.Sprintf("sim: %s holds too little for a foreign spend", base))
}

// Close makes every payment to a base fail from now on, on a chain that spends by nonce.
func (c *Chain) Close(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.closed[base] = true
}

// Open ends what Close began.
func (c *Chain) Open(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ledger.closed, base)
}

// RequireMemo makes Quote and Draft refuse payments to a base without a memo.
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
