package signer

import (
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Bounds are what a signer allows on one chain. It comes from the signer's own configuration, never with a request.
type Bounds struct {
	Capabilities chain.Capabilities // ID, Family, Curve, Model and MaxPayments are used
	// Signable is the signer's own copy of the part of the adapter that needs no node. On a chain of the UTXO model it
	// must be a chain.Provable too.
	Signable chain.Signable

	MaxFee  bursar.Amount // the highest fee of one transaction, in the native asset; required
	MaxRate bursar.Amount // the highest fee per unit of Contents.Weight; zero: only MaxFee bounds the fee

	// Payments limits what is paid to others, by contract, with the native asset under "".
	Payments map[string]Limits
	// LimitsRequired refuses to pay an asset to others that has no limit. Otherwise it is not limited.
	LimitsRequired bool
	Fees           Limits // what all transactions can cost, in the native asset
	Transfers      Limits // how many sweeps, consolidations and gas top-ups are signed
	Withdrawals    Limits // how many transactions that pay others are signed
	ToCold         Limits // how many transactions that pay our cold wallets are signed
	// Cold are the addresses of our cold wallets, in the form of the chain. Transactions of the kind to_cold pay no
	// others.
	Cold []string
	// MaxFeePercent is the most that a transaction which pays others may cost, in percent of what it pays in the native
	// asset, or by the prices of a policy that people signed. Fees up to a twentieth of MaxFee are not asked about. 0:
	// any.
	MaxFeePercent uint64

	MaxInputs int // signatures in one transaction; zero: DefaultMaxInputs

	Now func() time.Time // the clock of the limits; nil: time.Now
}

// Bounds of the input.
const (
	DefaultMaxInputs = 500
	maxUnsigned      = 4 << 20 // bytes of an unsigned transaction
	maxMessage       = 1232    // bytes signed with ed25519: Solana's packet, PACKET_DATA_SIZE
	digestSize       = 32      // bytes signed with secp256k1
)

// ErrBadBounds is returned by New for bounds that lack a limit or contradict themselves.
var ErrBadBounds = errors.New("the signer's bounds are not usable")

// chainBounds are bounds with what the signer derived itself.
type chainBounds struct {
	Bounds
	epoch    chain.Epoch             // in force on this chain
	hot      chain.Source            // of that epoch
	hots     map[string]chain.Source // those of all epochs that have begun, by their addresses
	provable chain.Provable          // on a chain of the UTXO model
	payments map[string]Limits       // by canonical contract
	cold     map[string]bool         // canonical addresses
}

// newChainBounds checks bounds and derives the hot wallet's address.
func newChainBounds(keys *Keys, id bursar.ChainID, p Bounds) (*chainBounds, error) {
	known, found := paths[p.Capabilities.Family]
	switch {
	case p.Signable == nil:
		return nil, fmt.Errorf("%w: chain %q: no adapter", ErrBadBounds, id)
	case p.Capabilities.ID != id:
		return nil, fmt.Errorf("%w: chain %q: the capabilities are those of %q", ErrBadBounds, id, p.Capabilities.ID)
	case !found || known.Curve != p.Capabilities.Curve:
		return nil, fmt.Errorf("%w: chain %q: no keys of family %q on %q", ErrBadBounds, id, p.Capabilities.Family,
			p.Capabilities.Curve)
	case p.Capabilities.Model != chain.UTXOModel && p.Capabilities.Model != chain.AccountModel:
		return nil, fmt.Errorf("%w: chain %q: unknown model %q", ErrBadBounds, id, p.Capabilities.Model)
	case p.MaxFee.IsZero():
		return nil, fmt.Errorf("%w: chain %q: max_fee is not set", ErrBadBounds, id)
	case p.MaxInputs < 0 || p.Capabilities.MaxPayments < 0:
		return nil, fmt.Errorf("%w: chain %q: a negative limit", ErrBadBounds, id)
	}
	if p.MaxInputs == 0 {
		p.MaxInputs = DefaultMaxInputs
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Capabilities.MaxPayments = max(p.Capabilities.MaxPayments, 1)
	payments, err := p.canonicalLimits(id)
	if err != nil {
		return nil, err
	}
	d := &chainBounds{Bounds: p, payments: payments}
	var proves bool
	if d.provable, proves = p.Signable.(chain.Provable); !proves && p.Capabilities.Model == chain.UTXOModel {
		return nil, fmt.Errorf("%w: chain %q: its adapter cannot prove what inputs hold", ErrBadBounds, id)
	}
	if err := d.addHots(keys); err != nil {
		return nil, fmt.Errorf("derive the hot wallet's address on %q: %w", id, err)
	}
	return d, d.readCold(id)
}

// baseOf returns the address that a key has on this chain.
func (d *chainBounds) baseOf(keys *Keys, ref chain.KeyRef) (string, error) {
	if ref.Family != d.Capabilities.Family {
		return "", fmt.Errorf("%w: family %q on a chain of family %q", ErrBadKeyRef, ref.Family, d.Capabilities.Family)
	}
	public, err := keys.Public(ref)
	if err != nil {
		return "", err
	}
	address, err := d.Signable.Address(public, 0)
	if err != nil {
		return "", fmt.Errorf("address of a key: %w", err)
	}
	if address.Base == "" {
		return "", fmt.Errorf("%w: the key has no address", ErrBadKeyRef)
	}
	return address.Base, nil
}
