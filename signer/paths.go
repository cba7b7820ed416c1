package signer

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Network says whether keys are for money or for tests; on Bitcoin and Litecoin their paths differ.
type Network string

// The networks. Testnet stands for every network whose coins are worth nothing, regtest included.
const (
	Mainnet Network = "mainnet"
	Testnet Network = "testnet"
)

// The families of keys.
const (
	FamilyBitcoin  bursar.Family = "bitcoin"
	FamilyLitecoin bursar.Family = "litecoin"
	FamilyEVM      bursar.Family = "evm"
	FamilyTron     bursar.Family = "tron"
	FamilyXRPL     bursar.Family = "xrpl"
	FamilySolana   bursar.Family = "solana"
)

// path is where a family's keys lie in the seed's tree.
//
// On secp256k1 (BIP 32, 44, 84) a key is purpose'/coin'/0'/branch/index. On ed25519 (SLIP-10) every step is hardened and
// a key is purpose'/coin'/index'/branch': a deposit key is what Solana wallets show as account number index, and the hot
// key, 44'/501'/0'/1', is one that such a wallet never makes by itself.
type path struct {
	curve    chain.Curve
	purpose  uint32
	coin     uint32 // SLIP-44
	testCoin uint32 // SLIP-44 keeps 1 for the test networks of all UTXOs; account chains use their own number there too
}

// paths may be added to, and an entry must never change: addresses given out depend on it.
var paths = map[bursar.Family]path{
	FamilyBitcoin:  {curve: chain.Secp256k1, purpose: 84, coin: 0, testCoin: 1},
	FamilyLitecoin: {curve: chain.Secp256k1, purpose: 84, coin: 2, testCoin: 1},
	FamilyEVM:      {curve: chain.Secp256k1, purpose: 44, coin: 60, testCoin: 60},
	FamilyTron:     {curve: chain.Secp256k1, purpose: 44, coin: 195, testCoin: 195},
	FamilyXRPL:     {curve: chain.Secp256k1, purpose: 44, coin: 144, testCoin: 144},
	FamilySolana:   {curve: chain.Ed25519, purpose: 44, coin: 501, testCoin: 501},
}

const (
	hardened = uint32(1) << 31
	branches = 2 // chain.DepositBranch and chain.OwnBranch
)

// Errors of asking for a key.
var (
	ErrUnknownFamily = errors.New("no such family of keys")
	ErrBadKeyRef     = errors.New("no such key")
	ErrBadNetwork    = errors.New("the network is neither mainnet nor testnet")
)

// Families returns every family of keys on a curve, in alphabetical order.
func Families(curve chain.Curve) []bursar.Family {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(paths)), func(f bursar.Family) bool { return paths[f].curve != curve })
}

// checkRef returns the path of a key's family, or says why there is no such key.
func checkRef(ref chain.KeyRef) (path, error) {
	p, known := paths[ref.Family]
	if !known {
		return path{}, fmt.Errorf("%w: %q", ErrUnknownFamily, ref.Family)
	}
	if ref.Branch >= branches || ref.Index >= hardened {
		return path{}, fmt.Errorf("%w: branch %d, index %d", ErrBadKeyRef, ref.Branch, ref.Index)
	}
	return p, nil
}

// coinOn returns the path's coin type on a network.
func (p path) coinOn(network Network) uint32 {
	if network == Testnet {
		return p.testCoin
	}
	return p.coin
}

// params returns the version bytes of extended keys: xpub on the main network, tpub on the others. SLIP-132's zpub and
// Litecoin's Ltub differ from xpub in nothing but these bytes.
func (n Network) params() (*chaincfg.Params, error) {
	switch n {
	case Mainnet:
		return &chaincfg.MainNetParams, nil
	case Testnet:
		return &chaincfg.TestNet3Params, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrBadNetwork, n)
}
