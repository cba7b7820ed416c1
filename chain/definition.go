package chain

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// Network is one of a chain's networks.
type Network string

// The networks. On Regtest chains are private: any chain id and genesis block is accepted as configured.
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

// KeyPath is the derivation path of a family's keys.
//
// On secp256k1 (BIP 32, 44, 84) a key is purpose'/coin'/0'/branch/index. On ed25519 (SLIP-10) every step is hardened
// and a key is purpose'/coin'/index'/branch': a deposit key is the one that Solana wallets show as account number
// index, and the hot key, 44'/501'/0'/1', is one that such a wallet never derives by itself.
type KeyPath struct {
	Curve   Curve
	Purpose uint32
	Coin    uint32 // SLIP-44
	// TestCoin is 1 in SLIP-44 for the test networks of Bitcoin's kind; chains of the account model use their own
	// number.
	TestCoin uint32
}

// KeyPaths returns the paths of all families. Entries may be added, and none may ever change: addresses that were
// given out depend on it. They are here and not in each Definition because package signer reads them, which imports no
// adapter.
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

// Definition describes a chain: its facts that need no configuration, and how to connect to it. Its adapter exports
// it, and package registry lists it; configuration, service and sandbox read it from there.
type Definition struct {
	ID     bursar.ChainID
	Name   string // as people know it, such as "BNB Smart Chain"
	Family bursar.Family

	Decimals      int                // of the native asset
	Standard      string             // of tokens, as payers know it, such as "ERC-20"; empty: as the chain's name says
	BlockTime     time.Duration      // the usual time between two blocks, shown to payers as the time to wait
	Link          WalletLinks        // the URIs that wallets of payers read
	Confirmations int                // a block with so many, itself included, is final; 0: the nodes report what is final
	ChainIDs      map[Network]uint64 // EIP-155 (chainid.network); nil: the family has no chain ids

	// MaxFee is the most that one transaction may cost, in the native asset, and MaxFeeRate the most for a vbyte in
	// satoshi or a unit of gas in gwei; empty where there is no rate. They are several times what a payment has cost in
	// the worst hours so far: they stop a mistake and not a payment on a busy day.
	MaxFee, MaxFeeRate string
	MinTip             string // the least tip for a unit of gas, in gwei; empty: there are no tips
	RateDecimals       int    // how many decimals MaxFeeRate may have
	RateBound          uint64 // the highest MaxFeeRate that may be configured; 0: any
	// MinDeposit is the smallest amount that can stay on an address of its own, in the native asset; empty: any.
	MinDeposit string

	ColdKinds []bursar.ColdKind // the kinds of cold wallets that the chain has besides single addresses

	Settings []string // of the chain's section in the configuration, besides those that every chain has
	ZMQ      bool     // nodes announce blocks over ZMQ, at a tcp URL; otherwise over a WebSocket

	Tested []Tested // the programs and versions that are known to work; none of another chain's are compared
	Forks  []Fork   // of the main network
	// Program returns the name of a program that reports the name of another one, or an older name of its own, and ""
	// for any other; nil: every program reports its name.
	Program func(Software) string

	// Contract returns a token's contract in its canonical form; nil: tokens of the chain are not supported.
	Contract func(text string) (string, error)
	// New returns the connected adapter. It asks no node, except for a private chain's id.
	New func(ctx context.Context, s Setup) (Chain, error)
}

// WalletLinks are the URIs of payments on a chain, in which {chain} is "@" and the EIP-155 id.
type WalletLinks struct {
	Native, Token bursar.WalletLink
}

// LinkOf returns the form of the URIs that pay a currency of the chain; chainID is 0 where it is not known.
func (d Definition) LinkOf(c bursar.Currency, chainID uint64) bursar.WalletLink {
	link, chain := d.Link.Native, ""
	if c.IsToken() {
		link = d.Link.Token
	}
	if chainID != 0 {
		chain = "@" + strconv.FormatUint(chainID, 10)
	}
	link.Form = strings.ReplaceAll(link.Form, "{chain}", chain)
	return link
}

// Setup is the configuration that a chain is connected with. A setting that a family does not have is zero.
type Setup struct {
	ID      bursar.ChainID
	Network Network
	Node    rpc.Config
	Solid   []string      // Tron: each node's URL of the solidified chain; nil: on the usual port
	Pace    time.Duration // how often the head is asked for; 0: the chain's usual pace
	Tokens  []bursar.Currency
	// Hot returns the address of the hot wallet, derived by the pure part of an adapter; "" where there are no keys.
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
