package chain

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// Network says which of a chain's networks is meant.
type Network string

// The networks. On Regtest chains are private: any chain id and genesis is taken as configured.
const (
	Mainnet Network = "mainnet"
	Testnet Network = "testnet"
	Regtest Network = "regtest"
)

// The families of chains. Chains of one family share keys and addresses.
const (
	FamilyBitcoin  bursar.Family = "bitcoin"
	FamilyLitecoin bursar.Family = "litecoin"
	FamilyEVM      bursar.Family = "evm"
	FamilyTron     bursar.Family = "tron"
	FamilySolana   bursar.Family = "solana"
	FamilyXRPL     bursar.Family = "xrpl"
)

// KeyPath is where a family's keys lie in the seed's tree.
//
// On secp256k1 (BIP 32, 44, 84) a key is purpose'/coin'/0'/branch/index. On ed25519 (SLIP-10) every step is hardened
// and a key is purpose'/coin'/index'/branch': a deposit key is what Solana wallets show as account number index, and
// the hot key, 44'/501'/0'/1', is one that such a wallet never makes by itself.
type KeyPath struct {
	Curve    Curve
	Purpose  uint32
	Coin     uint32 // SLIP-44
	TestCoin uint32 // SLIP-44 keeps 1 for the test networks of Bitcoin's kind; account chains use their own number there too
}

// KeyPaths returns the paths of all families. They may be added to, and an entry must never change: addresses given out
// depend on it. They stand here and not with each Definition because the signer reads them, which links no adapter.
func KeyPaths() map[bursar.Family]KeyPath {
	return map[bursar.Family]KeyPath{
		FamilyBitcoin:  {Curve: Secp256k1, Purpose: 84, Coin: 0, TestCoin: 1},
		FamilyLitecoin: {Curve: Secp256k1, Purpose: 84, Coin: 2, TestCoin: 1},
		FamilyEVM:      {Curve: Secp256k1, Purpose: 44, Coin: 60, TestCoin: 60},
		FamilyTron:     {Curve: Secp256k1, Purpose: 44, Coin: 195, TestCoin: 195},
		FamilyXRPL:     {Curve: Secp256k1, Purpose: 44, Coin: 144, TestCoin: 144},
		FamilySolana:   {Curve: Ed25519, Purpose: 44, Coin: 501, TestCoin: 501},
	}
}

// Definition is a chain as a value: what is known of it without configuration, and how it is connected to. Its adapter
// exports it, and package registry lists it; configuration, service and sandbox read it from there.
type Definition struct {
	ID     bursar.ChainID
	Family bursar.Family

	Decimals      int                // of the native asset
	Confirmations int                // a block with so many, itself counted, is final; 0: the nodes say what is
	ChainIDs      map[Network]uint64 // EIP-155 (chainid.network); nil: the family has none

	// MaxFee is the most that one transaction may cost, in the native asset, and MaxFeeRate the most for a vbyte in
	// satoshi or a unit of gas in gwei; empty where there is no rate. They are several times what a payment costs in the
	// worst hours so far: they stop a mistake, not a bad day.
	MaxFee, MaxFeeRate string
	RateDecimals       int // how many decimals MaxFeeRate may have

	Settings []string // of a chain's section in the configuration, beside those that every chain has
	ZMQ      bool     // nodes announce blocks over ZMQ, at a tcp URL; else over a WebSocket

	// Contract returns a token's contract in its canonical form; nil: tokens of the chain are not supported.
	Contract func(text string) (string, error)
	// New connects to the chain. It asks no node, but for a private chain's id.
	New func(ctx context.Context, s Setup) (Chain, error)
}

// Setup is what a chain is connected with: what an operator configured, and what follows from it. A setting that a
// family does not have is left at zero.
type Setup struct {
	ID      bursar.ChainID
	Network Network
	Node    rpc.Config
	Solid   []string      // Tron: where each node serves what is solidified; nil: on the usual port
	Pace    time.Duration // how often the head is looked for; 0: as the chain is usually
	Tokens  []bursar.Currency
	// Hot returns our own address by the pure part of an adapter, "" where there are no keys.
	Hot func(family bursar.Family, rules Addresses) (string, error)
	Log *slog.Logger

	MaxFee     bursar.Amount
	MaxFeeRate bursar.Amount // in satoshi for a vbyte or wei for a unit of gas

	Confirmations  int
	ChainID        uint64 // EIP-155; 0: as the node says
	FinalityBlocks uint64
	Trace          string
	MinTip         bursar.Amount // in wei; zero: the chain's usual one
	Format         string
	NetworkID      *uint32
}
