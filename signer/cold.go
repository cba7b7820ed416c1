package signer

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// readCold reads the addresses of cold wallets, and refuses the hot wallet's: it is not cold.
func (d *chainBounds) readCold(id bursar.ChainID) error {
	d.cold = map[string]bool{}
	for _, text := range d.Cold {
		address, err := d.Signable.ParseAddress(text)
		switch {
		case err != nil:
			return fmt.Errorf("%w: chain %q: the address %.100q of a cold wallet: %w", ErrBadBounds, id, text, err)
		case address.HasMemo:
			return fmt.Errorf("%w: chain %q: the address %.100q of a cold wallet has a memo", ErrBadBounds, id, text)
		case d.hots[address.Base].Base != "":
			return fmt.Errorf("%w: chain %q: a cold wallet has the hot wallet's address %s", ErrBadBounds, id, text)
		}
		d.cold[address.Base] = true
	}
	return nil
}

// toColdHolds checks that a request pays one amount from the hot wallet to a cold wallet of this signer's own
// configuration.
//
// The attack: an intruder in the service names an address of theirs as a cold wallet, and has the hot wallet emptied
// into it without an order of anybody.
func (c *check) toColdHolds() error {
	payments := c.request.Payments
	switch {
	case len(payments) != 1:
		return c.refuse(ReasonRequest, "a move to a cold wallet has %d payments, want 1", len(payments))
	case payments[0].Address.HasMemo || !c.bounds.cold[payments[0].Address.Base]:
		return c.refuse(ReasonColdWallet, "%s is not an address of a cold wallet that this signer's configuration lists",
			payments[0].Address)
	case c.bounds.Capabilities.Model == chain.AccountModel && !c.bounds.isHot(c.request.From):
		return c.refuse(ReasonRequest, "a move to a cold wallet is paid by %s, not by the hot wallet", c.request.From.Base)
	}
	return nil
}
