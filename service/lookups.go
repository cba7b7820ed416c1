package service

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
)

// SheetsOf returns what operators read, for a command beside the service: without the seed, and so without the hot
// wallets' addresses. It asks no node, except that of a private chain for its chain ID; a chain that cannot be prepared
// is left out, so that what the database knows of it is still found.
func SheetsOf(ctx context.Context, cfg config.Config, db *store.DB) *oversight.Reader {
	log := slog.New(slog.DiscardHandler)
	chains := map[bursar.ChainID]oversight.Chain{}
	connects := host.Connector{Network: cfg.Network, Registry: cfg.Registry, Log: log}
	for id, of := range cfg.Chains {
		if adapter, err := connects.Connect(ctx, of); err == nil {
			chains[id] = adapter
		}
	}
	cold := map[bursar.ChainID][]string{}
	for id, of := range cfg.Chains {
		cold[id] = bursar.ColdBases(of.Cold)
	}
	return &oversight.Reader{Config: oversight.Config{
		DB:       db,
		Registry: cfg.Registry,
		Chains:   chains,
		Hot:      func(bursar.ChainID) string { return "" },
		Cold:     cold,
		Settings: settingsOf(cfg),
	}}
}
