package solana

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Signable = (*Rules)(nil)

// Rules is the part of the chain that needs no node: addresses, and reading and signing unsigned transactions. A signer
// uses it alone.
type Rules struct{ cfg Config }

// NewRules checks the configuration.
func NewRules(cfg Config) (*Rules, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	return &Rules{cfg}, nil
}

// Check is rpc.Config.Check: the node must have the configured genesis hash, or the error is a *rpc.WrongChainError.
func (r *Rules) Check(ctx context.Context, s *rpc.Session) error {
	var genesis string
	if err := s.Call(ctx, "getGenesisHash", nil, &genesis); err != nil {
		return err
	}
	if _, err := parseKey(genesis); err != nil {
		return fmt.Errorf("the node's genesis hash %.60q: %w", genesis, err)
	}
	if r.cfg.Genesis != "" && genesis != r.cfg.Genesis {
		return &rpc.WrongChainError{Serves: genesis, Configured: r.cfg.Genesis}
	}
	return nil
}

// Address returns the address of an ed25519 key: the key itself in base 58. A memo is an error: the chain has none.
func (r *Rules) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	if memo != 0 {
		return bursar.Address{}, fmt.Errorf("address of a key: chain %s has no memos", r.cfg.ID)
	}
	if len(pub) != len(key{}) || key(pub) == (key{}) {
		return bursar.Address{}, fmt.Errorf("address of a key: got %d bytes, want 32 that are not all zero", len(pub))
	}
	return bursar.Address{Base: key(pub).String()}, nil
}

// ParseAddress accepts 32 bytes in base 58, on the curve or not: the address of a program's account may be somebody's
// wallet. There is no checksum, so a mistyped address is another address. Quote refuses those that should never be
// paid.
func (r *Rules) ParseAddress(s string) (bursar.Address, error) {
	k, err := parseKey(s)
	if err != nil {
		return bursar.Address{}, fmt.Errorf("%w: %w", bursar.ErrBadAddress, err)
	}
	return bursar.Address{Base: k.String()}, nil
}

// ParseContract refuses everything: this adapter supports no tokens.
func (r *Rules) ParseContract(string) (string, error) {
	return "", fmt.Errorf("%w: tokens of chain %s are not supported", bursar.ErrBadAddress, r.cfg.ID)
}
