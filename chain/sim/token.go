package sim

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// issuer gets the fees of tokens and what their issuers seize.
const issuer = "issuer"

// Manners says how a token misbehaves. Each way exists on some chain: USDT can take a fee and freezes addresses, some
// tokens return false where others revert.
type Manners struct {
	Fee    uint64 // ppm of each transfer that the receiver does not get
	False  bool   // our transfers succeed and move nothing
	Paused bool   // every transfer fails
}

// token is the state of a token's contract besides balances.
type token struct {
	Manners
	frozen map[string]bool
}

func (l *ledger) token(contract string) *token {
	if l.tokens[contract] == nil {
		l.tokens[contract] = &token{frozen: map[string]bool{}}
	}
	return l.tokens[contract]
}

// stops reports whether a token's contract reverts a transfer.
func (l *ledger) stops(contract, from, to string) bool {
	if contract == "" {
		return false
	}
	t := l.token(contract)
	return t.Paused || t.frozen[from] || t.frozen[to]
}

// arrives returns how much of a payment its receiver gets.
func (l *ledger) arrives(payment chain.Payment, ours bool) bursar.Amount {
	if payment.Contract == "" {
		return payment.Amount
	}
	t := l.token(payment.Contract)
	if t.False && ours {
		return bursar.Amount{}
	}
	product, err := payment.Amount.Mul(t.Fee)
	if err != nil {
		panic("sim: " + err.Error())
	}
	fee, _ := product.Div(1_000_000)
	return payment.Amount.SubOrZero(fee)
}

// SetManners changes how a token behaves from the next block on, and in blocks that a reorg makes again.
func (c *Chain) SetManners(contract string, m Manners) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.token(contract).Manners = m
}

// FreezeToken makes a token's issuer freeze a base, or release it: transfers from and to a frozen base fail.
func (c *Chain) FreezeToken(contract, base string, frozen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ledger.token(contract).frozen[base] = frozen; !frozen {
		delete(c.ledger.token(contract).frozen, base)
	}
}

// Seize makes a token's issuer take a base's whole balance in the next block. No transfer shows it, as with Tether's
// destroyBlackFunds.
func (c *Chain) Seize(contract, base string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tx := &transaction{id: c.nextID("seizure"), outside: true, seizes: holding{contract, base}}
	c.waiting = append(c.waiting, tx)
	return tx.id
}

// pay adds the moves of a transaction's payments, none if it failed.
func (l *ledger) pay(e *entry, from string) {
	if e.failed {
		return
	}
	e.delivered = make([]bursar.Amount, len(e.tx.payments))
	for i, payment := range e.tx.payments {
		got := l.arrives(payment, !e.tx.outside)
		e.delivered[i] = got
		e.moves = append(e.moves, move{payment.Contract, from, payment.Address.Base, got})
		if lost := payment.Amount.SubOrZero(got); !lost.IsZero() && !got.IsZero() {
			e.moves = append(e.moves, move{payment.Contract, from, issuer, lost})
		}
	}
}

// evidence returns what a transaction took from its payer, payment by payment; empty if it failed. The fee of a token
// is a payment of its own to its issuer: TetherToken emits a Transfer event to its owner for it (BasicToken.transfer,
// Solidity 0.4.17).
func (e *entry) evidence() []chain.Payment {
	if e.failed {
		return nil
	}
	shown := []chain.Payment{}
	for i, payment := range e.tx.payments {
		whole := payment.Amount
		if payment.Amount = e.arrived(i); payment.Amount.IsZero() {
			continue
		}
		shown = append(shown, payment)
		if kept := whole.SubOrZero(payment.Amount); !kept.IsZero() {
			shown = append(shown, chain.Payment{
				Address:  bursar.Address{Base: issuer},
				Contract: payment.Contract,
				Amount:   kept,
			})
		}
	}
	return shown
}

// moved returns chain.Inclusion.Delivered: nil unless the transaction moves a token.
func (e *entry) moved() []chain.Payment {
	tokens := false
	for _, payment := range e.tx.payments {
		tokens = tokens || payment.Contract != ""
	}
	if !tokens || e.failed {
		return nil
	}
	sums := []chain.Payment{}
next:
	for _, payment := range e.evidence() {
		for i := range sums {
			if sums[i].Address == payment.Address && sums[i].Contract == payment.Contract {
				sums[i].Amount = must(sums[i].Amount.Add(payment.Amount))
				continue next
			}
		}
		sums = append(sums, payment)
	}
	return sums
}

// arrived returns what the i-th payment delivered. A forged entry has only its payments.
func (e *entry) arrived(i int) bursar.Amount {
	if e.delivered == nil {
		return e.tx.payments[i].Amount
	}
	return e.delivered[i]
}

func (tx *transaction) String() string { return fmt.Sprintf("%s %v", tx.id, tx.payments) }
