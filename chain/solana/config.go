package solana

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The genesis hashes of the public clusters, which distinguish them.
const (
	GenesisMainnet = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
	GenesisTestnet = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"
)

// Config configures one cluster. ID is required; the functions Mainnet, Testnet and Private return complete
// configurations.
type Config struct {
	ID      bursar.ChainID
	Family  bursar.Family // chain.FamilySolana
	Genesis string        // the genesis hash that a node must have; empty accepts any

	// Format is how transactions are encoded: "legacy", "v0", "v1" (SIMD-0385), or "auto", the default: the first of
	// these that the node accepts. The signer reads all of them, whatever is set here.
	Format string

	// MinPrice and MaxPrice are the limits of the price offered for a compute unit, in micro-lamports: 100,000 and
	// 20,000,000, which is 150 and 30,000 lamports for a payment.
	MinPrice, MaxPrice uint64

	Pace       time.Duration // 2 s
	ReorgDepth int           // 100: blocks remembered in case a node turns out to follow another chain
	// MaxPayments is how many withdrawals one transaction may pay: 1, since a single payment that fails on chain makes
	// all fail.
	MaxPayments int
	MaxPending  int // 20
}

// Mainnet returns mainnet-beta.
func Mainnet() Config { return Config{ID: bursar.Solana, Genesis: GenesisMainnet} }

// Testnet returns the cluster called testnet.
func Testnet() Config { return Config{ID: bursar.Solana, Genesis: GenesisTestnet} }

// Private returns a cluster with any genesis hash.
func Private() Config { return Config{ID: bursar.Solana} }

func (cfg Config) withDefaults() (Config, error) {
	cfg.Family = cmp.Or(cfg.Family, chain.FamilySolana)
	cfg.Format = cmp.Or(cfg.Format, formatAuto)
	cfg.MaxPrice = cmp.Or(cfg.MaxPrice, 20_000_000)
	cfg.MinPrice = cmp.Or(cfg.MinPrice, min(100_000, cfg.MaxPrice))
	cfg.Pace = cmp.Or(cfg.Pace, 2*time.Second)
	cfg.ReorgDepth = cmp.Or(cfg.ReorgDepth, 100)
	cfg.MaxPayments = cmp.Or(cfg.MaxPayments, 1)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, 20)
	return cfg, cfg.validate()
}

func (cfg Config) validate() error {
	switch {
	case cfg.ID == "" || strings.ContainsAny(string(cfg.ID), " /"):
		return errors.New("the chain id is missing, or has spaces or slashes")
	case len(formatsOf(cfg.Format)) == 0:
		return fmt.Errorf("unknown format %.20q: set auto, legacy, v0 or v1", cfg.Format)
	case cfg.MaxPrice < cfg.MinPrice || cfg.MaxPrice > maxPriceAllowed:
		return fmt.Errorf("the highest price must be between the lowest and %d micro-lamports", uint64(maxPriceAllowed))
	case cfg.MaxPayments < 1 || cfg.MaxPayments > maxTransfers:
		return fmt.Errorf("payments of one transaction must be between 1 and %d", maxTransfers)
	case cfg.MaxPending < 1:
		return fmt.Errorf("%d pending transactions are allowed, want at least 1", cfg.MaxPending)
	case cfg.ReorgDepth < 0:
		return fmt.Errorf("the depth %d of reorgs is negative", cfg.ReorgDepth)
	case cfg.Pace < 0:
		return fmt.Errorf("the pace %v is negative", cfg.Pace)
	}
	if cfg.Genesis != "" {
		if _, err := parseKey(cfg.Genesis); err != nil {
			return errors.New("the genesis hash must be 32 bytes in base 58")
		}
	}
	return nil
}
