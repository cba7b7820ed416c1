package xrpl

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Network is one of the ledger's networks. It determines which X-addresses are payable.
type Network string

// The networks.
const (
	Mainnet Network = "mainnet" // network id 0, X-addresses begin with X
	Testnet Network = "testnet" // network id 1, X-addresses begin with T
	Private Network = "private" // any other, X-addresses begin with T
)

// Config configures one network. ID and Network are required.
type Config struct {
	ID      bursar.ChainID
	Family  bursar.Family // chain.FamilyXRPL
	Network Network
	// NetworkID is the id of a private network. Zero accepts any node whose transactions need not name their network,
	// which are those with an id up to 1024.
	NetworkID uint32

	// MaxFee is the highest fee offered, in drops: 50,000. Under load, a payment that offers less than the open
	// ledger's fee waits in the queue.
	MaxFee bursar.Amount
	// Patience is how many ledgers after the newest one a payment may still be included: 60, about four minutes.
	Patience uint32

	Pace       time.Duration // 4 s: a ledger closes every three to five seconds
	MaxPending int           // 10, as many as a node's queue accepts from one account
}

// lastBareNetwork is the highest network id whose transactions do not contain it (XLS-37,
// telNETWORK_ID_MAKES_TX_NON_CANONICAL).
const lastBareNetwork = 1024

// maxPatience keeps the range of ledgers that Expired searches within the limit of `tx` (1000).
const maxPatience = 900

func (cfg Config) withDefaults() (Config, error) {
	cfg.Family = cmp.Or(cfg.Family, chain.FamilyXRPL)
	cfg.MaxFee = cmp.Or(cfg.MaxFee, bursar.Units(50_000))
	cfg.Patience = cmp.Or(cfg.Patience, 60)
	cfg.Pace = cmp.Or(cfg.Pace, 4*time.Second)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, 10)
	switch cfg.Network {
	case Mainnet:
		return cfg, cfg.validate(0)
	case Testnet:
		id := uint32(1)
		cfg.NetworkID = cmp.Or(cfg.NetworkID, id)
		return cfg, cfg.validate(id)
	}
	return cfg, cfg.validate(cfg.NetworkID)
}

func (cfg Config) validate(networkID uint32) error {
	switch {
	case cfg.ID == "" || strings.ContainsAny(string(cfg.ID), " /"):
		return errors.New("the chain id is missing, or has spaces or slashes")
	case len(cfg.Family) > 255:
		return errors.New("the family's name is too long")
	case cfg.Network != Mainnet && cfg.Network != Testnet && cfg.Network != Private:
		return fmt.Errorf("unknown network %q", string(cfg.Network))
	case cfg.NetworkID != networkID:
		return fmt.Errorf("%s has network id %d", cfg.Network, networkID)
	case cfg.Patience < 4 || cfg.Patience > maxPatience:
		return fmt.Errorf("the patience must be between 4 and %d ledgers", maxPatience)
	case maxDrops.Less(cfg.MaxFee):
		return errors.New("the highest fee exceeds the maximum supply of XRP")
	}
	return nil
}
