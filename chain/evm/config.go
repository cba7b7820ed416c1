package evm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Tracing says how value that contracts send is found.
type Tracing string

// The ways to see value that contracts send.
const (
	// TraceAuto asks each node in the first of the two ways that it knows, and compares balances at one that knows none.
	TraceAuto Tracing = "auto"
	// TraceGeth is debug_traceBlockByHash with callTracer.
	TraceGeth Tracing = "geth"
	// TraceParity is trace_block.
	TraceParity Tracing = "parity"
	// TraceNone compares the balances of addresses that a block's contract calls mention. It is less precise: several
	// payments of one transaction to one address are one transfer.
	TraceNone Tracing = "none"
)

// Token is an ERC-20 contract whose Transfer events are credited. Decimals are pinned here and compared with the
// contract.
type Token struct {
	Contract string
	Decimals int
}

// Config is one chain. ID and ChainID are required; the functions Ethereum, BSC and Polygon give whole ones.
type Config struct {
	ID      bursar.ChainID
	Family  bursar.Family // "evm": chains of one family share keys and addresses
	ChainID uint64        // EIP-155

	// FinalityBlocks is how many confirmations make a block final, where nodes lack the `finalized` tag; 0 goes by the
	// tag.
	FinalityBlocks uint64
	Trace          Tracing // TraceAuto
	Tokens         []Token
	// StateSync says that blocks may end with a transaction that is not in the header's roots and whose receipt nodes may
	// omit (Polygon before its Madhugiri fork).
	StateSync bool
	// Quiet are contracts whose logs only repeat what value and traces say already (Polygon's 0x…1010).
	Quiet []string

	// Hot is the hot address, from which quotes estimate gas; empty estimates as a stranger.
	Hot string
	// MaxFeePerGas and MaxTip bound, and MinTip floors, what is offered for a unit of gas, in wei.
	MaxFeePerGas, MaxTip, MinTip bursar.Amount
	// MaxGas is the most gas a payment may need: 500,000. A destination that needs more is refused.
	MaxGas uint64

	Pace       time.Duration // 3 s
	ReorgDepth int           // 300
	MaxPending int           // 16
	BumpAfter  uint64        // 10 blocks
}

const gwei = 1_000_000_000

// Ethereum returns Ethereum's main net.
func Ethereum() Config {
	return Config{
		ID: bursar.Ethereum, ChainID: 1, Pace: 3 * time.Second,
		MaxFeePerGas: bursar.Units(300 * gwei), MaxTip: bursar.Units(5 * gwei), MinTip: bursar.Units(gwei / 100),
	}
}

// BSC returns BNB Smart Chain. Its USDT and USDC would have 18 decimals.
func BSC() Config {
	return Config{
		ID: bursar.BSC, ChainID: 56, Pace: time.Second, BumpAfter: 40,
		MaxFeePerGas: bursar.Units(20 * gwei), MaxTip: bursar.Units(5 * gwei), MinTip: bursar.Units(gwei / 20),
	}
}

// Polygon returns Polygon's proof-of-stake chain, with Tether's USDT and Circle's native USDC. Bor refuses tips below
// 25 gwei. 0x…1010 logs every native transfer once more.
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

// confirmations is what a client is told: two epochs of 32 slots are what the `finalized` tag usually takes.
func (cfg Config) confirmations() int {
	if cfg.FinalityBlocks > 0 {
		return int(cfg.FinalityBlocks)
	}
	return 64
}

func (cfg Config) withDefaults() (Config, error) {
	setDefault(&cfg.Family, "evm")
	setDefault(&cfg.Trace, TraceAuto)
	setDefault(&cfg.MaxGas, 500_000)
	setDefault(&cfg.Pace, 3*time.Second)
	setDefault(&cfg.ReorgDepth, 300)
	setDefault(&cfg.MaxPending, 16)
	setDefault(&cfg.BumpAfter, 10)
	setDefault(&cfg.MaxFeePerGas, bursar.Units(300*gwei))
	setDefault(&cfg.MaxTip, bursar.Units(5*gwei))
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
	case cfg.ChainID == 0:
		return errors.New("the chain id is required")
	case cfg.Trace != TraceAuto && cfg.Trace != TraceGeth && cfg.Trace != TraceParity && cfg.Trace != TraceNone:
		return fmt.Errorf("unknown tracing %q", string(cfg.Trace))
	case cfg.FinalityBlocks > 1<<20:
		return errors.New("finality takes too many blocks")
	case cfg.MaxFeePerGas.Less(cfg.MinTip) || cfg.MaxTip.Less(cfg.MinTip):
		return errors.New("the least tip is above a cap")
	case cfg.MaxGas < plainGas || cfg.MaxGas > 1<<24: // EIP-7825 bounds a transaction at 2^24
		return errors.New("the most gas must lie between 21,000 and 16,777,216")
	}
	return nil
}
