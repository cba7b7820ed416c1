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

// Network is whether keys are for money or for tests; on Bitcoin and Litecoin their paths differ.
type Network string

// The networks. Testnet is every network whose assets have no value, including regtest.
const (
	Mainnet Network = "mainnet"
	Testnet Network = "testnet"
)

// path is the derivation path of a family's keys.
type path chain.KeyPath

var paths = pathsOf(chain.KeyPaths())

func pathsOf(all map[bursar.Family]chain.KeyPath) map[bursar.Family]path {
	own := map[bursar.Family]path{}
	for family, p := range all {
		own[family] = path(p)
	}
	return own
}

const (
	hardened = uint32(1) << 31
	branches = 2 // chain.DepositBranch and chain.OwnBranch
)

// Errors of requesting a key.
var (
	ErrUnknownFamily = errors.New("unknown key family")
	ErrBadKeyRef     = errors.New("unknown key")
	ErrBadNetwork    = errors.New("the network is neither mainnet nor testnet")
)

// Families returns every family of keys on a curve, in alphabetical order.
func Families(curve chain.Curve) []bursar.Family {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(paths)), func(f bursar.Family) bool {
		return paths[f].Curve != curve
	})
}

// checkRef returns the path of a key's family, or the reason why there is no such key.
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

// slip44On returns the path's coin type on a network.
func (p path) slip44On(network Network) uint32 {
	if network == Testnet {
		return p.TestCoin
	}
	return p.Coin
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
