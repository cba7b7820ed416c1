package service

import (
	"testing"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// Every setting of a chain reaches its adapter and its client.
func TestSettingsReachTheAdapters(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("bursar.yaml", []byte(`
network: testnet
poll_interval: 7s
chains:
  ethereum: {rpc: http://127.0.0.1:1, pace: 5s, provider: alchemy, quota: {per_day: 1000, batch: 7}, trace: parity,
    min_tip: 30, push: "ws://127.0.0.1:2"}
  tron: {rpc: https://api.shasta.trongrid.io, provider: none}
  solana: {rpc: http://127.0.0.1:1, format: v1}
  xrpl: {rpc: http://127.0.0.1:1, network_id: 21337}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := connector{network: cfg.Network, keys: keys, registry: cfg.Registry,
		pace: cfg.PollInterval}.all(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		capabilities := part.Chain.Capabilities()
		stats := part.Chain.(statsReporter).Stats()[0]
		switch capabilities.ID {
		case "ethereum":
			if capabilities.Pace != 5*time.Second || part.Pace != 5*time.Second || len(part.Push) != 1 {
				t.Errorf("ethereum is polled every %v and %v, and has %d push URLs, want %v and 1 of them", capabilities.Pace,
					part.Pace, len(part.Push), 5*time.Second)
			}
			if stats.Provider != "alchemy" || stats.Quota.PerDay != 1000 || stats.Quota.Batch != 7 ||
				stats.Quota.PerSecond == 0 {
				t.Errorf("ethereum's endpoint has %+v, want %q and 1000 and 7 and not 0", stats, "alchemy")
			}
		case "tron":
			if capabilities.Pace != 7*time.Second || stats.Provider != "" || stats.Quota.PerDay != 0 {
				t.Errorf("tron is polled every %v, and has %+v, want %v and %q and 0", capabilities.Pace, stats, 7*time.Second, "")
			}
		}
	}
	if len(parts) != 4 {
		t.Errorf("%d chains are connected, want 4", len(parts))
	}
}
