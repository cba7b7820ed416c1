package signer

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// sizeIsBounded allows as many outputs as the request has payments, and one for the change.
func (c *check) sizeIsBounded() error {
	if n := len(c.contents.Inputs); n == 0 || n > c.bounds.MaxInputs {
		return c.refuse(ReasonTooLarge, "%d inputs: 1 to %d are allowed", n, c.bounds.MaxInputs)
	}
	if n := len(c.contents.Payments); n == 0 || n > c.bounds.Capabilities.MaxPayments+1 {
		return c.refuse(ReasonTooLarge, "%d payments: 1 to %d are allowed", n, c.bounds.Capabilities.MaxPayments+1)
	}
	return nil
}

// sourcesAreOurs derives every input's address. On the account model only the request's payer and the hot wallet's key,
// which may pay the fee, sign.
func (c *check) sourcesAreOurs() error {
	payers := 0
	for _, input := range c.contents.Inputs {
		if err := c.ours(input.Source, "an input from"); err != nil {
			return err
		}
		if input.Source.Is(c.request.From) {
			payers++
		} else if c.bounds.Capabilities.Model == chain.AccountModel && !c.bounds.isHot(input.Source) {
			return c.refuse(ReasonSource, "%q signs, but the request's payer is %q", input.Source.Base, c.request.From.Base)
		}
	}
	if c.bounds.Capabilities.Model == chain.AccountModel && payers == 0 {
		return c.refuse(ReasonSource, "the request's payer %q does not sign", c.request.From.Base)
	}
	return nil
}

// digestsAreSound refuses digests that no transaction of the chain has.
func (c *check) digestsAreSound() error {
	type asked struct {
		key    chain.KeyRef
		digest string
	}
	seen := map[asked]bool{}
	for i, input := range c.contents.Inputs {
		n := len(input.Digest)
		if c.bounds.Capabilities.Curve == chain.Secp256k1 && n != digestSize || n == 0 || n > maxMessage {
			return c.refuse(ReasonDigest, "input %d has a digest of %d bytes", i, n)
		}
		a := asked{input.Source.Key, string(input.Digest)}
		if seen[a] {
			return c.refuse(ReasonDigest, "input %d occurs twice", i)
		}
		seen[a] = true
	}
	return nil
}

// reservationsMatch protects the database's guarantee that no UTXO is used twice, which holds only if every UTXO is
// reserved.
func (c *check) reservationsMatch() error {
	if c.bounds.Capabilities.Model != chain.UTXOModel {
		return nil
	}
	reserved := map[string]bool{}
	for _, resource := range c.unsigned.Reservations {
		reserved[resource] = true
	}
	if len(reserved) != len(c.unsigned.Reservations) || len(reserved) != len(c.contents.Inputs) {
		return c.refuse(ReasonReservations, "%d reservations, %d of them different, for %d inputs",
			len(c.unsigned.Reservations), len(reserved), len(c.contents.Inputs))
	}
	for i, input := range c.contents.Inputs {
		if !reserved[input.Outpoint] || input.Amount.IsZero() {
			return c.refuse(ReasonReservations, "input %d, %s of %q, is not reserved or is used twice", i, input.Amount,
				input.Outpoint)
		}
		delete(reserved, input.Outpoint)
	}
	return nil
}

func (c *check) feeIsBounded() error {
	fee := c.contents.Fee
	switch {
	case c.unsigned.Fee.Less(fee):
		return c.refuse(ReasonFee, "the fee is %s, but the unsigned transaction says %s", fee, c.unsigned.Fee)
	case c.request.MaxFee.Less(fee):
		return c.refuse(ReasonFee, "the fee is %s: the request allows %s", fee, c.request.MaxFee)
	case c.bounds.MaxFee.Less(fee):
		return c.refuse(ReasonFee, "the fee is %s: the policy allows %s", fee, c.bounds.MaxFee)
	case c.costsTooMuch():
		return c.refuse(ReasonShare, "the fee is %s: the policy allows %d%% of what is paid, and anything up to %s", fee,
			c.bounds.MaxFeePercent, c.smallFee())
	case c.bounds.MaxRate.IsZero():
		return nil
	case c.contents.Weight == 0:
		return c.refuse(ReasonRate, "the transaction has no weight")
	}
	rate, rest := fee.Div(c.contents.Weight) // never a product, which could overflow
	if c.bounds.MaxRate.Less(rate) || rate == c.bounds.MaxRate && rest > 0 {
		return c.refuse(ReasonRate, "a fee of %s for a weight of %d: the policy allows %s per unit",
			fee, c.contents.Weight, c.bounds.MaxRate)
	}
	return nil
}

func (c *check) paysTheRequest() error {
	if c.request.Kind == chain.KindSweep || c.request.Kind == chain.KindConsolidation {
		return c.paysHome()
	}
	rest, err := c.beyondTheRequest()
	if err != nil {
		return err
	}
	if c.bounds.Capabilities.Model == chain.AccountModel && len(rest) > 0 {
		return c.refuse(ReasonExternal, "%s of %q to %s is not in the request", rest[0].Amount, rest[0].Contract,
			rest[0].Address)
	}
	for _, p := range rest {
		if !c.returnsHome(p) || p.Contract != "" {
			return c.refuse(ReasonExternal, "%s of %q to %s is not in the request", p.Amount, p.Contract, p.Address)
		}
	}
	if len(rest) > 1 {
		return c.refuse(ReasonChange, "%d outputs return to us", len(rest))
	}
	if c.request.Kind == chain.KindWithdrawal {
		return c.paysNoSource()
	}
	return nil
}

// beyondTheRequest matches the request's payments with the transaction's, one for one, and returns the remaining ones.
func (c *check) beyondTheRequest() ([]chain.Payment, error) {
	due := map[chain.Payment]int{}
	for _, p := range c.request.Payments {
		due[p]++
	}
	var rest []chain.Payment
	for _, p := range c.contents.Payments {
		if due[p] > 0 {
			due[p]--
			continue
		}
		rest = append(rest, p)
	}
	for p, missing := range due {
		if missing > 0 {
			return nil, c.refuse(ReasonUnpaid, "%s of %q to %s is missing", p.Amount, p.Contract, p.Address)
		}
	}
	return rest, nil
}

// paysNoSource refuses a withdrawal to an address that the transaction spends from.
func (c *check) paysNoSource() error {
	sources := map[string]bool{}
	for _, input := range c.contents.Inputs {
		sources[input.Source.Base] = true
	}
	for _, p := range c.request.Payments {
		if sources[p.Address.Base] {
			return c.refuse(ReasonOwnAddress, "%s is an input as well", p.Address)
		}
	}
	return nil
}

// paysHome checks that a sweep moves everything to the hot wallet.
func (c *check) paysHome() error {
	want := c.request.Payments[0]
	var total bursar.Amount
	for _, p := range c.contents.Payments {
		if !c.returnsHome(p) || p.Contract != want.Contract {
			return c.refuse(ReasonExternal, "a sweep of %q pays %s of %q to %s", want.Contract, p.Amount, p.Contract, p.Address)
		}
		var err error
		if total, err = total.Add(p.Amount); err != nil {
			return c.refuse(ReasonExternal, "%v", err)
		}
	}
	switch {
	case c.bounds.Capabilities.Model == chain.AccountModel && len(c.contents.Payments) != 1:
		return c.refuse(ReasonExternal, "a sweep makes %d payments", len(c.contents.Payments))
	case total.IsZero():
		return c.refuse(ReasonUnpaid, "a sweep moves nothing")
	case want.Contract != "" && total != want.Amount, want.Amount.Less(total):
		return c.refuse(ReasonUnpaid, "a sweep moves %s, but the request says %s", total, want.Amount)
	}
	return nil
}
