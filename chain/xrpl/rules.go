package xrpl

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Signable = (*Rules)(nil)

// Rules is the part of the chain that needs no node: addresses, and reading and signing unsigned transactions. A signer
// uses it alone.
type Rules struct {
	cfg Config
}

// NewRules checks the configuration.
func NewRules(cfg Config) (*Rules, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	return &Rules{cfg: cfg}, nil
}

// Check is rpc.Config.Check: the node must serve the configured network; otherwise the error is a *rpc.WrongChainError.
func (r *Rules) Check(ctx context.Context, s *rpc.Session) error {
	var answer serverInfo
	if err := ask(ctx, s, "server_info", nil, &answer); err != nil {
		return err
	}
	_, err := r.checkNetwork(ctx, s, answer)
	return err
}
