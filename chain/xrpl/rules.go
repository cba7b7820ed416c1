package xrpl

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Signable = (*Rules)(nil)

// Rules is the part of the chain that needs no node: addresses, and drafts read and signed. A signer runs it by itself.
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

// mainnetPast is a ledger that the main net passed in March 2025. A fresh ledger of somebody's own has network id 0 too,
// and is told apart by its height.
const mainnetPast = 95_000_000

var errNoNetworkID = errors.New("the node does not tell its network id")

// Check is rpc.Config.Check: the node must serve the configured network, a *rpc.WrongChainError otherwise.
func (r *Rules) Check(ctx context.Context, s *rpc.Session) error {
	var answer serverInfo
	if err := ask(ctx, s, "server_info", nil, &answer); err != nil {
		return err
	}
	if answer.Info.NetworkID == nil {
		return errNoNetworkID
	}
	id := *answer.Info.NetworkID
	wrong := id != r.cfg.NetworkID
	if r.cfg.Network == Private && r.cfg.NetworkID == 0 {
		wrong = id > lastBareNetwork
	}
	if wrong {
		return &rpc.WrongChainError{Serves: fmt.Sprint("network ", id), Configured: fmt.Sprintf("network %d (%s)", r.cfg.NetworkID, r.cfg.Network)}
	}
	if validated := answer.Info.Validated; r.cfg.Network == Mainnet && validated != nil && validated.Index < mainnetPast {
		return &rpc.WrongChainError{Serves: fmt.Sprint("a network at ledger ", validated.Index), Configured: "mainnet"}
	}
	return nil
}
