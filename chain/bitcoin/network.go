package bitcoin

import (
	"fmt"

	"github.com/bursar/bursar"
)

// Network is what sets one chain of Bitcoin's kind apart from another.
type Network struct {
	Family     bursar.Family
	HRP        string // what bech32 addresses begin with, before the 1
	PubKeyHash byte   // version of P2PKH addresses
	ScriptHash []byte // versions of P2SH addresses that are understood; the first is the canonical one
	Genesis    string // hash of block 0, by which a node is known; empty: any
	DustRate   uint64 // satoshi per 1,000 vbytes by which dust is measured (Bitcoin Core, DUST_RELAY_TX_FEE)

	read blockReader // nil: Bitcoin's blocks
}

// blockReader parses a whole raw block, transaction ids included, and nothing but a whole one.
type blockReader func(raw []byte) (*block, error)

// Bitcoin returns one of Bitcoin's networks: "main", "testnet4", "signet" or "regtest". The values are those of Bitcoin
// Core's kernel/chainparams.cpp.
func Bitcoin(name string) (Network, error) {
	n := Network{Family: "bitcoin", PubKeyHash: 0x6f, ScriptHash: []byte{0xc4}, DustRate: 3000}
	switch name {
	case "main":
		n.HRP, n.PubKeyHash, n.ScriptHash = "bc", 0x00, []byte{0x05}
		n.Genesis = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
	case "testnet4":
		n.HRP = "tb"
		n.Genesis = "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043"
	case "signet":
		n.HRP = "tb"
		n.Genesis = "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"
	case "regtest":
		n.HRP = "bcrt"
		n.Genesis = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
	default:
		return Network{}, fmt.Errorf("bitcoin has no network %q", name)
	}
	return n, nil
}

func (n Network) readBlock(raw []byte) (*block, error) {
	if n.read != nil {
		return n.read(raw)
	}
	return readBlock(raw)
}
