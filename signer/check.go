package signer

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// check holds one draft against one order. Its steps return a *RefusalError or nil.
type check struct {
	policy   *chainPolicy
	keys     *Keys
	order    chain.TxRequest
	unsigned chain.UnsignedTx
	contents chain.Contents
	bases    map[chain.KeyRef]string // addresses derived so far
}

func (c *check) run() error {
	steps := []func() error{
		c.orderHolds, c.read, c.sizeIsBounded, c.sourcesAreOurs, c.digestsAreSound, c.reservationsMatch, c.feeIsBounded,
		c.paysTheOrder, c.paceHolds,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) refuse(reason Reason, format string, args ...any) error {
	return &RefusalError{c.policy.Capabilities.ID, c.order.ID, reason, fmt.Sprintf(format, args...)}
}

// orderHolds looks at the order alone.
func (c *check) orderHolds() error {
	payments := c.order.Payments
	if len(payments) == 0 || len(payments) > c.policy.Capabilities.MaxPayments {
		return c.refuse(ReasonOrder, "it has %d payments, 1 to %d are allowed", len(payments),
			c.policy.Capabilities.MaxPayments)
	}
	for _, p := range payments {
		if p.Amount.IsZero() || p.Address.Base == "" {
			return c.refuse(ReasonOrder, "a payment of %s to %q", p.Amount, p.Address)
		}
	}
	if err := c.sourcesOfOrder(); err != nil {
		return err
	}
	switch c.order.Kind {
	case chain.KindWithdrawal:
		return c.withdrawalHolds()
	case chain.KindSweep:
		return c.sweepHolds()
	case chain.KindConsolidation:
		return c.consolidationHolds()
	case chain.KindGasTopUp:
		return c.topUpHolds()
	}
	return c.refuse(ReasonOrder, "no such kind: %q", c.order.Kind)
}

// sourcesOfOrder wants From and Change to be addresses of ours where the chain uses them.
func (c *check) sourcesOfOrder() error {
	if c.policy.Capabilities.Model == chain.AccountModel {
		return c.ours(c.order.From, "the payer")
	}
	if !c.order.Change.Is(c.policy.hot) {
		return c.refuse(ReasonChange, "the order's change returns to %q, not to the hot address", c.order.Change.Base)
	}
	return nil
}

// withdrawalHolds refuses the addresses of ours that are in sight; one to the hot address would pass for change.
func (c *check) withdrawalHolds() error {
	for _, p := range c.order.Payments {
		if p.Address.Base == c.policy.hot.Base || p.Address.Base == c.order.From.Base {
			return c.refuse(ReasonOwnAddress, "the order pays our own %s", p.Address)
		}
	}
	return nil
}

func (c *check) sweepHolds() error {
	if len(c.order.Payments) != 1 || !c.policy.returnsHome(c.order.Payments[0]) {
		return c.refuse(ReasonOrder, "a sweep has one payment, to the hot address")
	}
	return nil
}

// consolidationHolds wants all of a consolidation to stay with us: many UTXOs of ours become one at the hot address.
func (c *check) consolidationHolds() error {
	if c.policy.Capabilities.Model != chain.UTXOModel {
		return c.refuse(ReasonOrder, "a consolidation on a chain that spends by nonce")
	}
	return c.sweepHolds()
}

// topUpHolds finds the payee's key in Change and wants it to be a deposit key of ours.
func (c *check) topUpHolds() error {
	payee := c.order.Change
	if c.policy.Capabilities.Model != chain.AccountModel || len(c.order.Payments) != 1 {
		return c.refuse(ReasonOrder, "a gas top-up is one payment on a chain that spends by nonce")
	}
	if payee.Key.Branch != chain.DepositBranch {
		return c.refuse(ReasonOrder, "a gas top-up pays branch %d", payee.Key.Branch)
	}
	if err := c.ours(payee, "the payee"); err != nil {
		return err
	}
	p := c.order.Payments[0]
	if (p.Address != bursar.Address{Base: payee.Base}) || p.Contract != "" || payee.Base == c.order.From.Base {
		return c.refuse(ReasonOrder, "a gas top-up pays %s of %q to %s", p.Amount, p.Contract, p.Address)
	}
	return nil
}

// ours derives a source's address from its key and compares.
func (c *check) ours(source chain.Source, who string) error {
	base, known := c.bases[source.Key]
	if !known {
		var err error
		if base, err = c.policy.baseOf(c.keys, source.Key); err != nil {
			return c.refuse(ReasonSource, "%s %q: %v", who, source.Base, err)
		}
		c.bases[source.Key] = base
	}
	if base != source.Base {
		return c.refuse(ReasonSource, "%s %q has a key that opens %q", who, source.Base, base)
	}
	return nil
}

// read turns the bytes into contents; nothing else of the unsigned transaction is believed.
func (c *check) read() (err error) {
	if n := len(c.unsigned.Bytes); n == 0 || n > maxUnsigned {
		return c.refuse(ReasonTooLarge, "the draft has %d bytes, 1 to %d are allowed", n, maxUnsigned)
	}
	if c.contents, err = c.policy.Signable.Inspect(c.unsigned.Bytes); err != nil {
		return c.refuse(ReasonUnreadable, "%v", err)
	}
	return nil
}
