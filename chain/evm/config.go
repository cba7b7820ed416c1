package evm

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethrules"
)

// Tracing is how value that contracts send is found.
type Tracing string

// The methods to find value that contracts send.
const (
	// TraceAuto uses for each node the first of the two methods that the node supports, and compares balances if the
	// node supports neither.
	TraceAuto Tracing = "auto"
	// TraceGeth uses debug_traceBlockByHash with callTracer.
	TraceGeth Tracing = "geth"
	// TraceParity uses trace_block.
	TraceParity Tracing = "parity"
	// TraceNone compares the balances of addresses that a block's contract calls mention. It is less precise: several
	// payments of one transaction to one address become one transfer.
	TraceNone Tracing = "none"
)

// Token is an ERC-20 contract whose Transfer events are credited. Decimals are fixed here and compared with the
// contract.
type Token = ethrules.Token

// Config configures one chain. ID and ChainID are required; the functions Ethereum, BSC and Polygon return complete
// configurations.
type Config struct {
	ID      bursar.ChainID
	Family  bursar.Family // chain.FamilyEVM: chains of one family share keys and addresses
	ChainID uint64        // EIP-155

	// FinalityBlocks is how many confirmations make a block final, if nodes lack the `finalized` tag; 0 uses the tag.
	FinalityBlocks uint64
	Trace          Tracing // TraceAuto
	Tokens         []Token
	// StateSync means that blocks may end with a transaction that is not in the header's roots and whose receipt nodes
	// may omit (Polygon before its Madhugiri fork).
	StateSync bool
	// Quiet are contracts whose logs only repeat what values and traces show already (Polygon's 0x…1010).
	Quiet []string

	// Hot is the hot wallet's address, from which quotes estimate gas; if it is empty, they estimate from an unrelated
	// address.
	Hot string
	// MaxFeePerGas and MaxTip are upper limits, and MinTip is the lower limit, of the price offered for a unit of gas,
	// in wei.
	MaxFeePerGas, MaxTip, MinTip bursar.Amount
	// MaxGas is the most gas a payment may need: 500,000. A destination that needs more is refused.
	MaxGas uint64

	Pace       time.Duration // 3 s
	ReorgDepth int           // 300
	MaxPending int           // 16
	BumpAfter  uint64        // 10 blocks
}

const gwei = 1_000_000_000

// Ethereum returns Ethereum's mainnet.
func Ethereum() Config {
	return Config{
		ID: bursar.Ethereum, ChainID: 1, Pace: 3 * time.Second,
		MaxFeePerGas: bursar.Units(300 * gwei), MaxTip: bursar.Units(5 * gwei), MinTip: bursar.Units(gwei / 100),
	}
}

// BSC returns BNB Smart Chain. Its USDT and USDC have 18 decimals.
func BSC() Config {
	return Config{
		ID: bursar.BSC, ChainID: 56, Pace: time.Second, BumpAfter: 40,
		MaxFeePerGas: bursar.Units(20 * gwei), MaxTip: bursar.Units(5 * gwei), MinTip: bursar.Units(gwei / 20),
	}
}

// Polygon returns Polygon's proof-of-stake chain, with Tether's USDT and Circle's native USDC. Bor refuses tips below
// 25 gwei. Contract 0x…1010 logs every native transfer a second time.
func Polygon() Config {
	return Config{
		ID: bursar.Polygon, ChainID: 137, Pace: 2 * time.Second, BumpAfter: 30, StateSync: true,
		Quiet:        []string{"0x0000000000000000000000000000000000001010"},
		MaxFeePerGas: bursar.Units(3000 * gwei), MaxTip: bursar.Units(500 * gwei), MinTip: bursar.Units(25 * gwei),
		Tokens: []Token{
			{Contract: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F", Decimals: 6},
			{Contract: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", Decimals: 6},
		},
	}
}

// confirmations returns the number that clients see: the `finalized` tag usually takes two epochs of 32 slots.
func (cfg Config) confirmations() int {
	if cfg.FinalityBlocks > 0 {
		return int(cfg.FinalityBlocks)
	}
	return 64
}

func (cfg Config) withDefaults() (Config, error) {
	cfg.Family = cmp.Or(cfg.Family, chain.FamilyEVM)
	cfg.Trace = cmp.Or(cfg.Trace, TraceAuto)
	cfg.MaxGas = cmp.Or(cfg.MaxGas, 500_000)
	cfg.Pace = cmp.Or(cfg.Pace, 3*time.Second)
	cfg.ReorgDepth = cmp.Or(cfg.ReorgDepth, 300)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, 16)
	cfg.BumpAfter = cmp.Or(cfg.BumpAfter, 10)
	cfg.MaxFeePerGas = cmp.Or(cfg.MaxFeePerGas, bursar.Units(300*gwei))
	cfg.MaxTip = cmp.Or(cfg.MaxTip, bursar.Units(5*gwei))
	return cfg, cfg.validate()
}

func (cfg Config) validate() error {
	switch {
	case cfg.ID == "" || strings.ContainsAny(string(cfg.ID), " /"):
		return errors.New("the chain id (name) is missing, or has spaces or slashes")
	case cfg.ChainID == 0:
		return errors.New("chain_id is missing: set one")
	case cfg.Trace != TraceAuto && cfg.Trace != TraceGeth && cfg.Trace != TraceParity && cfg.Trace != TraceNone:
		return fmt.Errorf("unknown tracing %q", string(cfg.Trace))
	case cfg.FinalityBlocks > 1<<20:
		return errors.New("the finality is too many blocks")
	case cfg.MaxFeePerGas.Less(cfg.MinTip) || cfg.MaxTip.Less(cfg.MinTip):
		return errors.New("the lowest tip exceeds the highest tip or the highest fee per gas")
	case cfg.MaxGas < plainGas || cfg.MaxGas > 1<<24: // EIP-7825 bounds a transaction at 2^24
		return errors.New("the highest gas must be between 21,000 and 16,777,216")
	}
	return nil
}
