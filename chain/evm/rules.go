package evm

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethrules"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Signable = (*Rules)(nil)

// Rules is the part of a chain that needs no node: addresses, and reading and signing unsigned transactions. A signer
// uses it alone.
type Rules struct {
	cfg    Config
	tokens map[address]Token
	quiet  map[address]bool
	hot    address // zero when not configured
}

// NewRules checks the configuration.
func NewRules(cfg Config) (*Rules, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	r := &Rules{cfg: cfg, quiet: map[address]bool{}}
	if r.tokens, err = ethrules.Tokens(cfg.ID, cfg.Tokens, parseAddress); err != nil {
		return nil, err
	}
	for _, text := range cfg.Quiet {
		contract, err := parseAddress(text)
		if err != nil {
			return nil, fmt.Errorf("configure chain %s: quiet contract %.50q is not an address", cfg.ID, text)
		}
		r.quiet[contract] = true
	}
	if r.hot, err = ethrules.Hot(cfg.ID, cfg.Hot, parseAddress); err != nil {
		return nil, err
	}
	return r, nil
}

// Check is rpc.Config.Check: the endpoint must serve the configured chain id (a *rpc.WrongChainError otherwise). It
// does not check tokens: a faulty token is no reason to avoid an endpoint.
func (r *Rules) Check(ctx context.Context, s *rpc.Session) error {
	var id quantity
	if err := s.Call(ctx, "eth_chainId", nil, &id); err != nil {
		return err
	}
	if uint64(id) != r.cfg.ChainID {
		return &rpc.WrongChainError{Serves: fmt.Sprint(uint64(id)), Configured: fmt.Sprint(r.cfg.ChainID)}
	}
	return nil
}
