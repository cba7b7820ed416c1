package signer

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/people"
)

// check checks one unsigned transaction against one request. Its steps return a *RefusalError or nil.
type check struct {
	bounds   *chainBounds
	keys     *Keys
	request  chain.TxRequest
	unsigned chain.UnsignedTx
	contents chain.Contents
	bases    map[chain.KeyRef]string // addresses derived so far

	order *people.CompromiseOrder // that is in force, and allows it; nil: none is
}

func (c *check) run() error {
	steps := []func() error{
		c.requestHolds, c.read, c.sizeIsBounded, c.epochsHaveBegun, c.sourcesAreOurs, c.digestsAreSound,
		c.reservationsMatch, c.inputsAreProven, c.feeIsBounded, c.paysTheRequest,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) refuse(reason Reason, format string, args ...any) error {
	return &RefusalError{Chain: c.bounds.Capabilities.ID, OutgoingID: c.request.ID, Reason: reason,
		Detail: fmt.Sprintf(format, args...)}
}

// requestHolds checks the request alone.
func (c *check) requestHolds() error {
	payments := c.request.Payments
	if len(payments) == 0 || len(payments) > c.bounds.Capabilities.MaxPayments {
		return c.refuse(ReasonRequest, "it has %d payments: 1 to %d are allowed", len(payments),
			c.bounds.Capabilities.MaxPayments)
	}
	for _, p := range payments {
		if p.Amount.IsZero() || p.Address.Base == "" {
			return c.refuse(ReasonRequest, "a payment of %s to %q", p.Amount, p.Address)
		}
	}
	if err := c.sourcesOfRequest(); err != nil {
		return err
	}
	switch c.request.Kind {
	case chain.KindWithdrawal:
		return c.withdrawalHolds()
	case chain.KindSweep:
		return c.sweepHolds()
	case chain.KindConsolidation:
		return c.consolidationHolds()
	case chain.KindGasTopUp:
		return c.topUpHolds()
	case chain.KindToCold:
		return c.toColdHolds()
	}
	return c.refuse(ReasonRequest, "unknown kind %q", c.request.Kind)
}

// sourcesOfRequest checks that From and Change are addresses of ours if the chain uses them.
func (c *check) sourcesOfRequest() error {
	if err := c.epochsHaveBegun(); err != nil {
		return err
	}
	if c.bounds.Capabilities.Model == chain.AccountModel {
		return c.ours(c.request.From, "the payer")
	}
	if !c.bounds.isHot(c.request.Change) {
		return c.refuse(ReasonChange, "the request's change goes to %q, not to the hot wallet", c.request.Change.Base)
	}
	return nil
}

// withdrawalHolds refuses payments to addresses of ours that the request shows; one to the hot wallet would look like
// change.
func (c *check) withdrawalHolds() error {
	for _, p := range c.request.Payments {
		if _, hot := c.bounds.hots[p.Address.Base]; hot || p.Address.Base == c.request.From.Base {
			return c.refuse(ReasonOwnAddress, "the request pays our own address %s", p.Address)
		}
	}
	return nil
}

func (c *check) sweepHolds() error {
	if len(c.request.Payments) != 1 || !c.returnsHome(c.request.Payments[0]) {
		return c.refuse(ReasonRequest, "a sweep must have one payment, to the hot wallet")
	}
	return nil
}

// consolidationHolds checks that all of a consolidation stays with us: many UTXOs of ours become one at the hot wallet.
func (c *check) consolidationHolds() error {
	if c.bounds.Capabilities.Model != chain.UTXOModel {
		return c.refuse(ReasonRequest, "a consolidation needs a chain of the UTXO model")
	}
	return c.sweepHolds()
}

// topUpHolds reads the payee's key from Change and checks that it is a deposit key of ours.
func (c *check) topUpHolds() error {
	payee := c.request.Change
	if c.bounds.Capabilities.Model != chain.AccountModel || len(c.request.Payments) != 1 {
		return c.refuse(ReasonRequest, "a gas top-up must be one payment on a chain of the account model")
	}
	if payee.Key.Branch != chain.DepositBranch && payee.Key.Epoch() == c.bounds.epoch && !c.isPaidHome() {
		return c.refuse(ReasonRequest, "a gas top-up pays branch %d", payee.Key.Branch)
	}
	if err := c.ours(payee, "the payee"); err != nil {
		return err
	}
	p := c.request.Payments[0]
	if (p.Address != bursar.Address{Base: payee.Base}) || p.Contract != "" || payee.Base == c.request.From.Base {
		return c.refuse(ReasonRequest, "a gas top-up pays %s of %q to %s", p.Amount, p.Contract, p.Address)
	}
	return c.topUpIsBounded(p.Amount)
}

// topUpIsBounded refuses more gas than twice the highest fee, which no sweep needs.
//
// The attack: anyone who controls the service moves the hot wallet's money to deposit addresses, where it is of no use
// until sweeps have brought it back for fees.
func (c *check) topUpIsBounded(amount bursar.Amount) error {
	most, err := c.bounds.MaxFee.Add(c.bounds.MaxFee)
	if err == nil && most.Less(amount) {
		return c.refuse(ReasonTopUp, "%s units of gas are more than twice the highest fee, which is %s", amount, most)
	}
	return nil
}

// ours derives a source's address from its key and compares it.
func (c *check) ours(source chain.Source, who string) error {
	base, known := c.bases[source.Key]
	if !known {
		var err error
		if base, err = c.bounds.baseOf(c.keys, source.Key); err != nil {
			return c.refuse(ReasonSource, "%s %q: %v", who, source.Base, err)
		}
		c.bases[source.Key] = base
	}
	if base != source.Base {
		return c.refuse(ReasonSource, "%s %q has the key of %q", who, source.Base, base)
	}
	return nil
}

// read parses the bytes into contents; nothing else of the unsigned transaction is trusted.
func (c *check) read() (err error) {
	if n := len(c.unsigned.Bytes); n == 0 || n > maxUnsigned {
		return c.refuse(ReasonTooLarge, "the unsigned transaction has %d bytes: 1 to %d are allowed", n, maxUnsigned)
	}
	if c.contents, err = c.bounds.Signable.Inspect(c.unsigned.Bytes); err != nil {
		return c.refuse(ReasonUnreadable, "%v", err)
	}
	return nil
}
