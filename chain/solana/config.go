package solana

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Genesis hashes of the public clusters, which tell them apart.
const (
	GenesisMainnet = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
	GenesisTestnet = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"
	GenesisDevnet  = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"
)

// Config is one cluster. ID is required; the functions Mainnet, Testnet, Devnet and Private give whole ones.
type Config struct {
	ID      bursar.ChainID
	Family  bursar.Family // "solana"
	Genesis string        // the genesis hash that a node must have; empty takes any

	// Format is how transactions are written: "legacy", "v0", "v1" (SIMD-0385), or "auto", which is what it is unless set:
	// the first of these that the node takes. The signer reads them all, whatever is set here.
	Format string

	// MinPrice floors and MaxPrice bounds what is offered for a unit of computing, in micro-lamports: 100,000 and
	// 20,000,000, which is 150 and 30,000 lamports for a payment.
	MinPrice, MaxPrice uint64

	Pace       time.Duration // 2 s
	ReorgDepth int           // 100: what is remembered in case a node turns out to follow another chain
	// MaxPayments is how many withdrawals one transaction may pay: 1, since a single payment that fails on chain fails
	// all.
	MaxPayments int
	MaxPending  int // 20
}

// Mainnet returns mainnet-beta.
func Mainnet() Config { return Config{ID: bursar.Solana, Genesis: GenesisMainnet} }

// Testnet returns the cluster called testnet.
func Testnet() Config { return Config{ID: bursar.Solana, Genesis: GenesisTestnet} }

// Devnet returns the cluster called devnet.
func Devnet() Config { return Config{ID: bursar.Solana, Genesis: GenesisDevnet} }

// Private returns a cluster whose genesis hash may be any.
func Private() Config { return Config{ID: bursar.Solana} }

func (cfg Config) withDefaults() (Config, error) {
	setDefault(&cfg.Family, "solana")
	setDefault(&cfg.Format, formatAuto)
	setDefault(&cfg.MaxPrice, 20_000_000)
	setDefault(&cfg.MinPrice, min(100_000, cfg.MaxPrice))
	setDefault(&cfg.Pace, 2*time.Second)
	setDefault(&cfg.ReorgDepth, 100)
	setDefault(&cfg.MaxPayments, 1)
	setDefault(&cfg.MaxPending, 20)
	return cfg, cfg.validate()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (cfg Config) validate() error {
	switch {
	case cfg.ID == "" || strings.ContainsAny(string(cfg.ID), " /"):
		return errors.New("an id without spaces and slashes is required")
	case len(formatsOf(cfg.Format)) == 0:
		return fmt.Errorf("the format %.20q is none of auto, legacy, v0 and v1", cfg.Format)
	case cfg.MaxPrice < cfg.MinPrice || cfg.MaxPrice > maxPriceAllowed:
		return fmt.Errorf("the highest price must lie between the lowest and %d micro-lamports", uint64(maxPriceAllowed))
	case cfg.MaxPayments < 1 || cfg.MaxPayments > maxTransfers:
		return fmt.Errorf("payments of one transaction must be 1 to %d", maxTransfers)
	case cfg.MaxPending < 1 || cfg.ReorgDepth < 0 || cfg.Pace < 0:
		return errors.New("a bound is negative")
	}
	if cfg.Genesis != "" {
		if _, err := parseKey(cfg.Genesis); err != nil {
			return errors.New("the genesis hash is not 32 bytes in base 58")
		}
	}
	return nil
}
