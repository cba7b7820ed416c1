package host

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
)

// Spellings returns how the configured chains write addresses and contracts. It asks no node.
func Spellings(ctx context.Context, cfg config.Config) roster.Chains {
	connector := Connector{Network: cfg.Network, Registry: cfg.Registry, Log: slog.New(slog.DiscardHandler)}
	return func(id bursar.ChainID) (roster.Spelling, bool) {
		of, configured := cfg.Chains[id]
		if !configured {
			return nil, false
		}
		if of.ChainID == 0 {
			of.ChainID = 1 // addresses are the same on every EVM chain, and a private one would be asked for its number
		}
		adapter, err := connector.Connect(ctx, of)
		return adapter, err == nil
	}
}
