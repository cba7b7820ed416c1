package tron

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/ethrules"
)

// The genesis blocks of the public networks.
const (
	MainnetGenesis = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc"
	ShastaGenesis  = "0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e"
	NileGenesis    = "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc"
)

// Token is a TRC-20 contract whose Transfer events are credited. Decimals are fixed here and compared with the
// contract.
type Token = ethrules.Token

// Config configures one network. The zero value is a private network without tokens; Mainnet returns a complete
// configuration.
type Config struct {
	ID      bursar.ChainID // bursar.Tron
	Genesis string         // the id of block 0; empty accepts any, for private networks
	Tokens  []Token

	// Hot is the hot wallet's address, from which token quotes are estimated; if it is empty, every token payment is
	// quoted at the usual energy.
	Hot string
	// Expiry is how long after it is built a transaction may be included: 10 min. java-tron accepts at most 24 h.
	Expiry time.Duration
	// BytePrice is the most that a byte of bandwidth may cost, in sun: 1000 (the network's getTransactionFee).
	// Transactions are priced at it, so if the network charges more, nothing is paid until this is raised.
	BytePrice uint64
	// MaxEnergy is the most energy that a token payment may need, as estimated: 400,000. A destination that needs more
	// is refused.
	MaxEnergy uint64

	Pace       time.Duration // 3 s
	ReorgDepth int           // 100
	MaxPending int           // 20
}

// Mainnet returns Tron's mainnet with Tether's USDT.
func Mainnet() Config {
	return Config{Genesis: MainnetGenesis, Tokens: []Token{{Contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", Decimals: 6}}}
}

// SolidBranch is the part of a node's API that serves solidified blocks only.
const SolidBranch = "/" + string(solid)

// SolidURL returns the default URL of SolidBranch for the node at a URL: on java-tron's default ports the neighbouring
// one (node.http.fullNodePort 8090, node.http.solidityPort 8091), otherwise the URL itself, returned as "". Source:
// developers.tron.network, "Solidity HTTP API overview".
func SolidURL(node string) string {
	u, err := url.Parse(node)
	if err != nil || u.Port() != "8090" {
		return ""
	}
	u.Host = strings.TrimSuffix(u.Host, "8090") + "8091"
	return u.String()
}

func (cfg Config) withDefaults() (Config, error) {
	cfg.ID = cmp.Or(cfg.ID, bursar.Tron)
	cfg.Expiry = cmp.Or(cfg.Expiry, 10*time.Minute)
	cfg.BytePrice = cmp.Or(cfg.BytePrice, 1000)
	cfg.MaxEnergy = cmp.Or(cfg.MaxEnergy, 400_000)
	cfg.Pace = cmp.Or(cfg.Pace, 3*time.Second)
	cfg.ReorgDepth = cmp.Or(cfg.ReorgDepth, 100)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, 20)
	return cfg, cfg.validate()
}

func (cfg Config) validate() error {
	switch {
	case strings.ContainsAny(string(cfg.ID), " /"):
		return errors.New("the chain id is missing, or has spaces or slashes")
	case cfg.Expiry < 10*time.Second || cfg.Expiry > 12*time.Hour:
		return errors.New("the expiry must be between 10 seconds and 12 hours")
	case cfg.BytePrice > 1_000_000:
		return errors.New("the highest price of a byte exceeds 1 TRX")
	case cfg.MaxEnergy > 100_000_000:
		return errors.New("the highest energy exceeds 100 million")
	case cfg.Genesis != "":
		if _, err := parseHash(cfg.Genesis); err != nil {
			return errors.New("the genesis block's id must be 64 hexadecimal digits")
		}
	}
	return nil
}
