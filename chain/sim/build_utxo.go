package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// buildUTXOs takes UTXOs in the given order until they are enough, or all of them for a sweep. To replace an earlier
// transaction it takes all inputs of that one and, where they do not cover the higher fee, further ones that are in a
// block.
func (c *Chain) buildUTXOs(request chain.TxRequest) (unsigned, error) {
	utxos, least := request.UTXOs, 1
	if request.Kind == chain.KindConsolidation && request.Replaces != nil {
		utxos = named(request.UTXOs, request.Replaces.Reservations)
	}
	if collects(request) {
		least = len(utxos)
	}
	if request.Replaces != nil && request.Kind != chain.KindConsolidation {
		old := named(request.UTXOs, request.Replaces.Reservations)
		if len(old) == 0 || len(old) != len(request.Replaces.Reservations) {
			return unsigned{}, errors.New("the request lacks UTXOs of the transaction to replace")
		}
		utxos, least = append(old, beside(request.UTXOs, request.Replaces.Reservations)...), len(old)
	}
	u := unsigned{Change: request.Change}
	var in bursar.Amount
	for i, utxo := range utxos {
		if i == c.config.MaxInputs {
			return u, c.tooMany(request, utxos, in)
		}
		u.Inputs = append(u.Inputs, input{utxo.Outpoint, utxo.Source, utxo.Amount})
		var err error
		if in, err = in.Add(utxo.Amount); err != nil {
			return u, fmt.Errorf("sum of UTXOs: %w", err)
		}
		if i < least-1 {
			continue
		}
		if whole, enough := c.balanceUTXOs(u, request, in); enough {
			return whole, nil
		}
	}
	weight := c.weight(len(u.Inputs), request.Payments)
	need := must(total(request.Payments, "").Add(fee(weight, c.going, request.Replaces)))
	return u, &chain.NeedsFundsError{Missing: need.SubOrZero(in)}
}

// tooMany distinguishes a request whose UTXOs are too small, and so too many, from one whose UTXOs do not add up to
// enough.
func (c *Chain) tooMany(request chain.TxRequest, utxos []chain.UTXO, in bursar.Amount) error {
	all := bursar.Amount{}
	for _, utxo := range utxos {
		all = must(all.Add(utxo.Amount))
	}
	weight := c.weight(c.config.MaxInputs, request.Payments)
	if need := must(total(request.Payments, "").Add(fee(weight, c.going, request.Replaces))); all.Less(need) {
		return &chain.NeedsFundsError{Missing: need.SubOrZero(in)}
	}
	return &chain.TooManyInputsError{Limit: c.config.MaxInputs}
}

// balanceUTXOs sets fee and change so that inputs equal outputs and fee, and reports whether the UTXOs are enough.
func (c *Chain) balanceUTXOs(u unsigned, request chain.TxRequest, in bursar.Amount) (unsigned, bool) {
	u.Payments = slices.Clone(request.Payments)
	u.Weight = c.weight(len(u.Inputs), u.Payments)
	u.Fee = fee(u.Weight, c.going, request.Replaces)
	if most := in.SubOrZero(u.Fee); collects(request) && most.Less(u.Payments[0].Amount) {
		u.Payments[0].Amount = most
		if c.refuse(u.Payments[0]) != nil {
			return u, false
		}
	}
	rest, err := in.Sub(must(total(u.Payments, "").Add(u.Fee)))
	if err != nil {
		return u, false
	}
	change := chain.Payment{Address: bursar.Address{Base: request.Change.Base}}
	with := append(slices.Clone(u.Payments), change)
	weight := c.weight(len(u.Inputs), with)
	bumpedFee := fee(weight, c.going, request.Replaces)
	change.Amount = rest.SubOrZero(must(bumpedFee.Sub(u.Fee)))
	if change.Amount.Less(bursar.Units(dustAmount)) {
		u.Fee = must(u.Fee.Add(rest)) // the rest is too small for an output
		return u, true
	}
	with[len(with)-1] = change
	u.Payments, u.Weight, u.Fee = with, weight, bumpedFee
	return u, true
}

// named returns the UTXOs with the given outpoints, in that order.
func named(utxos []chain.UTXO, resources []string) []chain.UTXO {
	var found []chain.UTXO
	for _, resource := range resources {
		if i := slices.IndexFunc(utxos, func(utxo chain.UTXO) bool { return utxo.Outpoint == resource }); i >= 0 {
			found = append(found, utxos[i])
		}
	}
	return found
}

// beside returns the UTXOs in blocks whose outpoints are not among the given ones.
func beside(utxos []chain.UTXO, resources []string) []chain.UTXO {
	var further []chain.UTXO
	for _, utxo := range utxos {
		if !utxo.Unconfirmed && !slices.Contains(resources, utxo.Outpoint) {
			further = append(further, utxo)
		}
	}
	return further
}
