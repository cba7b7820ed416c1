package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// buildAccount sets the nonce and checks that the payer has enough besides what is reserved. Like every node's
// balance, its view does not include waiting transactions.
func (c *Chain) buildAccount(request chain.TxRequest) (unsigned, error) {
	nonce, err := c.nonce(request)
	if err != nil {
		return unsigned{}, err
	}
	u := unsigned{From: request.From, Nonce: nonce, Payments: slices.Clone(request.Payments)}
	u.Weight = c.weight(0, u.Payments)
	u.Fee = fee(u.Weight, c.headroom(), request.Replaces)
	own := c.beyond(request, "")
	if first := &u.Payments[0]; request.Kind == chain.KindSweep && first.Contract == "" {
		if most := own.SubOrZero(u.Fee); !most.IsZero() && most.Less(first.Amount) {
			first.Amount = most
		}
	}
	return u, c.affordable(request, u, own)
}

// beyond returns the payer's balance of an asset in the newest block, less what the request reserves.
func (c *Chain) beyond(request chain.TxRequest, contract string) bursar.Amount {
	return c.ledger.balance(holding{contract, request.From.Base}).SubOrZero(request.ReservedOf(contract))
}

func (c *Chain) affordable(request chain.TxRequest, u unsigned, own bursar.Amount) error {
	tokens := false
	for _, payment := range u.Payments {
		if payment.Contract == "" {
			continue
		}
		tokens = true
		held := c.beyond(request, payment.Contract)
		if need := total(u.Payments, payment.Contract); held.Less(need) {
			return &chain.NeedsFundsError{Contract: payment.Contract, Missing: need.SubOrZero(held)}
		}
	}
	need, err := total(u.Payments, "").Add(u.Fee)
	if err != nil {
		return fmt.Errorf("value and fee: %w", err)
	}
	missing := need.SubOrZero(own)
	switch {
	case missing.IsZero():
		return nil
	case tokens && request.Kind == chain.KindSweep:
		return &chain.NeedsGasError{Source: request.From, Amount: missing}
	}
	return &chain.NeedsFundsError{Missing: missing}
}

// nonce returns the transaction's nonce: that of the transaction to replace, that of the books, or the next one by the
// newest block.
func (c *Chain) nonce(request chain.TxRequest) (uint64, error) {
	next := c.ledger.nonces[request.From.Base]
	if c.config.Unnumbered {
		return 0, nil
	}
	if request.Replaces != nil {
		nonce, err := reservedNonce(*request.Replaces, request.From.Base)
		if err == nil && nonce < next {
			err = fmt.Errorf("nonce %d of the transaction to replace is used", nonce)
		}
		return nonce, err
	}
	if request.Nonce != nil {
		if *request.Nonce < next {
			return 0, fmt.Errorf("nonce %d is used, the next is %d: %w", *request.Nonce, next, chain.ErrExternalNonce)
		}
		return *request.Nonce, nil
	}
	return next, nil // by blocks alone: a waiting transaction may be a payment that the books have lost
}

func reservedNonce(unsigned chain.UnsignedTx, base string) (uint64, error) {
	if len(unsigned.Reservations) != 1 {
		return 0, fmt.Errorf("a transaction with the reservations %q cannot be replaced", unsigned.Reservations)
	}
	number, found := strings.CutPrefix(unsigned.Reservations[0], base+"/")
	nonce, err := strconv.ParseUint(number, 10, 64)
	if err != nil || !found {
		return 0, fmt.Errorf("the reservation %q is not of %s", unsigned.Reservations[0], base)
	}
	return nonce, nil
}
