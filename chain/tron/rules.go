package tron

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethrules"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Signable = (*Rules)(nil)

// Rules is the part of the chain that needs no node: addresses, and reading and signing unsigned transactions. A signer
// uses it alone.
type Rules struct {
	cfg    Config
	tokens map[address]Token
	hot    address // zero when not configured
}

// NewRules checks the configuration.
func NewRules(cfg Config) (*Rules, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	r := &Rules{cfg: cfg}
	if r.tokens, err = ethrules.Tokens(cfg.ID, cfg.Tokens, parseAddress); err != nil {
		return nil, err
	}
	if r.hot, err = ethrules.Hot(cfg.ID, cfg.Hot, parseAddress); err != nil {
		return nil, err
	}
	return r, nil
}

// Check is rpc.Config.Check: the node must have the configured block 0, a *rpc.WrongChainError otherwise. It does not
// check tokens: CheckAssets checks them one by one, because a node with default settings answers no constant call.
func (r *Rules) Check(ctx context.Context, s *rpc.Session) error {
	genesis, err := headerAt(ctx, s, full, 0)
	if err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	if r.cfg.Genesis != "" && genesis.ID.String() != r.cfg.Genesis {
		return &rpc.WrongChainError{Serves: genesis.ID.String(), Configured: r.cfg.Genesis}
	}
	return nil
}
